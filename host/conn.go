package host

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"

	"tandemux/ahp"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/outbox"
	"tandemux/internal/jsonrpc"
)

// conn is one client's connection.
type conn struct {
	h         *Host
	out       *outbox.Conn
	rpc       *jsonrpc.Conn // out's
	principal *auth.Principal
	log       *slog.Logger

	// Of the connection's own goroutine.
	requests, dispatches rate

	// Set by the handshake, under h.mu, and never changed after it; read
	// without the lock by the connection's own goroutine only.
	client  *client // nil before the handshake
	profile ahp.Profile
	window  *window // used by the connection's own goroutine, under h.mu
	// Of the numbers of what it dispatches (window.go): it came by reconnect, which
	// said that they continue; and the first one has come.
	id                           int64 // among its client's connections
	resumed, continues, numbered bool
	// req is the request being handled, for one that is answered later; the
	// connection's own goroutine's.
	req    *jsonrpc.Request
	asides atomic.Int32 // see aside

	// Guarded by h.mu.
	subs  map[ahp.URI]*channel
	waits []*wait
}

// serveConn handles a connection until it ends.
func (h *Host) serveConn(ctx context.Context, t jsonrpc.Transport, p *auth.Principal) error {
	c := &conn{
		h: h, principal: p, subs: map[ahp.URI]*channel{}, log: h.log.With("principal", p.ID),
		requests:   newRate(h.limits.RequestRate, h.limits.RequestBurst),
		dispatches: newRate(h.limits.DispatchRate, h.limits.DispatchBurst),
	}
	c.out = outbox.New(t, jsonrpc.HandlerFunc(c.handle), jsonrpc.Options{
		MaxQueueBytes: h.limits.QueueBytes,
		Raw:           c.typed,
		Log:           c.log,
	}, h.limits.LagBytes)
	c.rpc = c.out.RPC
	tx := h.lock()
	refusal := ""
	switch {
	case h.closing:
		refusal = "the host is stopping"
	case p.Token != "" && !h.tokens.Valid(p.Token):
		// Between the upgrade and here.
		refusal = "the token was revoked or has expired"
	}
	if refusal == "" {
		h.conns[c] = struct{}{}
	}
	tx.unlock()
	if refusal != "" {
		return t.Close(outbox.ClosePolicy, refusal)
	}
	defer h.removeConn(c)
	return c.rpc.Run(ctx)
}

// removeConn ends a connection's subscriptions. Claims stay: persistence is the
// point (docs/protocol.md, Departures from the text); but see returnLoans.
func (h *Host) removeConn(c *conn) {
	tx := h.lock()
	defer tx.unlock()
	for _, ch := range c.subs {
		ch.unsubscribe(tx, c)
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
	c.out.Ended()
	delete(h.conns, c)
	if c.client != nil {
		delete(c.client.conns, c)
		c.client.seen = h.now()
		if len(c.client.conns) == 0 {
			h.returnLoans(tx, c.client, c.principal)
			h.sessions.clientGone(tx, c.client.id)
			h.comesOrGoes(tx, c.client)
		}
	}
}

// handle is the connection's dispatcher: one message after the other.
func (c *conn) handle(ctx context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (result any, err error) {
	defer func() {
		if failed := c.fence(clip(req.Method), recover()); failed != nil {
			result, err = nil, failed
		}
	}()
	if req.IsNotification() {
		if note, ok := notifications[req.Method]; ok && c.client != nil {
			note(c, req.Params)
		}
		return nil, nil
	}
	c.req = req
	result, err = c.answer(ctx, req)
	if c.out.Holding() {
		c.rpc.AfterReply(func() { c.h.turn(func(tx Tx) { c.h.outbox.Release(c.out) }) })
	}
	c.noteError(req, err)
	return result, err
}

func (c *conn) answer(ctx context.Context, req *jsonrpc.Request) (any, error) {
	m, ok := methods[req.Method]
	switch {
	case !c.requests.take(c.h.now()):
		return nil, c.requests.tooMany(clip(req.Method))
	case !ok:
		return nil, ahp.MethodNotFound(clip(req.Method))
	case c.client == nil && !m.early:
		return nil, ahp.InvalidRequest("%s: this connection has not been initialized", req.Method)
	case c.client != nil && m.opens:
		return nil, ahp.InvalidRequest("%s: this connection is initialized already", req.Method)
	case m.scope != "" && !c.principal.May(m.scope):
		return nil, ahp.PermissionDenied("%s: %s", req.Method, c.principal.Lacks(m.scope))
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
	gate := &c.h.outbox.States
	if err := gate.Enter(ctx); err != nil {
		return nil, err
	}
	leave := gate.Leave
	defer func() { leave() }() // also when it panics
	result, err := m.do(ctx, c, req.Params)
	leave = func() {}
	c.rpc.AfterReply(func() { gate.LeaveWhenSent(c.out, &c.h.serving) })
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
		c.h.audit.Refused(c.by(), req.Method, p.Channel, err.Error())
		if c.principal.Agent != "" {
			c.h.refusedGuest(c, req.Method, req.Params, err)
		}
	case ahp.CodeConflict:
		if c.principal.Agent != "" && req.Method == ahp.MethodCreateTerminal { // a limit
			c.h.audit.Refused(c.by(), req.Method, "", err.Error())
			c.h.refusedGuest(c, req.Method, req.Params, err)
		}
	case 0, ahp.CodeInternal:
		if err != nil {
			c.log.Error("handle request", "method", req.Method, "err", err)
		}
	}
}

// by is who asks, for the audit log.
func (c *conn) by() audit.By {
	b := audit.By{Principal: c.principal.ID}
	if c.client != nil {
		b.Client = c.client.id
	}
	return b
}
