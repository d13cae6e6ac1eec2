package jsonrpc

import (
	"context"
	"encoding/json"
	"log/slog"
)

// Request is a request or notification of the peer.
type Request struct {
	// ID is the id as it was sent; nil for a notification.
	ID     json.RawMessage
	Method string
	// Params is valid until Handle returns; nil when absent. Unmarshalling
	// copies what it keeps.
	Params json.RawMessage
}

// IsNotification reports whether the peer expects no answer.
func (r *Request) IsNotification() bool { return r.ID == nil }

// Handler handles the peer's requests and notifications.
type Handler interface {
	// Handle returns the result (nil becomes null) or an error. Both are
	// dropped for a notification. It is called sequentially, in the order of
	// arrival. ErrReplied means that Reply answers.
	Handle(ctx context.Context, c *Conn, req *Request) (result any, err error)
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(ctx context.Context, c *Conn, req *Request) (any, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, c *Conn, req *Request) (any, error) {
	return f(ctx, c, req)
}

// The defaults of Options.
const (
	DefaultQueueBytes    = 32 << 20
	DefaultQueueMessages = 16384
	DefaultDepth         = 128
)

// Options bounds a connection. Zero values mean the defaults.
type Options struct {
	MaxQueueBytes    int // bytes waiting to be written
	MaxQueueMessages int // messages waiting to be written
	MaxDepth         int // nesting of arrays and objects in a received message
	// Raw, when set, sees each received message first and reports whether it
	// has dealt with it. It runs where Handle runs.
	Raw func(msg []byte) bool
	Log *slog.Logger // nil means discard
}

// Conn is one connection. All methods may be called from any goroutine.
type Conn struct{}

// New makes a connection; Run starts it. h may be nil for a peer that serves
// nothing.
func New(t Transport, h Handler, o Options) *Conn { panic("not yet") }

// Run reads and handles messages until the connection ends, by Close, by the
// peer, by an error or by ctx, and closes the transport. It returns nil after
// Close and after a clean close by the peer.
func (c *Conn) Run(ctx context.Context) error { panic("not yet") }

// Call sends a request and decodes the answer into result, which may be nil.
// An error answer is an *Error. It must not be called from a handler with the
// handler's context.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error { panic("not yet") }

// Go sends a request. done is called once, with the raw result or an error, in
// order with the handling of other messages; result is valid until it returns.
// When Go itself returns an error done is not called.
func (c *Conn) Go(method string, params any, done func(result json.RawMessage, err error)) error {
	panic("not yet")
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params any) error { panic("not yet") }

// Send queues a whole encoded message, which must not be changed afterwards.
// It never blocks; ErrQueueFull when a bound would be exceeded.
func (c *Conn) Send(raw []byte) error { panic("not yet") }

// Reply answers req from a handler that returns ErrReplied, at once or later.
// It never blocks. Answering a notification does nothing.
func (c *Conn) Reply(req *Request, result any, err error) error { panic("not yet") }

// AfterReply, called inside Handle, runs fn right after the reply was queued
// and before the next message is handled.
func (c *Conn) AfterReply(fn func()) { panic("not yet") }

// Queued is the number of bytes waiting to be written.
func (c *Conn) Queued() int { panic("not yet") }

// Drained gives a channel that is closed once the queue is at most half full
// (at once if it is now), or the connection has ended.
func (c *Conn) Drained() <-chan struct{} { panic("not yet") }

// Discard drops everything queued that is not being written yet and returns
// the number of messages.
func (c *Conn) Discard() int { panic("not yet") }

// Close ends the connection: nothing more is accepted, what is queued is still
// written for at most CloseWait, then the transport is closed with code and
// reason. It does not wait for that; Done does. Later calls do nothing.
func (c *Conn) Close(code int, reason string) error { panic("not yet") }

// Done is closed when Run has ended.
func (c *Conn) Done() <-chan struct{} { panic("not yet") }
