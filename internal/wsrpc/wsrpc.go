package wsrpc

import (
	"context"
	"net/http"

	"cotty/internal/jsonrpc"
)

// Read limits in bytes: what a client accepts of a host, and a host of a
// client.
const (
	ClientReadLimit = 32 << 20
	HostReadLimit   = 8 << 20
)

// Options configures Accept.
type Options struct {
	// ReadLimit bounds a received message in bytes; 0 means HostReadLimit. A
	// longer one ends the connection with status 1009.
	ReadLimit int64
}

// Accept upgrades a request whose Host, Origin and token the caller has
// checked. On an error the response has been written.
func Accept(w http.ResponseWriter, r *http.Request, o Options) (jsonrpc.Transport, error) {
	panic("not yet")
}

// Target says what to dial.
type Target struct {
	// URL is ws://host:port/path, wss://host:port/path or unix:///path/of/socket.
	URL string
	// Token is sent as Authorization: Bearer; empty for none. It is never part
	// of an error.
	Token string
	// ReadLimit bounds a received message in bytes; 0 means ClientReadLimit.
	ReadLimit int64
}

// Dial connects. A refusal by the host's HTTP front is a *StatusError.
func Dial(ctx context.Context, t Target) (jsonrpc.Transport, error) { panic("not yet") }

// StatusError is an HTTP answer other than an upgrade, such as 403 for a wrong
// token.
type StatusError struct {
	Code int
	Body string // the first bytes of the answer's text
}

// Error names the status and the answer's text.
func (e *StatusError) Error() string { panic("not yet") }
