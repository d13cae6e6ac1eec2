package host

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/outbox"
	"tandemux/host/params"
	"tandemux/internal/jsonrpc"
)

// conn is one client's connection.
type conn struct {
	h *Host
	*core.Link
	rpc *jsonrpc.Conn // Out's

	// Of the connection's own goroutine.
	requests, dispatches rate

	// req is the request being handled, for one that is answered later; the
	// connection's own goroutine's.
	req    *jsonrpc.Request
	asides atomic.Int32 // see aside

	// Guarded by the lock.
	waits []*wait
}

// serveConn handles a connection until it ends.
func (h *Host) serveConn(ctx context.Context, t jsonrpc.Transport, p *auth.Principal) error {
	c := &conn{
		h: h, Link: core.NewLink(p, h.log.With("principal", p.ID)),
		requests:   newRate(h.limits.RequestRate, h.limits.RequestBurst),
		dispatches: newRate(h.limits.DispatchRate, h.limits.DispatchBurst),
	}
	c.Out = outbox.New(t, jsonrpc.HandlerFunc(c.handle), jsonrpc.Options{
		MaxQueueBytes: h.limits.QueueBytes,
		Raw:           c.typed,
		Log:           c.Log,
	}, h.limits.LagBytes)
	c.rpc = c.Out.RPC
	tx := h.core.Lock()
	refusal := ""
	switch {
	case tx.Closing():
		refusal = "the host is stopping"
	case p.Token != "" && !h.tokens.Valid(p.Token):
		// Between the upgrade and here.
		refusal = "the token was revoked or has expired"
	}
	if refusal == "" {
		h.conns[c] = struct{}{}
	}
	tx.Unlock()
	if refusal != "" {
		return t.Close(outbox.ClosePolicy, refusal)
	}
	defer h.removeConn(c)
	return c.rpc.Run(ctx)
}

// removeConn ends a connection's subscriptions. Claims stay: persistence is the
// point (docs/protocol.md, Departures from the text); but see returnLoans.
func (h *Host) removeConn(c *conn) {
	tx := h.core.Lock()
	defer tx.Unlock()
	for ch := range c.Subscriptions() {
		tx.Unsubscribe(ch, c.Link)
		c.looksAway(tx, ch, true)
	}
	for _, l := range h.layouts {
		h.recount(tx, l.ch)
	}
	for len(c.waits) > 0 {
		c.waits[0].end(tx)
	}
	c.endFeeds(tx)
	c.dropAsks(tx)
	delete(h.conns, c)
	last := tx.End(c.Link)
	if c.Client != nil {
		h.sessions.ClientGone(tx, c.Client.ID)
	}
	if last {
		h.returnLoans(tx, c.Client, c.Principal)
		h.comesOrGoes(tx, c.Client)
	}
}

// handle is the connection's dispatcher: one message after the other.
func (c *conn) handle(ctx context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (result any, err error) {
	defer func() {
		if failed := c.fence(params.Clip(req.Method), recover()); failed != nil {
			result, err = nil, failed
		}
	}()
	if req.IsNotification() {
		if note, ok := notifications[req.Method]; ok && c.Client != nil {
			note(c, req.Params)
		}
		return nil, nil
	}
	c.req = req
	result, err = c.answer(ctx, req)
	if c.Out.Holding() {
		c.rpc.AfterReply(func() { c.h.core.Do(func(tx core.Tx) { tx.Release(c.Link) }) })
	}
	c.noteError(req, err)
	return result, err
}

func (c *conn) answer(ctx context.Context, req *jsonrpc.Request) (any, error) {
	m, ok := methods[req.Method]
	switch {
	case !c.requests.take(c.h.now()):
		return nil, c.requests.tooMany(params.Clip(req.Method))
	case !ok:
		return nil, ahp.MethodNotFound(params.Clip(req.Method))
	case c.Client == nil && !m.early:
		return nil, ahp.InvalidRequest("%s: this connection has not been initialized", req.Method)
	case c.Client != nil && m.opens:
		return nil, ahp.InvalidRequest("%s: this connection is initialized already", req.Method)
	case m.scope != "" && !c.Principal.May(m.scope):
		return nil, ahp.PermissionDenied("%s: %s", req.Method, c.Principal.Lacks(m.scope))
	}
	if err := c.confine(req.Method, req.Params); err != nil {
		return nil, err
	}
	if m.large {
		select {
		case <-c.rpc.Drained():
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if m.opens || req.Method == ahp.MethodSubscribe {
		return c.giveState(ctx, m, req)
	}
	return m.do(ctx, c, req.Params)
}

// giveState answers a request that gives states, when it is its turn.
func (c *conn) giveState(ctx context.Context, m method, req *jsonrpc.Request) (any, error) {
	gate := c.h.core.States()
	if err := gate.Enter(ctx); err != nil {
		return nil, err
	}
	leave := gate.Leave
	defer func() { leave() }() // also when it panics
	result, err := m.do(ctx, c, req.Params)
	leave = func() {}
	c.rpc.AfterReply(func() { gate.LeaveWhenSent(c.Out, &c.h.serving) })
	return result, err
}

// noteError logs what is our fault and records who was not allowed what.
func (c *conn) noteError(req *jsonrpc.Request, err error) {
	if errors.Is(err, jsonrpc.ErrReplied) {
		return
	}
	switch ahp.CodeOf(err) {
	case ahp.CodePermissionDenied:
		var p ahp.SubscribeParams
		json.Unmarshal(req.Params, &p) //nolint:errcheck // then without a channel
		c.h.audit.Refused(c.Who(), req.Method, p.Channel, err.Error())
		if c.Principal.Agent != "" {
			c.h.refusedGuest(c, req.Method, req.Params, err)
		}
	case ahp.CodeConflict:
		if c.Principal.Agent != "" && req.Method == ahp.MethodCreateTerminal { // a limit
			c.h.audit.Refused(c.Who(), req.Method, "", err.Error())
			c.h.refusedGuest(c, req.Method, req.Params, err)
		}
	case 0, ahp.CodeInternal:
		if err != nil {
			c.Log.Error("handle request", "method", req.Method, "err", err)
		}
	}
}
