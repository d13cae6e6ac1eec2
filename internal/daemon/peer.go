package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// SameUser refuses a peer of a unix socket that runs as another user.
func SameUser(conn *net.UnixConn) error {
	uid, _, err := Peer(conn)
	if err != nil {
		return fmt.Errorf("read the peer's uid: %w", err)
	}
	if me := os.Getuid(); uid != me {
		return fmt.Errorf("peer runs as uid %d, not as %d: %w", uid, me, syscall.EPERM)
	}
	return nil
}

// Peer is the process at the other end; its pid is 0 when it is not known.
func Peer(conn *net.UnixConn) (uid, pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, 0, err
	}
	failed := raw.Control(func(fd uintptr) { uid, pid, err = peerOf(int(fd)) })
	return uid, pid, errors.Join(failed, err)
}
