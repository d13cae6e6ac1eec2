package host

import (
	"bytes"

	"tandemux/internal/memtrim"
)

// outbox gathers the connections that one turn of the sequencer sends to, so
// that each is written to once, without the lock. Guarded by h.mu.
type outbox struct {
	open    bool
	touched []*conn
	states  admission       // beside it: who is given states now
	memory  memtrim.Trimmer // beside it: gives back what floods of output took
}

// maxInline is how many connections are written to by the goroutine that had
// something to say; beyond it their own writers do so side by side.
const maxInline = 4

// turn runs fn under the sequencing lock and then writes what it sent.
func (h *Host) turn(fn func(tx Tx)) {
	var few [maxInline]*conn
	n := 0
	func() {
		tx := h.lock()
		defer tx.unlock()
		o := &h.outbox
		o.open = true
		defer func() {
			o.open = false
			many := len(o.touched) > maxInline
			for _, c := range o.touched {
				c.touched = false
				if many {
					c.rpc.Start()
				}
			}
			if !many {
				n = copy(few[:], o.touched)
			}
			clear(o.touched)
			o.touched = o.touched[:0]
		}()
		fn(tx)
	}()
	for _, c := range few[:n] {
		c.rpc.Flush()
	}
}

// post queues a message for the end of the turn, or sends it when there is none.
func (h *Host) post(tx Tx, c *conn, b []byte) error {
	o := &h.outbox
	if !o.open {
		return c.rpc.Send(b)
	}
	err := c.rpc.Put(b)
	if err == nil && !c.touched {
		c.touched = true
		o.touched = append(o.touched, c)
	}
	return err
}

// postShared is post for output.
func (h *Host) postShared(tx Tx, c *conn, o *output) error {
	if !h.outbox.open {
		return c.rpc.Send(bytes.Clone(o.buf))
	}
	o.refs.Add(1)
	err := c.rpc.PutShared(o.buf, o)
	if err != nil {
		o.Release()
	} else if !c.touched {
		c.touched = true
		h.outbox.touched = append(h.outbox.touched, c)
	}
	return err
}

// later queues the echo of input: its sender has seen it do its work, or will with
// the output that follows.
func (c *conn) later(tx Tx, b []byte) {
	if c.closing || c.holding || c.rpc.SendLater(b) != nil {
		c.send(tx, b)
	}
}
