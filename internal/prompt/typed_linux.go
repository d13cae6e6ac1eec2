package prompt

import (
	"os"

	"golang.org/x/sys/unix"
)

// DropTyped forgets what was typed on a terminal and not read yet.
func DropTyped(f *os.File) {
	unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) //nolint:errcheck // it is no terminal then
}
