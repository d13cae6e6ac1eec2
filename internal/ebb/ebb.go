package ebb

import (
	"sync"
	"time"
)

const (
	// Quiet without output ends a flood.
	Quiet = 200 * time.Millisecond
	// Flood is how many bytes, without a pause of Quiet between them, are a flood.
	Flood = 8 << 20
	// Trickle is how few bytes do not prolong a flood: a prompt or the echo of a
	// key.
	Trickle = 4 << 10
)

// Ebb notices the end of floods. The zero value is ready.
type Ebb struct {
	// Free gives memory back; nil means what Settle does. It is called on a
	// goroutine of its own, once for each flood.
	Free func()

	mu    sync.Mutex
	n     int       // bytes since the last pause
	last  time.Time // something flowed
	armed bool      // a timer runs
}

// Flow reports that n bytes have arrived.
func (e *Ebb) Flow(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	if now.Sub(e.last) >= Quiet && !e.armed {
		e.n = 0
	}
	if n >= Trickle || !e.armed {
		e.last = now
	}
	if e.n += n; e.n >= Flood && !e.armed {
		e.armed = true
		time.AfterFunc(Quiet, e.look)
	}
}

// look frees memory if the flood is over; if not, it sets the timer again.
func (e *Ebb) look() {
	e.mu.Lock()
	left := Quiet - time.Since(e.last)
	if left > 0 {
		time.AfterFunc(left, e.look)
		e.mu.Unlock()
		return
	}
	e.armed, e.n = false, 0
	free := e.Free
	e.mu.Unlock()
	if free == nil {
		free = giveBack
	}
	free()
}
