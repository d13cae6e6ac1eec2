package worker

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock returns a time that also runs while the machine sleeps, as CLOCK_MONOTONIC does on macOS.
func clock() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic("worker: read the clock: " + err.Error()) // macOS has it since 10.12
	}
	return time.Duration(now.Nano())
}
