package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"tandemux/internal/memtrim"
)

// tuning is how the Go runtime is set for one of our processes. What the user
// sets in the environment (GOMAXPROCS, GOGC, GOMEMLIMIT) stays.
//
// More processors than a process can use cost more than they give: each time a
// goroutine wakes another, the runtime wakes a thread to look for work, and on
// the way of a key or of a flood that happens at every step. One is too few where
// keys pass: a key then waits for the collector (docs/contributing/performance.md).
type tuning struct {
	procs   int
	percent int   // GOGC
	limit   int64 // GOMEMLIMIT: above it memory is collected and given back
}

// interfaceTuning is the TUI's: one connection, one screen.
func interfaceTuning() tuning { return tuning{procs: 2, percent: 50, limit: 64 << 20} }

// hostTuning leaves half of a large machine to those who print and those who look.
func hostTuning() tuning {
	return tuning{procs: min(max(runtime.NumCPU()/2, 2), 4), percent: 75, limit: 512 << 20}
}

// apply sets the runtime of this process, once.
func (t tuning) apply() {
	memtrim.Idle()
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(t.procs)
	}
	if os.Getenv("GOGC") == "" {
		// While it starts, nothing is garbage: to look for some takes a seventh of that time.
		memtrim.Collect(200)
		time.AfterFunc(time.Second, func() { memtrim.Collect(t.percent) })
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(t.limit)
	}
}
