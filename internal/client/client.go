package client

import (
	"context"
	"log/slog"

	"cotty/ahp"
	"cotty/internal/jsonrpc"
)

// Status is the state of the connection.
type Status int

// The states.
const (
	Connected Status = iota
	Reconnecting
	Closed // for good
)

// String names the state.
func (s Status) String() string { panic("not yet") }

// Sink gets what the host says, in order, from the connection's reader
// goroutine. It must not block for long.
type Sink interface {
	// Snapshot (re)initialises a channel: after Connect and Subscribe, and
	// after a reconnect that could not replay.
	Snapshot(s ahp.Snapshot)
	// Action is a confirmed action, including echoes of one's own and refusals
	// (RejectionReason not empty), which change no state.
	Action(e ahp.Envelope)
	// Gone says that a channel did not survive a reconnect.
	Gone(channel ahp.URI)
	// Status reports changes of the connection; err says why.
	Status(s Status, err error)
}

// Options configures Connect.
type Options struct {
	// Dial opens a connection to the host.
	Dial func(ctx context.Context) (jsonrpc.Transport, error)
	// ClientID is stable across reconnects; empty means a random one.
	ClientID string
	Info     ahp.Implementation
	// Sink may be nil for a client that only calls.
	Sink Sink
	// Reconnect makes the client dial again after a lost connection.
	Reconnect bool
	Log       *slog.Logger // nil means discard
}

// Client is a connection to a host that survives lost sockets.
type Client struct{}

// Connect dials, does the handshake and subscribes to the root channel, whose
// snapshot reaches the Sink before Connect returns. Later losses of the
// connection are handled as Options.Reconnect says; a failure of the first
// attempt is returned.
func Connect(ctx context.Context, o Options) (*Client, error) { panic("not yet") }

// Call sends a request and decodes the answer into result, which may be nil.
// An error answer is an *ahp.Error. A request in flight when the connection is
// lost fails: its outcome is unknown.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	panic("not yet")
}

// Subscribe subscribes to a channel; its snapshot reaches the Sink before
// Subscribe returns. Subscribing again gives a new snapshot.
func (c *Client) Subscribe(ctx context.Context, channel ahp.URI) error { panic("not yet") }

// Unsubscribe ends a subscription; nothing of the channel reaches the Sink
// afterwards, except echoes of one's own actions.
func (c *Client) Unsubscribe(channel ahp.URI) { panic("not yet") }

// Dispatch sends an action without waiting for its echo.
func (c *Client) Dispatch(channel ahp.URI, a ahp.Action) (clientSeq int64, err error) {
	panic("not yet")
}

// DispatchWait sends an action and waits for its echo. A refusal is a
// *RejectedError.
func (c *Client) DispatchWait(ctx context.Context, channel ahp.URI, a ahp.Action) (ahp.Envelope, error) {
	panic("not yet")
}

// ServerSeq is the highest sequence number seen.
func (c *Client) ServerSeq() int64 { panic("not yet") }

// ClientID is the id used.
func (c *Client) ClientID() string { panic("not yet") }

// Version is the negotiated protocol version.
func (c *Client) Version() string { panic("not yet") }

// Done is closed when the client has ended for good; Err says why.
func (c *Client) Done() <-chan struct{} { panic("not yet") }

// Err is nil until Done, and after Close.
func (c *Client) Err() error { panic("not yet") }

// Close ends the connection and waits for the reader to end.
func (c *Client) Close() error { panic("not yet") }

// RejectedError is the host's refusal of a dispatched action.
type RejectedError struct{ Envelope ahp.Envelope }

// Error is the host's reason.
func (e *RejectedError) Error() string { return e.Envelope.RejectionReason }
