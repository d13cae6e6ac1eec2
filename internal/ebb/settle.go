package ebb

import (
	"runtime/debug"
	"time"
)

// startTime is how long after Settle a process counts as started.
const startTime = time.Second

// Settle gives back what starting took, once the process has started. It returns
// at once.
func Settle() { time.AfterFunc(startTime, giveBack) }

// giveBack collects garbage, returns freed memory, and unmaps the pages of the
// program: what is needed again comes from the page cache.
func giveBack() {
	debug.FreeOSMemory()
	program() //nolint:errcheck // then they stay
}
