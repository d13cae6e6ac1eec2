package ui

import (
	"context"
	"errors"

	"tandemux/ahp"
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
	// Dispose kills and removes a terminal (disposeTerminal).
	Dispose(ctx context.Context, uri ahp.URI) error
	// Subscribe follows a channel; its snapshot has gone through the Sink when
	// Subscribe returns.
	Subscribe(ctx context.Context, uri ahp.URI) error
	// Unsubscribe stops following it.
	Unsubscribe(uri ahp.URI)
	// Dispatch sends an action without waiting; the number identifies its echo
	// or refusal (Envelope.Origin.ClientSeq). It must not block. Without a
	// connection it fails with ErrAway, also before the Sink has said so.
	Dispatch(uri ahp.URI, a ahp.Action) (clientSeq int64, err error)
}

// Stopper is a Host that can be asked to end (x-tandemux/stop). The command "stop"
// needs it.
type Stopper interface {
	Stop(ctx context.Context) error
}

// Answerer is a Host that takes the answer to an agent's question for a terminal
// (x-tandemux/answer). The command "answer-agent" needs it.
type Answerer interface {
	Answer(ctx context.Context, p ahp.AnswerParams) error
}

// Painted is a Host that is told what colours the outer terminal shows
// (x-tandemux/colors), so that programs that ask get them. Colors must not block.
type Painted interface {
	Colors(p ahp.ColorsParams) error
}

// ErrAway is Host.Dispatch's answer while there is no connection.
var ErrAway = errors.New("not connected to the host")

// ClosedError is why a host has closed the connection, in its own words.
type ClosedError string

func (e ClosedError) Error() string { return string(e) }

// Link is the state of the connection to the host.
type Link uint8

// The states of Link.
const (
	// Connected means that actions flow.
	Connected Link = iota
	// Reconnecting means that the connection was lost and is tried again.
	Reconnecting
	// Closed means that the connection is gone for good.
	Closed
)
