package host

import (
	"context"
	"sync"
	"time"

	"cotty/ahp"
)

// awaitTime bounds how long output waits for the holder to subscribe.
const awaitTime = 10 * time.Second

// awaited holds a new terminal's output back until the client that it was
// created for watches it, so that it sees all of it (CreateMeta.AwaitHolder).
type awaited struct {
	c    *conn
	once sync.Once
	here chan struct{} // closed when it watches
}

func awaitHolder(c *conn) *awaited { return &awaited{c: c, here: make(chan struct{})} }

// arrived notes that a connection has subscribed.
func (a *awaited) arrived(c *conn) {
	if a != nil && a.c == c {
		a.once.Do(func() { close(a.here) })
	}
}

// wait returns once the holder is there, is gone, or takes too long.
func (a *awaited) wait(ctx context.Context) {
	if a == nil {
		return
	}
	select {
	case <-a.here:
		return
	default:
	}
	late := time.NewTimer(awaitTime)
	defer late.Stop()
	select {
	case <-a.here:
	case <-a.c.rpc.Done():
	case <-late.C:
	case <-ctx.Done():
	}
	a.arrived(a.c)
}

// watches tells a terminal that awaits its holder who has subscribed. The caller
// holds h.mu.
func (h *Host) watches(c *conn, uri ahp.URI) {
	if t, ok := h.termAt(uri); ok {
		t.await.arrived(c)
	}
}
