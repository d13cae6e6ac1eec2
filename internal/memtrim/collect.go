package memtrim

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// spare is how much garbage there may be in a flood, where the usual percentage is less: a
// collection takes 1 to 3 ms however little there is.
const spare = 8 << 20

// usual is when garbage is collected but in floods.
var usual collection

type collection struct {
	mu       sync.Mutex
	percent  int  // GOGC; 0 is whatever Go does, in floods, too
	flooding bool // and the percentage is another with each collection
	looks    bool // when there has been one
}

// Collect has garbage collected when there is so much of it, in percent of the heap (GOGC),
// and less often while there is a flood.
func Collect(percent int) {
	usual.mu.Lock()
	defer usual.mu.Unlock()
	usual.percent = percent
	usual.set()
}

// flood begins, or goes on, or ends.
func (c *collection) flood(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.percent > 0 && (!on || !c.flooding) {
		c.flooding = on
		c.set()
	}
}

// set sets when garbage is collected: in a flood, when there is as much as there may be. Then it
// is set anew, as the heap may have grown: 200 percent of 4 MiB are 8 MiB, and of 26 they are 52.
// The caller holds mu.
func (c *collection) set() {
	percent := c.percent
	if c.flooding {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		percent = max(percent, 100*spare/int(max(live[0].Value.Uint64(), spare/8)))
		if !c.looks {
			c.looks = true
			runtime.AddCleanup(new(*collection), (*collection).collected, c)
		}
	}
	debug.SetGCPercent(percent)
}

// collected is called behind a collection.
func (c *collection) collected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.looks = false; c.flooding {
		c.set()
	}
}
