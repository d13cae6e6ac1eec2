package requests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/time/rate"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/outbox"
	"tandemux/host/params"
	"tandemux/internal/jsonrpc"
)

type Conn struct {
	*core.Link
	// Req is the request being handled, for one that is answered later. Only the connection's own
	// goroutine may use it.
	Req *jsonrpc.Request

	s *Server

	// For the connection's own goroutine only.
	requests, dispatches *rate.Limiter
	batch                *batch // the batch of the request being handled
	// Hold, which the handler of an action may set, decides when what the action sent is written:
	// soon.
	Hold func(flush func())

	asides  atomic.Int32 // number of running requests of Aside
	cancels sync.Map     // their context.CancelFuncs, by the id of the request
}

// Serve handles a connection until it ends.
func (s *Server) Serve(ctx context.Context, t jsonrpc.Transport, p *auth.Principal) error {
	c := &Conn{
		s: s, Link: core.NewLink(p, s.Log.With("principal", p.ID)),
		requests:   rate.NewLimiter(rate.Limit(s.Limits.RequestRate), s.Limits.RequestBurst),
		dispatches: rate.NewLimiter(rate.Limit(s.Limits.DispatchRate), s.Limits.DispatchBurst),
	}
	c.Out = outbox.New(t, c.handle, jsonrpc.Options{
		MaxQueueBytes: s.Limits.QueueBytes,
		Raw:           c.typed,
		Log:           c.Log,
	}, s.Limits.LagBytes)
	tx := s.Core.Lock()
	refusal := ""
	switch {
	case tx.Closing():
		refusal = "the host is stopping"
	case p.Token != "" && !s.Tokens.Valid(p.Token):
		// The token ended between the upgrade and here.
		refusal = "the token was revoked or has expired"
	default:
		s.conns[c] = struct{}{}
	}
	tx.Unlock()
	if refusal != "" {
		return t.Close(jsonrpc.ClosePolicy, refusal)
	}
	defer s.remove(c)
	return c.Out.RPC.Run(ctx)
}

func (s *Server) Conns(core.Tx) iter.Seq[*Conn] { return maps.Keys(s.conns) }

// Stop cancels what is answered later. It is called when the core is closing; call Wait afterwards,
// without the lock.
func (s *Server) Stop(core.Tx) { s.cancel() }

// Wait waits for everything that is answered later. The connections must have ended.
func (s *Server) Wait() { s.serving.Wait() }

// remove ends a connection's subscriptions. The claims of its client stay (docs/protocol.md,
// Departures from the text).
func (s *Server) remove(c *Conn) {
	tx := s.Core.Lock()
	defer tx.Unlock()
	watched := slices.Collect(c.Subscriptions())
	for _, ch := range watched {
		tx.Unsubscribe(ch, c.Link)
	}
	delete(s.conns, c)
	s.Channels.Ended(tx, c, watched, tx.End(c.Link))
}

