package host

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
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
	h.audit.Did(c.Who(), "stop", "")
	c.Out.RPC.AfterReply(func() {
		// Not counted in h.ending, which Shutdown waits for.
		go h.endAll()
	})
	return nil, nil
}

func (h *Host) endAll() {
	tx := h.core.Lock()
	again := h.stopping
	h.stopping = true
	tx.Unlock()
	if again {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	h.log.Info("stop: end all terminals")
	var strays sync.WaitGroup
	strays.Go(func() { h.endStrays(ctx) })
	if err := h.keeper().Shutdown(ctx); err != nil {
		h.log.Error("end all terminals", "err", err)
	}
	strays.Wait()
	h.core.Locked(func(tx core.Tx) { h.enroll(tx) })
	if err := h.Shutdown(ctx); err != nil {
		h.log.Error("shut down", "err", err)
	}
}
