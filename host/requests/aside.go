package requests

import (
	"context"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/internal/jsonrpc"
)

// maxAside bounds the requests of a connection that are answered later by Aside.
const maxAside = 32

// Aside has a request answered when something is done that takes its time, while
// the connection's other requests go on. Do must not hold the lock when it waits; its
// ctx ends with the connection and with the host.
func (c *Conn) Aside(ctx context.Context, do func(ctx context.Context) (any, error)) (any, error) {
	s, req := c.s, c.Req
	if c.asides.Add(1) > maxAside {
		c.asides.Add(-1)
		return nil, ahp.Conflict("%s: %d requests of this connection take their time already", params.Clip(req.Method), maxAside)
	}
	tx := s.Core.Lock()
	closing := tx.Closing()
	if !closing {
		s.serving.Add(1)
	}
	tx.Unlock()
	if closing {
		c.asides.Add(-1)
		return nil, core.ErrClosing
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	go func() {
		defer s.serving.Done()
		defer c.asides.Add(-1)
		defer cancel()
		defer stop()
		result, err := func() (result any, err error) {
			defer func() {
				if failed := c.fence(params.Clip(req.Method), recover()); failed != nil {
					result, err = nil, failed
				}
			}()
			return do(ctx)
		}()
		c.noteError(req, err)
		c.Out.RPC.Reply(req, result, err) //nolint:errcheck // a connection that has ended needs no answer
	}()
	return nil, jsonrpc.ErrReplied
}
