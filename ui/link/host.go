package link

import (
	"context"
	"errors"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/ui/loop"
	"tandemux/ui/tasks"
)

// Host is what the interface needs of a connection to a host. Its methods may be called from
// any goroutine. Echoes and refusals of dispatches, and changes of subscribed channels, arrive
// at the Sink.
type Host interface {
	// ClientID is the identity that claims of this client carry.
	ClientID() string
	// Create makes a terminal (createTerminal) and returns when the host has
	// answered.
	Create(ctx context.Context, p ahp.CreateTerminalParams) error
	// Call sends a request that has no method here, and decodes the answer into result, which
	// may be nil.
	Call(ctx context.Context, method string, params, result any) error
	// Subscribe follows a channel; its snapshot has gone through the Sink when
	// Subscribe returns.
	Subscribe(ctx context.Context, uri ahp.URI) error
	// Unsubscribe stops following it.
	Unsubscribe(uri ahp.URI)
	// Dispatch sends an action without waiting; the number identifies its echo
	// or refusal (Envelope.Origin.ClientSeq). It must not block. Without a
	// connection it fails with ErrAway, also before the Sink has said so.
	Dispatch(uri ahp.URI, a ahp.Action) (clientSeq int64, err error)

	// Colors tells the host the outer terminal's colours (x-tandemux/colors), for programs
	// that query them. It must not block.
	Colors(p ahp.ColorsParams) error
	// RoundTrip is the shortest time in which the host has answered; 0 while it is unknown.
	RoundTrip() time.Duration
	// Retry tries at once to connect again.
	Retry()

	// Sessions lists all sessions. Notifications to Sink.Note keep the list up to date.
	Sessions(ctx context.Context) ([]ahp.SessionSummary, error)
	CreateSession(ctx context.Context, p ahp.CreateSessionParams) error
	// Agents lists the agents that sessions can be started with, the default first.
	Agents(ctx context.Context) ([]Agent, error)

	tasks.Host
}

// ErrAway is Host.Dispatch's error while there is no connection.
var ErrAway = errors.New("not connected to the host")

// ClosedError is the reason that a host gave when it closed the connection.
type ClosedError string

func (e ClosedError) Error() string { return string(e) }

// Agent is an agent that sessions can be started with.
type Agent struct {
	Name  string // the provider's name
	Title string
	Why   string // why it can't be used now, "" if it can
}

// State is the state of the connection to the host.
type State uint8

// The states.
const (
	// Connected means that actions flow.
	Connected State = iota
	// Reconnecting means that the connection was lost and is being restored.
	Reconnecting
	// Closed means that the connection is gone for good.
	Closed
)

// Link is the connection as the parts of the interface share it.
type Link struct {
	Host  *fleet
	Sink  *Sink
	State State
	Hosts Hosts // the others

	loop *loop.Loop
	lost func()
}

// New makes a link of h, which is up, and of the connections to other hosts. lost is called when
// a dispatch fails because h is down, before the Sink has said so.
func New(h Host, far []Far, s *Sink, l *loop.Loop, lost func()) *Link {
	others := new(Others)
	lk := &Link{Host: &fleet{h, others}, Sink: s, loop: l, lost: lost, Hosts: Hosts{others, map[string]Standing{}}}
	lk.Hosts.List(far, l.Now())
	return lk
}

// Up reports whether actions flow.
func (l *Link) Up() bool { return l.State == Connected }

// Dispatch sends an action; what can't be sent is reported.
func (l *Link) Dispatch(uri ahp.URI, a ahp.Action) (seq int64, ok bool) {
	seq, err := l.Host.Dispatch(uri, a)
	switch {
	case errors.Is(err, ErrAway): // that connection is about to report it
		if host := hosted.Host(uri); host != "" {
			l.Hosts.Take(HostChanged{host, Standing{State: Reconnecting, Since: l.loop.Now()}})
			l.loop.Dirty |= loop.Chrome | loop.Places
		} else if l.Up() {
			l.State = Reconnecting
			l.lost()
		}
	case err != nil:
		l.loop.Fail("send "+a.ActionType(), err)
	}
	return seq, err == nil
}
