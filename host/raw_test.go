package host_test

import "golang.org/x/sys/unix"

func termios(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, getTermios) }

// setRaw turns the echo off, so that what is typed is not among what is printed.
func setRaw(fd int, tio *unix.Termios) error {
	tio.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, setTermios, tio)
}
