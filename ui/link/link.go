package link

import (
	"errors"

	"tandemux/ahp"
	"tandemux/ui/loop"
)

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
	Host  Host
	Sink  *Sink
	State State

	loop *loop.Loop
	lost func()
}

// New makes a link of a connection that is up. lost is called when a dispatch shows
// that it is down, before the Sink has said so.
func New(h Host, s *Sink, l *loop.Loop, lost func()) *Link {
	return &Link{Host: h, Sink: s, loop: l, lost: lost}
}

// Up reports whether actions flow.
func (l *Link) Up() bool { return l.State == Connected }

// Can reports whether the host has some capabilities.
func (l *Link) Can(some Capabilities) bool { return l.Host.Capabilities().Has(some) }

// Dispatch sends an action; what can't be sent is reported.
func (l *Link) Dispatch(uri ahp.URI, a ahp.Action) (seq int64, ok bool) {
	seq, err := l.Host.Dispatch(uri, a)
	switch {
	case errors.Is(err, ErrAway):
		if l.Up() { // it is about to say so itself
			l.State = Reconnecting
			l.lost()
		}
	case err != nil:
		l.loop.Fail("send "+a.ActionType(), err)
	}
	return seq, err == nil
}
