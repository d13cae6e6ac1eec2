package wsrpc

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func sysRead(fd uintptr, p []byte) (int, error) { return rawCall(unix.SYS_READ, fd, p) }

func sysWrite(fd uintptr, p []byte) (int, error) { return rawCall(unix.SYS_WRITE, fd, p) }

func rawCall(number, fd uintptr, p []byte) (int, error) {
	n, _, errno := unix.RawSyscall(number, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
