package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"tandemux/internal/memtrim"
)

// tune sets the Go runtime for one of our processes, once: GOMAXPROCS, GOGC, and GOMEMLIMIT,
// above which memory is collected and given back. What the user sets in the environment stays.
//
// More processors than a process can use cost more than they give: each time a
// goroutine wakes another, the runtime wakes a thread to look for work, and on
// the way of a key or of a flood that happens at every step. One is too few where
// keys pass: a key then waits for the collector (docs/contributing/performance.md).
func tune(procs, percent int, limit int64) {
	memtrim.Idle()
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(procs)
	}
	if os.Getenv("GOGC") == "" {
		memtrim.Collect(percent)
		// While it starts, nothing is garbage: to look for some takes a seventh of that time.
		debug.SetGCPercent(200)
		time.AfterFunc(time.Second, func() { memtrim.Collect(percent) })
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}
