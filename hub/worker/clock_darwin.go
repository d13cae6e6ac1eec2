package worker

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock counts also while the machine sleeps: CLOCK_MONOTONIC does so here.
func clock() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic("worker: read the clock: " + err.Error()) // it is there since macOS 10.12
	}
	return time.Duration(now.Nano())
}
