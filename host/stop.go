package host

import (
	"context"
	"encoding/json"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/requests"
)

// stopTime bounds the ending of all processes: the keeper kills after five
// seconds.
const stopTime = 20 * time.Second

// stop ends all terminals, the keeper and the host (x-tandemux/stop). The reply
// comes first; then the connection is closed.
func stop(_ context.Context, h *Host, c *requests.Conn, _ json.RawMessage) (any, error) {
	if !c.Principal.Operates() {
		return nil, ahp.PermissionDenied("stop: %s", c.Principal.Lacks(auth.ScopeAdmin))
	}
	h.requests.Audit.Did(c.Who(), "stop", "")
	c.Out.RPC.AfterReply(func() {
		// Not counted in h.ending, which Shutdown waits for.
		go h.endAll()
	})
	return nil, nil
}

func (h *Host) endAll() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if !h.terminals.End(ctx) {
		return
	}
	if err := h.Shutdown(ctx); err != nil {
		h.cfg.Log.Error("shut down", "err", err)
	}
}
