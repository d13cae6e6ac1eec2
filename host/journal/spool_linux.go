package journal

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// sendfile writes n bytes of a file from its position on to a non-blocking tty,
// and moves the position by what that takes.
func sendfile(to uintptr, from, n int) (int, error) {
	sent, _, errno := syscall.RawSyscall6(unix.SYS_SENDFILE, to, uintptr(from), 0, uintptr(n), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(sent), nil
}

// rewind sets a file's position.
func rewind(fd, to int) error {
	if _, _, errno := syscall.RawSyscall(unix.SYS_LSEEK, uintptr(fd), uintptr(to), unix.SEEK_SET); errno != 0 {
		return errno
	}
	return nil
}
