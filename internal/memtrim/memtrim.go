package memtrim

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// pause is how long a process that calls Idle has to be without work. What waits for a
// second of quiet itself (a journal's tidying, the file that outlives the machine, twice
// after the start) is done by then: a page that is needed after the trim brings 15 others along, and they stay.
const pause = 3 * time.Second

// idle trims on a goroutine that does not end: the end of one has the runtime look its
// function up, which takes 256 KiB of the program's tables.
var idle = sync.OnceValue(func() *time.Timer {
	t := time.NewTimer(pause)
	go func() {
		for range t.C {
			trim()
		}
	}()
	return t
})

// Idle gives memory back once three seconds have passed without another call: after the
// start, and in a process that waits most of the time, after each piece of work. It
// returns at once; any goroutine may call it.
func Idle() {
	garbage.Store(true)
	Rest()
}

// Rest is Idle where there is little garbage: the first collection takes 250 KiB for its
// own lists.
func Rest() { idle().Reset(pause) }

var garbage atomic.Bool // there is some

// trim ends what a flood had put off, collects garbage, returns freed memory, and unmaps the pages of the program:
// what is needed again comes from the page cache.
func trim() {
	usual.flood(false)
	if garbage.Swap(false) {
		debug.FreeOSMemory()
	}
	unmapProgram() //nolint:errcheck // then they stay
}

const (
	// Quiet without output ends a flood.
	Quiet = 200 * time.Millisecond
	// Flood is how many bytes, without a pause of Quiet between them, are a flood.
	Flood = 8 << 20
	// burst is how many bytes are the beginning of one.
	burst = 512 << 10
	// Trickle is how few bytes do not prolong a flood: a prompt or the echo of a
	// key.
	Trickle = 4 << 10
)

// Trimmer notices the end of floods. The zero value is ready.
type Trimmer struct {
	// Trim gives memory back; nil means Idle, so that floods that follow each other soon
	// find the memory of the last. It is called on a goroutine of its own, once for each flood.
	Trim func()

	mu    sync.Mutex
	n     int       // bytes since the last pause
	last  time.Time // something flowed
	armed bool      // a timer runs
}

// Add reports that n bytes have arrived.
func (t *Trimmer) Add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if now.Sub(t.last) >= Quiet && !t.armed {
		t.n = 0
	}
	if n >= Trickle || !t.armed {
		t.last = now
	}
	if t.n += n; t.n >= burst && !t.armed {
		t.armed = true
		time.AfterFunc(0, t.look)
	}
}

// look frees memory if the flood is over; if not, it has it collected later, and sets the timer again.
func (t *Trimmer) look() {
	t.mu.Lock()
	if left := Quiet - time.Since(t.last); left > 0 {
		t.mu.Unlock()
		usual.flood(true) // before what may end it
		time.AfterFunc(left, t.look)
		return
	}
	flood, free := t.n >= Flood, t.Trim
	t.armed, t.n = false, 0
	t.mu.Unlock()
	switch {
	case !flood:
		usual.flood(false)
	case free != nil:
		free()
	default:
		Idle()
	}
}
