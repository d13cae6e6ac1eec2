package host

// Tx is a turn at the host's state. Whoever has one holds the sequencing lock: only
// lock makes it, and functions that need the lock take one or are methods of it. It
// must not be kept, nor given to another goroutine.
type Tx struct{ *Host }

// lock waits for the sequencing lock; unlock gives it back.
func (h *Host) lock() Tx {
	h.mu.Lock()
	return Tx{h}
}

func (tx Tx) unlock() { tx.mu.Unlock() }
