package mcp

import (
	"context"

	"cotty/ahp"
)

// Host is an AHP connection of one agent to a host; package client's Client is
// most of one. Its methods may be called from any goroutine.
type Host interface {
	// Call sends a request and waits for its answer.
	Call(ctx context.Context, method string, params, result any) error
	// DispatchWait sends an action and waits for the host's word on it.
	DispatchWait(ctx context.Context, channel ahp.URI, a ahp.Action) (ahp.Envelope, error)
	// Press encodes keys, named as in the configuration ("ctrl+c", "up"), for
	// the modes that a terminal's program has set.
	Press(ctx context.Context, channel ahp.URI, keys []string) (string, error)
}

// Options says whose server it is.
type Options struct {
	Host Host
	// Claim is that of the agent's terminals: its session, and its chat if it
	// has one.
	Claim ahp.Claim
	// Version of cotty, told to clients.
	Version string
	// Dir is where terminals are started when a call names no directory; an
	// absolute path, or empty for the host's default.
	Dir string
	// NewURI makes the URI of a new terminal.
	NewURI func() ahp.URI
}
