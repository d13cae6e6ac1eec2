package outbox

import (
	"errors"
	"sync"
	"sync/atomic"

	"tandemux/ahp"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/memtrim"
)

// maxInline is how many connections are written to by the goroutine that had
// something to say; beyond it their own writers do so side by side.
const maxInline = 4

// What waits for all connections together is bounded, too: who is behind takes time to
// catch up that many don't have, and keeps output in memory.
const (
	lagAll   = 64 << 20
	lagLeast = 512 << 10 // that a connection may have in any case
)

// Outbox gathers the connections that one turn of the sequencer sends to, so that each
// is written to once, after the turn. The zero value is ready.
type Outbox struct {
	// Conns is how many connections there are.
	Conns int

	open    bool
	touched []*Conn
	memory  memtrim.Trimmer // gives back what floods of output took
}

// Touched are connections that are still to be written to.
type Touched [maxInline]*Conn

// Flush writes to them what was sent in a turn.
func (t *Touched) Flush() {
	for _, c := range t {
		if c == nil {
			return
		}
		c.RPC.Flush()
	}
}

// Begin starts a turn: what is sent waits for its end.
func (o *Outbox) Begin() { o.open = true }

// End ends a turn. What it gives is to be flushed, outside of any lock; the writers of
// many connections are started here.
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

// Send queues an encoded message for the end of the turn, or sends it when there is
// none. A connection without room for it is closed: it comes back with reconnect, and
// gets a replay or a snapshot.
func (o *Outbox) Send(c *Conn, b []byte) { o.send(c, message{b: b}) }

// Ping is Send for a ping, to a connection that Pings.
func (o *Outbox) Ping(c *Conn, number int64) { o.send(c, message{b: jsonrpc.Ping(number)}) }

// SendOutput is Send for output that other connections get as well.
func (o *Outbox) SendOutput(c *Conn, out *Output) { o.send(c, message{b: out.buf, output: out}) }

// Release lets what a connection holds back follow the reply.
func (o *Outbox) Release(c *Conn) {
	for _, m := range c.release() {
		o.send(c, m)
		m.gone()
	}
}

// message is encoded; output, if not nil, is whose memory it is in.
type message struct {
	b      []byte
	output *Output
}

// gone gives up the message's own reference.
func (m message) gone() {
	if m.output != nil {
		m.output.Release()
	}
}

// Spared notes output that is not sent, but has taken memory all the same.
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

// Output is an action of output on the wire: the same bytes for all who watch.
// Its memory is used again when the last connection has written it; in a flood
// that is most of what the host would allocate.
type Output struct {
	buf  []byte
	refs atomic.Int32
}

const (
	// LeastOutput is the least output whose buffer is used again: in a large one
	// little would wait for slow viewers at a high price.
	LeastOutput = 32 << 10
	// maxOutput bounds a buffer that is used again, in bytes.
	maxOutput = 128 << 10
)

var outputs = sync.Pool{New: func() any { return new(Output) }}

// Form appends output as a message: wire.AppendDataEnvelope or wire.AppendUnquoted.
type Form func(buf []byte, channel ahp.URI, data string, seq int64) []byte

// NewOutput encodes output of at least LeastOutput bytes; the caller has one
// reference.
func NewOutput(as Form, channel ahp.URI, data string, seq int64) *Output {
	o := outputs.Get().(*Output)
	o.refs.Store(1)
	o.buf = as(o.buf[:0], channel, data, seq)
	return o
}

// Release implements jsonrpc.Shared: one who used it no longer does.
func (o *Output) Release() {
	if o.refs.Add(-1) == 0 && cap(o.buf) <= maxOutput {
		outputs.Put(o)
	}
}

// Bytes are the output's, as long as the caller has a reference.
func (o *Output) Bytes() []byte { return o.buf }
