package keeper

import (
	"slices"

	"golang.org/x/sys/unix"
)

// sealFiles marks every inherited descriptor but the standard three
// close-on-exec.
func sealFiles() error {
	return unix.CloseRange(3, ^uint(0)>>33, unix.CLOSE_RANGE_CLOEXEC)
}

// isStopped reports whether a process was stopped by a signal or a debugger.
func isStopped(pid int) bool {
	f := statOf(pid)
	return len(f) > 0 && slices.Contains([]string{"T", "t"}, f[0])
}
