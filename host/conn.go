package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"tandemux/ahp"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/internal/jsonrpc"
)

// Close codes of the WebSocket protocol.
const (
	closeProtocol = 1002 // no common version
	closePolicy   = 1008 // a token was revoked, the holder is stuck
	closeAway     = 1001 // the host ends
	closeOverload = 1013 // the viewer is too slow: come back and reconnect
)

// conn is one client's connection.
type conn struct {
	h         *Host
	rpc       *jsonrpc.Conn
	principal *auth.Principal
	moved     pulse        // beats when a message has left the queue
	sent      func() int64 // bytes that the socket has taken
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
	subs    map[ahp.URI]*channel
	closing bool // nothing more is sent
	waits   []*wait
	touched bool // by the outbox's turn

	// While a request that subscribes is answered, actions wait in held so
	// that the reply precedes them (AHP, Subscriptions).
	holding   bool
	held      []heldAction
	heldBytes int
}

// serveConn handles a connection until it ends.
func (h *Host) serveConn(ctx context.Context, t jsonrpc.Transport, p *auth.Principal) error {
	c := &conn{
		h: h, principal: p, subs: map[ahp.URI]*channel{}, log: h.log.With("principal", p.ID),
		sent:       func() int64 { return 0 },
		requests:   newRate(h.limits.RequestRate, h.limits.RequestBurst),
		dispatches: newRate(h.limits.DispatchRate, h.limits.DispatchBurst),
	}
	if s, ok := t.(interface{ Sent() int64 }); ok {
		c.sent = s.Sent
	}
	c.rpc = jsonrpc.New(t, jsonrpc.HandlerFunc(c.handle), jsonrpc.Options{
		MaxQueueBytes: h.limits.QueueBytes,
		Raw:           c.typed,
		Wrote:         c.moved.beat,
		Log:           c.log,
	})
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
		return t.Close(closePolicy, refusal)
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
	c.forgetHeld(tx)
	c.closing = true
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
	if c.holding {
		c.rpc.AfterReply(c.release)
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
	a := &c.h.outbox.states
	if err := a.enter(ctx); err != nil {
		return nil, err
	}
	leave := a.leave
	defer func() { leave() }() // also when it panics
	result, err := m.do(ctx, c, req.Params)
	leave = func() {}
	c.rpc.AfterReply(func() { a.sent(c) })
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

// hold keeps actions back until the current request has been answered. The
// caller holds h.mu and runs on the connection's goroutine, in a method.
func (c *conn) hold(tx Tx) { c.holding = true }

// heldAction is an action that waits: encoded, or output with a reference of its own.
type heldAction struct {
	b      []byte
	output *output
}

// release lets the held actions follow the reply.
func (c *conn) release() {
	c.h.turn(func(tx Tx) {
		waiting := c.held
		c.holding, c.held, c.heldBytes = false, nil, 0
		for _, w := range waiting {
			if w.output == nil {
				c.send(tx, w.b)
				continue
			}
			c.sendOutput(tx, w.output)
			w.output.Release()
		}
	})
}

// forgetHeld drops what is held.
func (c *conn) forgetHeld(tx Tx) {
	for _, w := range c.held {
		if w.output != nil {
			w.output.Release()
		}
	}
	c.held, c.heldBytes = nil, 0
}

// send queues an encoded message. A connection without room for it is closed: it
// comes back with reconnect, and gets a replay or a snapshot.
func (c *conn) send(tx Tx, b []byte) {
	switch {
	case c.closing:
	case c.holding && c.heldBytes+len(b) <= c.h.limits.LagBytes:
		c.held = append(c.held, heldAction{b: b})
		c.heldBytes += len(b)
	case c.holding, c.lags(tx, len(b)):
		c.overflow(tx)
	default:
		if err := c.h.post(tx, c, b); errors.Is(err, jsonrpc.ErrQueueFull) {
			c.overflow(tx)
		}
	}
}

// sendOutput is send for output that other connections get as well.
func (c *conn) sendOutput(tx Tx, o *output) {
	switch {
	case c.closing:
	case c.holding && c.heldBytes+len(o.buf) <= c.h.limits.LagBytes:
		o.refs.Add(1)
		c.held = append(c.held, heldAction{output: o})
		c.heldBytes += len(o.buf)
	case c.holding, c.lags(tx, len(o.buf)):
		c.overflow(tx)
	default:
		if err := c.h.postShared(tx, c, o); errors.Is(err, jsonrpc.ErrQueueFull) {
			c.overflow(tx)
		}
	}
}

// lags reports whether the connection is too far behind to take so much more.
func (c *conn) lags(tx Tx, more int) bool {
	n := c.rpc.Unasked()
	return n > 0 && n+more > c.h.limits.LagBytes
}

func (c *conn) overflow(tx Tx) {
	c.drop(tx, closeOverload, fmt.Sprintf("viewer too slow: %d bytes waiting; reconnect", c.rpc.Queued()+c.heldBytes))
}

// drop closes the connection without sending what is queued.
func (c *conn) drop(tx Tx, code int, reason string) {
	if c.closing {
		return
	}
	c.closing = true
	c.forgetHeld(tx)
	n := c.rpc.Discard()
	c.log.Info("drop connection", "reason", reason, "messages", n)
	c.rpc.Close(code, reason) //nolint:errcheck // it ends either way
}

// by is who asks, for the audit log.
func (c *conn) by() audit.By {
	b := audit.By{Principal: c.principal.ID}
	if c.client != nil {
		b.Client = c.client.id
	}
	return b
}
