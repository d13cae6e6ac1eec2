package host

import (
	"context"
	"time"

	"cotty/ahp"
)

// throttle blocks the terminal's reader while the claim holder's own
// connection has much to take, as a real terminal slows its program down. A
// holder that takes nothing at all for StallTime is closed, so that it can't
// freeze the terminal for ever. Other viewers never slow the pty (design.md,
// rule 3).
func (h *Host) throttle(ctx context.Context, t *term) {
	for {
		c := h.behind(t)
		if c == nil {
			return
		}
		stalled := time.NewTimer(h.limits.StallTime)
		select {
		case <-c.moved:
		case <-c.rpc.Done():
		case <-ctx.Done():
			stalled.Stop()
			return
		case <-stalled.C:
			h.mu.Lock()
			c.drop(closePolicy, "viewer stalled: it holds the terminal and reads nothing; reconnect")
			h.mu.Unlock()
		}
		stalled.Stop()
	}
}

// behind finds a connection of the claim's client that watches the terminal and
// has more than HoldBytes waiting.
func (h *Host) behind(t *term) *conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.ch == nil || t.value.Claim.Kind != ahp.ClaimClient {
		return nil
	}
	cl := h.clients[t.value.Claim.ClientID]
	if cl == nil {
		return nil
	}
	for c := range cl.conns {
		if _, watches := c.subs[t.ch.uri]; watches && !c.closing && c.rpc.Queued() > h.limits.HoldBytes {
			return c
		}
	}
	return nil
}
