package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped forgets what was typed on a terminal and not read yet.
func dropTyped(f *os.File) {
	unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) //nolint:errcheck // it is no terminal then
}
