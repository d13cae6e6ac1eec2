package keeper

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// openPty makes a pty. Both descriptors are close-on-exec and stay out of Go's
// poller: a registered master would wake the keeper for every byte that a
// child writes, and the poller's O_NONBLOCK on the slave would break programs.
func openPty() (master, slave int, err error) {
	master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	defer func() {
		if err != nil {
			unix.Close(master)
		}
	}()
	if err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, -1, fmt.Errorf("unlock pty: %w", err)
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return -1, -1, fmt.Errorf("find the pty's number: %w", err)
	}
	name := fmt.Sprintf("/dev/pts/%d", n)
	slave, err = unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("open %s: %w", name, err)
	}
	return master, slave, nil
}

// sealFiles marks every inherited descriptor but the standard three
// close-on-exec.
func sealFiles() error {
	return unix.CloseRange(3, ^uint(0)>>33, unix.CLOSE_RANGE_CLOEXEC)
}
