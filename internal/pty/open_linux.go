package pty

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// The requests for a terminal's modes.
const getMode, setMode = unix.TCGETS, unix.TCSETS

// unlock lets a terminal be used, and gives the name of its other side.
func unlock(master int) (string, error) {
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return "", err
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	return fmt.Sprintf("/dev/pts/%d", n), err
}
