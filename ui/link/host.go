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

// Host is what the interface needs from a connection to a host. The methods
// may be called from any goroutine. Answers to dispatches and changes of
// subscribed channels come through the Sink.
type Host interface {
	// ClientID is the identity that claims of this client carry.
	ClientID() string
	// Create makes a terminal (createTerminal) and returns when the host has
	// answered.
	Create(ctx context.Context, p ahp.CreateTerminalParams) error
	// Call asks for what has no method here, and reads the answer into result, which may
	// be nil.
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

	// Colors tells what colours the outer terminal shows (x-tandemux/colors), so
	// that programs that ask get them. It must not block.
	Colors(p ahp.ColorsParams) error
	// RoundTrip is how long the host takes to answer, at best; 0 while that is not known.
	RoundTrip() time.Duration
	// Retry tries at once to connect again.
	Retry()

	// Sessions lists all of them. The list is kept up to date by notifications through
	// Sink.Note.
	Sessions(ctx context.Context) ([]ahp.SessionSummary, error)
	CreateSession(ctx context.Context, p ahp.CreateSessionParams) error
	// Agents lists those that sessions can be begun with, the default first.
	Agents(ctx context.Context) ([]Agent, error)

	tasks.Host
}

// ErrAway is Host.Dispatch's answer while there is no connection.
var ErrAway = errors.New("not connected to the host")

// ClosedError is why a host has closed the connection, in its own words.
type ClosedError string

func (e ClosedError) Error() string { return string(e) }

// Agent is one that sessions can be begun with.
type Agent struct {
	Name  string // the provider's
	Title string
	Why   string // it can't be used now, "" when it can
}

// State is the state of the connection to the host.
type State uint8

// The states.
const (
	// Connected means that actions flow.
	Connected State = iota
	// Reconnecting means that the connection was lost and is tried again.
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

// New makes a link of a connection that is up, and of those to other hosts. lost is
// called when a dispatch shows that the first one is down, before the Sink has said so.
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
	case errors.Is(err, ErrAway): // it is about to say so itself
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
