package jsonrpc

import "context"

// Transport moves whole messages. Read and Write may run at the same time;
// each is called by one goroutine at a time. Close may be called at any time
// and more than once, and unblocks both.
type Transport interface {
	// Read returns the next message, valid until the next Read. When the peer
	// has closed the connection the error is a *CloseError.
	Read(ctx context.Context) ([]byte, error)
	// Write sends one message and does not keep it.
	Write(ctx context.Context, msg []byte) error
	// Close ends the connection with a WebSocket status code and a reason of
	// at most 123 bytes. It may wait a moment for the peer's consent.
	Close(code int, reason string) error
}

// MoreWriter is a Transport that can put several messages into one packet.
type MoreWriter interface {
	Transport
	// WriteMore is Write; more says that another message follows at once, so
	// that this one may wait for it. An empty msg only sends what waits.
	WriteMore(ctx context.Context, msg []byte, more bool) error
}
