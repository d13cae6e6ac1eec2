package rawio

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func call(number, fd uintptr, p []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// Echoes reports whether a tty echoes input and delivers it by line (ECHO and ICANON).
func Echoes(fd uintptr) bool {
	var t syscall.Termios
	_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, fd, syscall.TCGETS, uintptr(unsafe.Pointer(&t)))
	return errno == 0 && t.Lflag&syscall.ECHO != 0 && t.Lflag&syscall.ICANON != 0
}

// Wait waits at most d until there is something to read. d must be short, as Go's scheduler
// does not know of the wait. It returns false also if the other side has hung up.
func Wait(fd uintptr, d time.Duration) bool {
	p := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	t := unix.NsecToTimespec(int64(d))
	n, _, errno := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
	return errno == 0 && n == 1 && p.Revents == unix.POLLIN
}

// empty reports whether a tty has nothing to read. It is false for a tty that was hung up, and
// for what is not a tty.
func empty(fd uintptr) bool {
	var n int32
	_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, fd, syscall.TIOCINQ, uintptr(unsafe.Pointer(&n)))
	return errno == 0 && n == 0
}
