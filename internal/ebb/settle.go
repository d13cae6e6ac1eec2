package ebb

import (
	"runtime/debug"
	"time"
)

// startTime is how long after Settle a process counts as started.
const startTime = time.Second

// Settle gives back what starting took, once the process has started: garbage,
// and the pages of the program that nothing needs any more; what is needed again
// comes from the page cache. It returns at once.
func Settle() {
	time.AfterFunc(startTime, func() {
		debug.FreeOSMemory()
		program() //nolint:errcheck // then they stay
	})
}
