//go:build !linux

package rawio

import (
	"syscall"
	"time"

	"github.com/charmbracelet/x/termios"
)

// call makes a system call through the C library, as systems other than Linux do.
func call(number, fd uintptr, p []byte) (int, error) {
	if number == syscall.SYS_READ {
		return syscall.Read(int(fd), p)
	}
	return syscall.Write(int(fd), p)
}

// Wait returns false at once.
func Wait(uintptr, time.Duration) bool { return false }

// WaitAlone returns false at once.
func WaitAlone(syscall.RawConn, uintptr, time.Duration) bool { return false }

func empty(uintptr) bool { return false }

// Echoes reports whether a tty echoes input and delivers it by line (ECHO and ICANON).
func Echoes(fd uintptr) bool {
	t, err := termios.GetTermios(int(fd))
	return err == nil && t.Lflag&syscall.ECHO != 0 && t.Lflag&syscall.ICANON != 0
}
