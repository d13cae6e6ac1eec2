package prompt

import (
	"os"

	"golang.org/x/sys/unix"
)

// DropTyped forgets what was typed on a terminal and not read yet.
func DropTyped(f *os.File) {
	unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, 1) //nolint:errcheck // it is no terminal then
}
