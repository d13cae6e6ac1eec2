package keeper

import (
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// openPty makes a pty. Both descriptors are close-on-exec and stay out of Go's
// poller, for the reasons given in pty_linux.go.
func openPty() (master, slave int, err error) {
	m, s, err := pty.Open()
	if err != nil {
		return -1, -1, fmt.Errorf("open a pty: %w", err)
	}
	defer m.Close()
	defer s.Close()
	if master, err = duplicate(m); err != nil {
		return -1, -1, err
	}
	if slave, err = duplicate(s); err != nil {
		unix.Close(master)
		return -1, -1, err
	}
	return master, slave, nil
}

func duplicate(f *os.File) (int, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd, derr := -1, error(nil)
	if err := raw.Control(func(old uintptr) {
		fd, derr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 3)
	}); err != nil {
		return -1, err
	}
	if derr != nil {
		return -1, fmt.Errorf("duplicate a pty descriptor: %w", derr)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// sealFiles marks every inherited descriptor but the standard three
// close-on-exec.
func sealFiles() error {
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}
