package host

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/requests"
	"tandemux/host/terminals"
	"tandemux/internal/jsonrpc"
)

// yield ends the host and nothing else, so that another one takes over what it
// holds (x-tandemux/yield).
func yield(_ context.Context, h *Host, c *requests.Conn, _ json.RawMessage) (any, error) {
	if !c.Principal.Operates() {
		return nil, ahp.PermissionDenied("yield: %s", c.Principal.Lacks(auth.ScopeAdmin))
	}
	tx := h.core.Lock()
	ends := h.terminals.Ending(tx)
	h.life.yielding = h.life.yielding || !ends
	tx.Unlock()
	if ends {
		return nil, ahp.Conflict("yield: the host is ending all its terminals")
	}
	h.requests.Audit.Did(c.Who(), "yield", "")
	c.Out.RPC.AfterReply(func() {
		// Not counted in h.ending, which Shutdown waits for.
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), terminals.EndTime)
			defer cancel()
			h.cfg.Log.Info("yield: end, and leave the terminals to the next host")
			if err := h.Shutdown(ctx); err != nil {
				h.cfg.Log.Error("shut down", "err", err)
			}
		}()
	})
	return nil, nil
}

// parting is what clients are told at the end: whether to come back, and when.
func (h *Host) parting(tx core.Tx, reason string) (code int, why string) {
	code, why = jsonrpc.CloseAway, reason
	switch {
	case h.life.yielding:
		code, why = jsonrpc.CloseRestart, "another host takes over"
	case h.terminals.Ending(tx):
		code, why = jsonrpc.CloseDone, "the host was stopped"
	}
	if h.cfg.Ending != nil {
		h.cfg.Ending(code)
	}
	return code, why
}
