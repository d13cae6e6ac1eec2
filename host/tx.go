package host

import (
	"sync"

	"tandemux/host/outbox"
)

// Tx is a turn at the host's state. Whoever has one holds the sequencing lock: only
// lock makes it, and functions that need the lock take one. It must not be kept, nor
// given to another goroutine.
type Tx struct{ mu *sync.Mutex }

// lock waits for the sequencing lock; unlock gives it back.
func (h *Host) lock() Tx {
	h.mu.Lock()
	return Tx{&h.mu}
}

func (tx Tx) unlock() { tx.mu.Unlock() }

// turn runs fn under the sequencing lock and then writes what it sent.
func (h *Host) turn(fn func(tx Tx)) {
	var sent outbox.Touched
	func() {
		tx := h.lock()
		defer tx.unlock()
		h.outbox.Begin()
		defer func() { sent = h.outbox.End() }()
		fn(tx)
	}()
	sent.Flush()
}
