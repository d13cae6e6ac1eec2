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

// Of is a Handler that takes its params decoded; json.RawMessage are those as they came.
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

// Reach says what those who are bound to a terminal or a sandbox may ask.
type Reach int

const (
	// Nowhere refuses them.
	Nowhere Reach = iota
	// Own acts on its channel, a terminal, and on nothing else: it must be in reach.
	Own
	// Inside is for who is in a sandbox, and looks at what is named by itself.
	Inside
	// Anywhere is for all: it decides by itself, or tells nothing.
	Anywhere
)

// Method is a row of the table of requests.
type Method struct {
	Do    Handler
	Scope string // needed in any case; "" when Do decides
	Reach Reach
	// Drives is for people, and programs that are no agents: it drives an agent.
	Drives bool
	Large  bool // answers with much: waits for room first
	Bare   bool // old clients send it without params

	early bool // allowed before the handshake
	opens bool // is a handshake: allowed only before one
}

// Action is a row of the table of actions that clients may dispatch.
type Action struct {
	Scope string
	// Needs are the members that it must have.
	Needs []string
	// Fits reports whether the channel is of the action's kind.
	Fits func(b core.Body) bool
	// Before, if not nil, is asked first, without the lock: it looks at files, and what it
	// says is Dispatch.Before.
	Before func(a ahp.Action) string
	// Do decides and, when it allows, carries out: it applies the action, or
	// makes it be applied, and returns "". A reason refuses.
	Do func(tx core.Tx, d *Dispatch) (refusal string)
	// Refusal, in place of Do, is why it is never carried out here.
	Refusal string
	// Again is the action that answers one processed before: it has the same
	// type and changes nothing. Nil means that a repetition is refused.
	Again func(d *Dispatch) ahp.Action
	// Private echoes go to the sender only and are not logged.
	Private bool
}

// Is reports whether a body is of a kind, for Action.Fits.
func Is[B core.Body](b core.Body) bool { _, is := b.(B); return is }

// Channels are the host's, as far as requests are about them.
type Channels interface {
	Reaches(tx core.Tx, p *auth.Principal, uri ahp.URI) bool
	// Open makes the channel of a URI that is made on first use, or says why there is none.
	Open(tx core.Tx, p *auth.Principal, uri ahp.URI) (*core.Channel, error)
	// ShownState is what a principal sees of a state.
	ShownState(tx core.Tx, p *auth.Principal, state any) any
	// StateWithin is a state with at most about so many bytes of what can be left out;
	// false when nothing can.
	StateWithin(tx core.Tx, ch *core.Channel, most int) (state any, ok bool)
	// Watched says that a link has subscribed, Unwatched that it has unsubscribed.
	Watched(tx core.Tx, l *core.Link, ch *core.Channel)
	Unwatched(tx core.Tx, l *core.Link, ch *core.Channel)
	// Opened says that a link has asked for a channel; resumed, that it has come back.
	Opened(tx core.Tx, l *core.Link, resumed bool)
	// Came says that a link has become one of its client's, Ended that a connection is over:
	// it was subscribed to channels, and was its client's last.
	Came(tx core.Tx, cl *core.Client)
	Ended(tx core.Tx, c *Conn, watched []*core.Channel, last bool)
	// Process is that of a terminal, which a token may be bound to.
	Process(tx core.Tx, terminal ahp.URI) (id string, ok bool)
	// Refused tells people what an agent was not allowed.
	Refused(c *Conn, method string, params json.RawMessage, err error)
}

// Options are what a Server needs.
type Options struct {
	Core      *core.Core
	Log       *slog.Logger
	Now       func() time.Time
	Audit     *audit.Log
	Tokens    *auth.Tokens
	ClientIDs *auth.ClientIDs // guarded by the lock
	Channels  Channels
	// TokensChanged is told that there is a token more, or that some are not valid any more.
	TokensChanged func()
	// Triggers are the characters upon which clients ask for completions.
	Triggers []string
	// CommandPrefix begins messages that are command lines.
	CommandPrefix string
	// Version and Home are the host's version and the user's home, for clients.
	Version, Home string
	Limits        Limits

	Methods       map[string]Method
	Notifications map[string]func(c *Conn, params json.RawMessage)
	Actions       map[string]Action
}

type Limits struct {
	Subscriptions int // per connection
	QueueBytes    int // waiting for one connection before it is closed; see ReplyBytes
	LagBytes      int // of that, what it did not ask for; all of it if only QueueBytes is set
	// ReplyBytes bounds the snapshots or replayed actions in one reply. Such
	// requests wait until the connection's queue is half empty, so half of
	// QueueBytes must be more than a reply: a client that asks for much is not
	// closed for being slow because of what it asked for.
	ReplyBytes int
	// What one connection may ask for in a second, and at once after a pause.
	RequestRate, RequestBurst   int
	DispatchRate, DispatchBurst int
}

// Server serves connections. Its methods may be called from any goroutine.
type Server struct {
	Options
	conns  map[*Conn]struct{} // guarded by the lock
	states states             // who is given states at the same time
	ctx    context.Context    // ends with Stop
	cancel context.CancelFunc
	// serving is what Wait waits for, besides what is answered later; added to with
	// the lock, before Stop.
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
