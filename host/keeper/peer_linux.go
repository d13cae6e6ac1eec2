package keeper

import (
	"slices"

	"golang.org/x/sys/unix"
)

// peerOf is the process at the other end of a unix socket.
func peerOf(fd int) (uid, pid int, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, 0, err
	}
	return int(cred.Uid), int(cred.Pid), nil
}

// isStopped reports whether a process was stopped by a signal or a debugger.
func isStopped(pid int) bool {
	f := statOf(pid)
	return len(f) > 0 && slices.Contains([]string{"T", "t"}, f[0])
}
