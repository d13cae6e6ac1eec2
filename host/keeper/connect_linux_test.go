package keeper

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// connectAs connects fd with another effective uid. The thread is thrown away
// afterwards, as its credentials are no longer the process's.
func connectAs(fd, uid int, socket string) error {
	runtime.LockOSThread() // and never unlocked
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
		return errno
	}
	return unix.Connect(fd, &unix.SockaddrUnix{Name: socket})
}
