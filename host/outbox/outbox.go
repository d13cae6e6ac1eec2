package outbox

import (
	"errors"
	"sync"
	"sync/atomic"

	"tandemux/ahp"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/memtrim"
)

// Up to maxInline connections are written to by the goroutine that sends. If a turn sends to
// more, their own writer goroutines do it in parallel.
const maxInline = 4

// Bytes that may wait. With many connections each may have less: output that waits stays in
// memory, and viewers that are far behind take long to catch up.
const (
	lagAll   = 64 << 20  // for all connections together
	lagLeast = 512 << 10 // for each connection in any case
)

// Outbox collects the connections that one turn of the sequencer sends to, so that each is
// written to once, after the turn. The zero value is ready.
type Outbox struct {
	// Conns is the number of connections; the caller maintains it.
	Conns int

	open    bool
	touched []*Conn
	memory  memtrim.Trimmer // frees the memory of floods
}

// Touched is the connections that the caller of End must flush.
type Touched [maxInline]*Conn

// Flush writes what was sent in a turn.
func (t *Touched) Flush() {
	for _, c := range t {
		if c == nil {
			return
		}
		c.RPC.Flush()
	}
}

// Begin starts a turn: messages are queued until End.
func (o *Outbox) Begin() { o.open = true }

// End ends a turn. The caller flushes the result without holding a lock. If the turn sent to
// many connections, End starts their writers and the result is empty.
func (o *Outbox) End() (few Touched) {
	o.open = false
	many := len(o.touched) > maxInline
	for _, c := range o.touched {
		c.touched = false
		if many {
			c.RPC.Start()
		}
	}
	if !many {
		copy(few[:], o.touched)
	}
	clear(o.touched)
	o.touched = o.touched[:0]
	return few
}

// Send queues an encoded message; outside of a turn it also writes it. A connection without
// room is closed: the client comes back with reconnect, and gets a replay or a snapshot.
func (o *Outbox) Send(c *Conn, b []byte) { o.send(c, message{b: b}) }

// Ping sends a ping, to a connection whose Pings is true.
func (o *Outbox) Ping(c *Conn, number int64) { o.send(c, message{b: jsonrpc.Ping(number)}) }

// SendOutput sends output that other connections get as well.
func (o *Outbox) SendOutput(c *Conn, out *Output) { o.send(c, message{b: out.buf, output: out}) }

// Release ends Hold and sends what was kept back.
func (o *Outbox) Release(c *Conn) {
	for _, m := range c.release() {
		o.send(c, m)
		m.gone()
	}
}

// message is an encoded message. If output is not nil, b is its memory.
type message struct {
	b      []byte
	output *Output
}

// gone releases the message's reference to output.
func (m message) gone() {
	if m.output != nil {
		m.output.Release()
	}
}

// Spared notes n bytes of output that were not sent but have taken memory.
func (o *Outbox) Spared(n int) { o.memory.Add(n) }

func (o *Outbox) send(c *Conn, m message) {
	o.memory.Add(len(m.b))
	if c.keep(m, min(c.lag, max(lagLeast, lagAll/max(o.Conns, 1)))) {
		return
	}
	var err error
	switch {
	case !o.open:
		if err = c.put(m); err == nil {
			c.RPC.Flush()
		}
	default:
		if err = c.put(m); err == nil && !c.touched {
			c.touched = true
			o.touched = append(o.touched, c)
		}
	}
	if errors.Is(err, jsonrpc.ErrQueueFull) {
		c.overflow()
	}
}

// Output is an encoded action of output, the same bytes for all viewers. Its memory goes
// back to a pool when the last connection has written it; in a flood that is most of what
// the host would allocate.
type Output struct {
	buf  []byte
	refs atomic.Int32
}

const (
	// LeastOutput is the least output, in bytes, that takes a pooled buffer: little output
	// that waits for a slow viewer should not keep a large buffer.
	LeastOutput = 32 << 10
	// maxOutput bounds a pooled buffer, in bytes.
	maxOutput = 128 << 10
)

var outputs = sync.Pool{New: func() any { return new(Output) }}

// Form appends output as a message: wire.AppendDataEnvelope or wire.AppendUnquoted.
type Form func(buf []byte, channel ahp.URI, data string, seq int64) []byte

// NewOutput encodes output of at least LeastOutput bytes. The caller has one reference.
func NewOutput(as Form, channel ahp.URI, data string, seq int64) *Output {
	o := outputs.Get().(*Output)
	o.refs.Store(1)
	o.buf = as(o.buf[:0], channel, data, seq)
	return o
}

// Release implements jsonrpc.Shared: it gives up one reference.
func (o *Output) Release() {
	if o.refs.Add(-1) == 0 && cap(o.buf) <= maxOutput {
		outputs.Put(o)
	}
}

// Bytes is the encoded message, valid as long as the caller has a reference.
func (o *Output) Bytes() []byte { return o.buf }
