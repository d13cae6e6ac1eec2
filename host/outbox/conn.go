package outbox

import (
	"fmt"
	"log/slog"
	"sync"

	"tandemux/internal/jsonrpc"
)

// Conn is the sending half of a client's connection.
type Conn struct {
	RPC *jsonrpc.Conn

	lag     int          // how many bytes, other than answers, may wait
	sent    func() int64 // bytes that the socket has taken
	pings   bool
	moved   pulse // beats when a message has left the queue
	touched bool  // it is in Outbox.touched

	mu        sync.Mutex
	log       *slog.Logger
	closed    bool // nothing more is sent
	holding   bool // messages wait in held
	held      []message
	heldBytes int
}

// New makes a connection over t. lag bounds the bytes that wait for it, except answers. New
// sets o.Wrote.
func New(t jsonrpc.Transport, handler jsonrpc.Handler, o jsonrpc.Options, lag int) *Conn {
	c := &Conn{lag: lag, log: o.Log, sent: func() int64 { return 0 }}
	if s, ok := t.(interface{ Sent() int64 }); ok {
		c.sent = s.Sent
	}
	if p, ok := t.(jsonrpc.Pinger); ok {
		c.pings = p.Pings()
	}
	o.Wrote = c.moved.beat
	c.RPC = jsonrpc.New(t, handler, o)
	return c
}

// SetLog sets the logger for Drop.
func (c *Conn) SetLog(log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = log
}

// Hold keeps messages back until Release or Forget.
func (c *Conn) Hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = true
}

// Holding reports whether messages are kept back.
func (c *Conn) Holding() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holding
}

// Forget drops the messages that were kept back, and ends Hold.
func (c *Conn) Forget() {
	for _, m := range c.release() {
		m.gone()
	}
}

func (c *Conn) release() []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := c.held
	c.holding, c.held, c.heldBytes = false, nil, 0
	return held
}

// keep reports whether a message is not to be queued now: keep has added it to held, or
// dropped it as the connection is closed or has no room for it within lag bytes.
func (c *Conn) keep(m message, lag int) bool {
	c.mu.Lock()
	switch waiting := c.RPC.Unasked(); {
	case c.closed:
	case c.holding && c.heldBytes+len(m.b) <= lag:
		if m.output != nil {
			m.output.refs.Add(1)
		}
		c.held = append(c.held, m)
		c.heldBytes += len(m.b)
	case c.holding, waiting > 0 && waiting+len(m.b) > lag:
		c.mu.Unlock()
		c.overflow()
		return true
	default:
		c.mu.Unlock()
		return false
	}
	c.mu.Unlock()
	return true
}

// put queues a message; the caller flushes.
func (c *Conn) put(m message) error {
	if m.output == nil {
		return c.RPC.Put(m.b)
	}
	m.output.refs.Add(1)
	err := c.RPC.PutShared(m.b, m.output)
	if err != nil {
		m.output.Release()
	}
	return err
}

// overflow closes a connection that has no room for a message.
func (c *Conn) overflow() {
	c.mu.Lock()
	n := c.RPC.Queued() + c.heldBytes
	c.mu.Unlock()
	c.Drop(jsonrpc.CloseOverload, fmt.Sprintf("viewer too slow: %d bytes waiting; reconnect", n))
}

// Drop closes the connection without sending what is queued.
func (c *Conn) Drop(code int, reason string) {
	if !c.end() {
		return
	}
	n := c.RPC.Discard()
	c.mu.Lock()
	log := c.log
	c.mu.Unlock()
	log.Info("drop connection", "reason", reason, "messages", n)
	c.RPC.Close(code, reason) //nolint:errcheck // it ends either way
}

// Close closes the connection after what is queued was sent. Later messages are dropped.
func (c *Conn) Close(code int, reason string) {
	c.end()
	c.RPC.Close(code, reason) //nolint:errcheck // it ends either way
}

// Ended notes that the connection has ended.
func (c *Conn) Ended() { c.end() }

// end marks the connection as closed, and reports whether it was not before.
func (c *Conn) end() bool {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	c.Forget()
	return first
}

// Closed reports whether messages are no longer sent.
func (c *Conn) Closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Behind returns nil unless more than most bytes wait. Then it returns a channel that is
// closed when the next message has left the queue.
func (c *Conn) Behind(most int) (moved <-chan struct{}) {
	if c.Closed() || c.RPC.Queued() <= most {
		return nil
	}
	// Check again: a message may have left before next.
	if moved = c.moved.next(); c.RPC.Queued() <= most {
		return nil
	}
	return moved
}

// Pings reports whether the connection can ping its peer (Outbox.Ping).
func (c *Conn) Pings() bool { return c.pings }

// Sent is how many bytes the socket has taken.
func (c *Conn) Sent() int64 { return c.sent() }

// pulse wakes all goroutines that wait for its next beat: a client may hold many terminals,
// whose readers all wait for its one connection.
type pulse struct {
	mu sync.Mutex
	ch chan struct{} // nil while nothing waits
}

func (p *pulse) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ch == nil {
		p.ch = make(chan struct{})
	}
	return p.ch
}

func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ch != nil {
		close(p.ch)
		p.ch = nil
	}
}
