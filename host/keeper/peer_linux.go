package keeper

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// peerUID is the uid of the process at the other end of a unix socket.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}

// peerPID is the process at the other end of a unix socket, 0 when it is not known.
func peerPID(fd int) int {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0
	}
	return int(cred.Pid)
}

// isStopped reports whether a process was stopped by a signal or a debugger.
func isStopped(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(f) > 0 && (f[0][0] == 'T' || f[0][0] == 't')
}
