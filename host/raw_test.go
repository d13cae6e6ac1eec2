package host_test

import "golang.org/x/sys/unix"

func termios(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, getTermios) }

// setRaw turns the echo off, and the edited line, so that nothing typed is lost or printed.
func setRaw(fd int, tio *unix.Termios) error {
	tio.Lflag &^= unix.ECHO | unix.ICANON
	return unix.IoctlSetTermios(fd, setTermios, tio)
}
