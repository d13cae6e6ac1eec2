package memtrim

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// spare is how much garbage there may be in a flood, where the usual percentage is less: a
// collection takes 1 to 3 ms however little there is.
const spare = 12 << 20

// usual is when garbage is collected but in floods.
var usual collection

type collection struct {
	mu      sync.Mutex
	percent int // GOGC; 0 is whatever Go does, in floods, too
}

// Collect has garbage collected when there is so much of it, in percent of the heap (GOGC),
// and less often while there is a flood.
func Collect(percent int) {
	usual.mu.Lock()
	defer usual.mu.Unlock()
	usual.percent = percent
	debug.SetGCPercent(percent)
}

// flood begins, or goes on with a heap that may have grown, or ends.
func (c *collection) flood(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.percent == 0 {
		return
	}
	percent := c.percent
	if on {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		percent = max(percent, 100*spare/int(max(live[0].Value.Uint64(), spare/8)))
	}
	debug.SetGCPercent(percent)
}
