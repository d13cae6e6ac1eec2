package keeper

import (
	"slices"
)

// isStopped reports whether a process was stopped by a signal or a debugger.
func isStopped(pid int) bool {
	f := statOf(pid)
	return len(f) > 0 && slices.Contains([]string{"T", "t"}, f[0])
}
