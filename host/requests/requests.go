package requests

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/ahp/wire"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
)

type Handler func(ctx context.Context, c *Conn, params json.RawMessage) (any, error)

// Of makes a Handler from a function with decoded params. With json.RawMessage they stay undecoded.
func Of[P any](do func(ctx context.Context, c *Conn, p P) (any, error)) Handler {
	return func(ctx context.Context, c *Conn, raw json.RawMessage) (any, error) {
		var p P
		if as, is := any(&p).(*json.RawMessage); is {
			*as = raw
		} else if err := params.Decode(raw, &p); err != nil {
			return nil, err
		}
		return do(ctx, c, p)
	}
}

// Reach says which requests those may make who are bound to a terminal or a sandbox.
type Reach int

const (
	// Nowhere: they may not make the request.
	Nowhere Reach = iota
	// Own: the request is about its channel only, a terminal, which they must be able to reach.
	Own
	// Inside: who is in a sandbox may make it; the handler checks what it names.
	Inside
	// Anywhere: everybody may make it; the handler checks, or reveals nothing.
	Anywhere
)

// Method is an entry of the table of requests.
type Method struct {
	Do    Handler
	Scope string // required in any case; "" if Do decides
	Reach Reach
	// Drives says that the request drives an agent: only people, and programs that are not agents, may
	// make it.
	Drives bool
	Large  bool // the answer is large: wait for space in the queue first
	Bare   bool // old clients send it without params

	early bool // allowed before the handshake
	opens bool // a handshake: allowed only before there was one
}

// Action is an entry of the table of actions that clients may dispatch.
type Action struct {
	Scope string
	// Needs are the members that the action must have.
	Needs []string
	// Fits reports whether the channel is of the right kind.
	Fits func(b core.Body) bool
	// Before, if not nil, is called first, without the lock: it reads files. Its result is
	// Dispatch.Before.
	Before func(a ahp.Action) string
	// Do decides about the action and carries it out: it applies the action, or makes it be applied,
	// and returns "". A reason refuses it.
	Do func(tx core.Tx, d *Dispatch) (refusal string)
	// Refusal, instead of Do, is why the action is never carried out here.
	Refusal string
	// Again returns the action that answers one that was processed before: of the same type, and
	// without effect. If it is nil, repetitions are refused.
	Again func(d *Dispatch) ahp.Action
	// Private says that the echo goes only to the sender and is not logged.
	Private bool
}

// Is reports whether a body is of type B, for Action.Fits.
func Is[B core.Body](b core.Body) bool { _, is := b.(B); return is }

// Channels is what requests need of the host's channels.
type Channels interface {
	Reaches(tx core.Tx, p *auth.Principal, uri ahp.URI) bool
	// Open makes the channel of a URI that is made at its first use, or returns why there is none.
	Open(tx core.Tx, p *auth.Principal, uri ahp.URI) (*core.Channel, error)
	// ShownState returns what a principal sees of a state.
	ShownState(tx core.Tx, p *auth.Principal, state any) any
	// StateWithin returns a state with at most about most bytes of what can be left out, or false if
	// nothing can.
	StateWithin(tx core.Tx, ch *core.Channel, most int) (state any, ok bool)
	// Watched is called when a link has subscribed, Unwatched when it has unsubscribed.
	Watched(tx core.Tx, l *core.Link, ch *core.Channel)
	Unwatched(tx core.Tx, l *core.Link, ch *core.Channel)
	// Opened is called when a link has asked for a channel. resumed says that it has come back to it.
	Opened(tx core.Tx, l *core.Link, resumed bool)
	// Came is called when a link has become one of its client's. Ended is called when a connection has
	// ended, with the channels that it was subscribed to, and whether it was its client's last.
	Came(tx core.Tx, cl *core.Client)
	Ended(tx core.Tx, c *Conn, watched []*core.Channel, last bool)
	// Process returns the id of the process in a terminal, to which a token may be bound.
	Process(tx core.Tx, terminal ahp.URI) (id string, ok bool)
	// Refused shows people what an agent was not allowed.
	Refused(c *Conn, method string, params json.RawMessage, err error)
}

// Options is what a Server needs.
type Options struct {
	Core      *core.Core
	Log       *slog.Logger
	Now       func() time.Time
	Audit     *audit.Log
	Tokens    *auth.Tokens
	ClientIDs *auth.ClientIDs // guarded by the lock
	Channels  Channels
	// TokensChanged is called when a token was made, or some are no longer valid.
	TokensChanged func()
	// Triggers are the characters after which clients ask for completions.
	Triggers []string
	// CommandPrefix begins messages that are command lines.
	CommandPrefix string
	// Version is the host's version and Home the user's home directory, for clients.
	Version, Home string
	Limits        Limits

	Methods       map[string]Method
	Notifications map[string]func(c *Conn, params json.RawMessage)
	Actions       map[string]Action
}

type Limits struct {
	Subscriptions int // per connection
	QueueBytes    int // queued bytes at which a connection is closed; see ReplyBytes
	LagBytes      int // the part of it for what the client did not ask for; all if 0
	// ReplyBytes bounds the snapshots or replayed actions in one reply. Requests for them wait until
	// the connection's queue is half empty, so half of QueueBytes must be more than a reply. So a
	// client is not closed because of what it asked for.
	ReplyBytes int
	// How many requests and actions a connection may send in a second, and at once after a pause.
	RequestRate, RequestBurst   int
	DispatchRate, DispatchBurst int
}

// Server serves connections. Its methods may be called from any goroutine.
type Server struct {
	Options
	conns  map[*Conn]struct{} // guarded by the lock
	states states             // requests for states
	ctx    context.Context    // ends with Stop
	cancel context.CancelFunc
	// serving counts what Wait waits for, besides what is answered later. It is added to while the
	// lock is held, before Stop.
	serving sync.WaitGroup
}

func New(o Options) *Server {
	s := &Server{Options: o, conns: map[*Conn]struct{}{}}
	s.states = states{core: o.Core, work: &s.serving}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	maps.Copy(s.Methods, map[string]Method{
		ahp.MethodInitialize:  {Do: Of(s.initialize), Reach: Anywhere, early: true, opens: true, Large: true},
		ahp.MethodReconnect:   {Do: Of(s.reconnect), Reach: Anywhere, early: true, opens: true, Large: true},
		ahp.MethodPing:        {Do: ping, Reach: Anywhere, early: true},
		ahp.MethodSubscribe:   {Do: s.subscribe, Reach: Anywhere, Large: true},
		ahp.MethodSkim:        {Do: s.skim, Reach: Own},
		ahp.MethodProfile:     {Do: Of(s.profile), Large: true},
		ahp.MethodTokenNew:    {Do: Of(s.tokenNew), Scope: auth.ScopeAdmin},
		ahp.MethodTokenList:   {Do: s.tokenList, Scope: auth.ScopeAdmin},
		ahp.MethodTokenRevoke: {Do: Of(s.tokenRevoke), Scope: auth.ScopeAdmin},
	})
	maps.Copy(s.Notifications, map[string]func(*Conn, json.RawMessage){
		ahp.MethodUnsubscribe:    s.unsubscribe,
		ahp.MethodDispatchAction: dispatchAction,
		find.MethodCancel:        cancelAside,
		wire.MethodUnquoted:      takeUnquoted,
	})
	return s
}
