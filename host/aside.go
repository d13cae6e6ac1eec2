package host

import (
	"context"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/internal/jsonrpc"
)

// maxAside bounds the requests of a connection that are answered later by aside.
const maxAside = 32

// aside has a request answered when something is done that takes its time, while
// the connection's other requests go on. Do must not hold the lock when it waits; its
// ctx ends with the connection and with the host.
func (c *conn) aside(ctx context.Context, do func(ctx context.Context) (any, error)) (any, error) {
	if c.asides.Add(1) > maxAside {
		c.asides.Add(-1)
		return nil, ahp.Conflict("%s: %d requests of this connection take their time already", params.Clip(c.req.Method), maxAside)
	}
	h, req := c.h, c.req
	tx := h.core.Lock()
	closing := tx.Closing()
	var hostCtx context.Context
	var done func()
	if !closing {
		hostCtx, done = h.sessions.Begin(tx)
	}
	tx.Unlock()
	if closing {
		c.asides.Add(-1)
		return nil, core.ErrClosing
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(hostCtx, cancel)
	go func() {
		defer done()
		defer c.asides.Add(-1)
		defer cancel()
		defer stop()
		var result any
		var err error
		func() {
			defer func() {
				if failed := c.fence(params.Clip(req.Method), recover()); failed != nil {
					result, err = nil, failed
				}
			}()
			result, err = do(ctx)
		}()
		c.noteError(req, err)
		c.rpc.Reply(req, result, err) //nolint:errcheck // a connection that has ended needs no answer
	}()
	return nil, jsonrpc.ErrReplied
}
