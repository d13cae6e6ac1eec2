package worker

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock returns a time that also runs while the machine sleeps.
func clock() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("worker: read the clock: " + err.Error()) // Linux has it since 2.6.39
	}
	return time.Duration(now.Nano())
}
