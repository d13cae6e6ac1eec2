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

	lag     int          // how many bytes that were not asked for may wait
	sent    func() int64 // bytes that the socket has taken
	pings   bool
	moved   pulse // beats when a message has left the queue
	touched bool  // the Outbox's

	mu        sync.Mutex
	log       *slog.Logger
	closed    bool // nothing more is sent
	holding   bool // what is sent waits in held
	held      []message
	heldBytes int
}

// New makes a connection over t. lag bounds what waits for it besides answers, in
// bytes; o.Wrote is set here.
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

// SetLog sets where a drop is noted.
func (c *Conn) SetLog(log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = log
}

// Hold keeps back what is sent until Release, or Forget.
func (c *Conn) Hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = true
}

// Holding reports whether what is sent is kept back.
func (c *Conn) Holding() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holding
}

// Forget drops what is held, and holds no more.
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

// keep takes a message that is not to be queued now: it is held, or there is no room
// for it within lag, or nothing is sent any more.
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

// put queues a message, for the end of the turn.
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

// overflow closes a connection that has no room for what is sent.
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

// Close closes the connection when what is queued has been sent; nothing more is.
func (c *Conn) Close(code int, reason string) {
	c.end()
	c.RPC.Close(code, reason) //nolint:errcheck // it ends either way
}

// Ended says that the connection is over.
func (c *Conn) Ended() { c.end() }

// end has nothing more sent; it reports whether anything was.
func (c *Conn) end() bool {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	c.Forget()
	return first
}

// Closed reports whether nothing more is sent.
func (c *Conn) Closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Behind gives, while more than most bytes wait, what is closed when a message has left
// since; nil if there is no need to wait.
func (c *Conn) Behind(most int) (moved <-chan struct{}) {
	if c.Closed() || c.RPC.Queued() <= most {
		return nil
	}
	// Looked at again: what leaves from here on is not missed.
	if moved = c.moved.next(); c.RPC.Queued() <= most {
		return nil
	}
	return moved
}

// Pings reports whether its peer can be asked how far it has read.
func (c *Conn) Pings() bool { return c.pings }

// Sent is how many bytes the socket has taken.
func (c *Conn) Sent() int64 { return c.sent() }

// pulse wakes everybody who waits for its next beat: a client may hold many
// terminals, whose readers all wait for its one connection.
type pulse struct {
	mu sync.Mutex
	ch chan struct{} // nil while nobody waits
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
