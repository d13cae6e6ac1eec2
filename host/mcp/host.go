package mcp

import (
	"context"

	"tandemux/ahp"
)

// Host is an AHP connection of one agent to a host. Its methods may be called
// from any goroutine.
type Host interface {
	// Call sends a request and waits for its answer.
	Call(ctx context.Context, method string, params, result any) error
	// DispatchWait sends an action and waits for the host's word on it.
	DispatchWait(ctx context.Context, channel ahp.URI, a ahp.Action) (ahp.Envelope, error)
	// Press encodes keys, named as in the configuration ("ctrl+c", "up"), for
	// the modes that a terminal's program has set.
	Press(ctx context.Context, channel ahp.URI, keys []string) (string, error)
	// Claim is that of the agent's terminals: its session, and its chat if it has
	// one.
	Claim() ahp.Claim
	// Done is closed when the connection has ended for good.
	Done() <-chan struct{}
	// Close ends the connection.
	Close() error
}

// Options says whose server it is.
type Options struct {
	// Open connects to the host as an agent of that name. It is called when the
	// first tool is, and again when the connection has ended.
	Open func(ctx context.Context, name string) (Host, error)
	// Name is the agent's, for clients that do not say theirs.
	Name string
	// Version of tandemux, told to clients.
	Version string
	// Dir is where terminals are started when a call names no directory; an
	// absolute path, or empty for the host's default.
	Dir string
	// Chat is the one of the host's that the agent works in: tools of its session's
	// clients are offered too (ServeStdio). Empty: there is none.
	Chat ahp.URI
	// NewURI makes the URI of a new terminal.
	NewURI func() ahp.URI
}
