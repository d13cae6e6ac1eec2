package host

import (
	"os"

	"golang.org/x/sys/unix"
)

// silence turns a pty's echo off, before anything is typed into it.
func silence(pty *os.File) error {
	raw, err := pty.SyscallConn()
	if err != nil {
		return err
	}
	cerr := raw.Control(func(fd uintptr) {
		var t *unix.Termios
		if t, err = unix.IoctlGetTermios(int(fd), getTermios); err == nil {
			t.Lflag &^= unix.ECHO
			err = unix.IoctlSetTermios(int(fd), setTermios, t)
		}
	})
	if cerr != nil {
		return cerr
	}
	return err
}
