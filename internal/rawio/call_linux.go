package rawio

import (
	"syscall"
	"unsafe"
)

func call(number, fd uintptr, p []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// Echoes reports whether a tty shows what is typed and hands it on in lines.
func Echoes(fd uintptr) bool {
	var t syscall.Termios
	_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, fd, syscall.TCGETS, uintptr(unsafe.Pointer(&t)))
	return errno == 0 && t.Lflag&syscall.ECHO != 0 && t.Lflag&syscall.ICANON != 0
}

// empty reports whether a tty has nothing to read. It is false for a tty that was
// hung up and for anything that is not a tty.
func empty(fd uintptr) bool {
	var n int32
	_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, fd, syscall.TIOCINQ, uintptr(unsafe.Pointer(&n)))
	return errno == 0 && n == 0
}