// handle handles the connection's messages one after the other.
func (c *Conn) handle(ctx context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (result any, err error) {
	defer func() {
		if failed := c.fence(params.Clip(req.Method), recover()); failed != nil {
			result, err = nil, failed
		}
		if b := c.batch; b != nil {
			c.batch = nil
			c.Out.RPC.AfterReply(func() { b.leaveWhenSent(c.Out) })
		}
	}()
	if req.IsNotification() {
		if note, ok := c.s.Notifications[req.Method]; ok && c.Client != nil {
			note(c, req.Params)
		}
		return nil, nil
	}
	c.Req = req
	result, err = c.answer(ctx, req)
	if c.Out.Holding() {
		c.Out.RPC.AfterReply(func() { c.s.Core.Do(func(tx core.Tx) { tx.Release(c.Link) }) })
	}
	c.noteError(req, err)
	return result, err
}

func (c *Conn) answer(ctx context.Context, req *jsonrpc.Request) (any, error) {
	m, ok := c.s.Methods[req.Method]
	switch {
	case !c.requests.AllowN(c.s.Now(), 1):
		return nil, ahp.Conflict("%s: more than %d requests at once, or %d a second: slow down", params.Clip(req.Method), c.s.Limits.RequestBurst, c.s.Limits.RequestRate)
	case !ok:
		return nil, ahp.MethodNotFound(params.Clip(req.Method))
	case c.Client == nil && !m.early:
		return nil, ahp.InvalidRequest("%s: this connection has not been initialized", req.Method)
	case c.Client != nil && m.opens:
		return nil, ahp.InvalidRequest("%s: this connection is initialized already", req.Method)
	case m.Scope != "" && !c.Principal.May(m.Scope):
		return nil, ahp.PermissionDenied("%s: %s", req.Method, c.Principal.Lacks(m.Scope))
	case m.Drives && c.Principal.CannotDrive() != "":
		return nil, ahp.PermissionDenied("%s: %s", req.Method, c.Principal.CannotDrive())
	case !c.reaches(m.Reach, req.Params):
		return nil, ahp.PermissionDenied("%s: %s", req.Method, c.Principal.OutOfReach())
	}
	if m.Large {
		select {
		case <-c.Out.RPC.Drained():
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	raw := req.Params
	if m.Bare && len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	return m.Do(ctx, c, raw)
}

// reaches reports whether a bound principal may make a request. It reads the channel as the requests
// do.
func (c *Conn) reaches(r Reach, raw json.RawMessage) bool {
	switch {
	case !c.Principal.Bounded() || r == Anywhere || r == Inside && c.Principal.Sandbox != "":
		return true
	case r != Own:
		return false
	}
	var p ahp.SubscribeParams
	if params.Decode(raw, &p) != nil {
		return false
	}
	tx := c.s.Core.Lock()
	defer tx.Unlock()
	return c.s.Channels.Reaches(tx, c.Principal, p.Channel)
}

// noteError logs the host's own errors, and audits who was not allowed what.
func (c *Conn) noteError(req *jsonrpc.Request, err error) {
	if errors.Is(err, jsonrpc.ErrReplied) {
		return
	}
	agent := c.Principal.Agent != ""
	switch ahp.CodeOf(err) {
	case ahp.CodePermissionDenied:
		var p ahp.SubscribeParams
		json.Unmarshal(req.Params, &p) //nolint:errcheck // without it the channel is empty
		c.s.Audit.Refused(c.Who(), req.Method, p.Channel, err.Error())
		if agent {
			c.s.Channels.Refused(c, req.Method, req.Params, err)
		}
	case ahp.CodeConflict:
		if agent && req.Method == ahp.MethodCreateTerminal { // a limit was reached
			c.s.Audit.Refused(c.Who(), req.Method, "", err.Error())
			c.s.Channels.Refused(c, req.Method, req.Params, err)
		}
	case 0, ahp.CodeInternal:
		if err != nil {
			c.Log.Error("handle request", "method", req.Method, "err", err)
		}
	}
}

// fence ends the connection if handling a message has panicked. It is called in a defer with the
// result of recover.
func (c *Conn) fence(doing string, panicked any) (failed error) {
	if !Contain(c.s.Log, doing, panicked, "principal", c.Principal.ID) {
		return nil
	}
	c.Out.RPC.Close(jsonrpc.CloseFailed, "the host failed at a message of this connection; see its log") //nolint:errcheck // it ends either way
	return ahp.Internal("%s: the host failed; see its log", doing)
}

// Contain logs a panic and reports whether there was one. It is called in a defer with the result of
// recover.
func Contain(log *slog.Logger, doing string, panicked any, args ...any) bool {
	if panicked == nil {
		return false
	}
	args = append([]any{"doing", doing, "panic", fmt.Sprint(panicked)}, args...)
	log.Error("panic", append(args, "stack", string(debug.Stack()))...)
	return true
}

// takeUnquoted makes output come without quotes from now on (x-tandemux/unquoted).
func takeUnquoted(c *Conn, _ json.RawMessage) {
	c.s.Core.Locked(func(core.Tx) { c.Unquoted = true })
}

func ping(context.Context, *Conn, json.RawMessage) (any, error) { return nil, nil }

// bindClient returns the record of a clientId, made at its first use, or an error if it belongs to
// another principal.
func (s *Server) bindClient(tx core.Tx, id string, p *auth.Principal) (*core.Client, error) {
	if s.belongsToOther(tx, id, p) {
		return nil, ahp.PermissionDenied("the clientId %q belongs to somebody else: choose another", id)
	}
	if cl := tx.Client(id); cl != nil && cl.Owner == p.ID {
		return cl, nil
	}
	if err := s.ClientIDs.Bind(id, p.ID); err != nil {
		s.Log.Warn("note whose client it is", "client", id, "err", err)
	}
	return tx.AddClient(id, p.ID), nil
}

// belongsToOther reports whether a clientId is bound to another principal, perhaps since an earlier
// host. One of a token that no longer exists is free, because its client may have a new token.
func (s *Server) belongsToOther(tx core.Tx, id string, p *auth.Principal) bool {
	owner := s.ClientIDs.Owner(id)
	if cl := tx.Client(id); cl != nil {
		owner = cl.Owner
		if cl.Here() && owner != p.ID {
			return true
		}
	}
	if token, ok := auth.TokenOf(owner); ok && !s.Tokens.Valid(token) {
		return false
	}
	return owner != "" && owner != p.ID
}

// maxAside bounds the running requests of Aside of one connection.
const maxAside = 32

// Aside answers a request once do has returned, while the connection's other requests continue. do
// must not hold the lock while it waits. Its ctx ends with the connection, with the host, and when the
// client cancels the request.
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
	c.cancels.Store(string(req.ID), cancel)
	go func() {
		defer c.cancels.Delete(string(req.ID))
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

// cancelAside cancels the context of a request that the client gave up (x-tandemux/cancel).
func cancelAside(c *Conn, raw json.RawMessage) {
	var p find.CancelParams
	if params.Decode(raw, &p) != nil {
		return
	}
	if cancel, ok := c.cancels.Load(string(p.ID)); ok {
		cancel.(context.CancelFunc)()
	}
}
