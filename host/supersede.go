package host

import (
	"context"
	"time"

	"tandemux/host/core"
)

// supersededTime bounds the end of a host that another one has replaced.
const supersededTime = 10 * time.Second

// superseded ends this host: another one has what it had. Nothing is written any
// more, neither to journals nor to ptys, and clients come back to the other one.
func (h *Host) superseded(tx core.Tx, why error) {
	h.cfg.Log.Warn("another host has taken over; this one ends", "err", why)
	go func() { // Shutdown waits for whoever called.
		ctx, cancel := context.WithTimeout(context.Background(), supersededTime)
		defer cancel()
		if err := h.shutdown(ctx, "another host has taken over: reconnect"); err != nil {
			h.cfg.Log.Error("shut down", "err", err)
		}
	}()
}
