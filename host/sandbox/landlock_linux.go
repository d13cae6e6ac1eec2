package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// rules is the kernel's struct landlock_ruleset_attr: the handled accesses to files and to the
// network, and the scopes.
type rules [3]uint64

// Landlock's scopes (ABI 6, Linux 6.12).
const (
	scopeSockets = 1 << 0 // no abstract sockets of others
	scopeSignals = 1 << 1 // no signals to others
	scopesABI    = 6
)

// scopes reports whether the kernel has Landlock's scopes.
func scopes() bool {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1)
	return errno == 0 && int(abi) >= scopesABI
}

// scope cuts the thread, and the program it executes, off from abstract sockets of others, which a
// shared network namespace would show, and from signalling others. It returns ENOSYS if the kernel
// can't do that.
func scope() error {
	if !scopes() {
		return unix.ENOSYS
	}
	r := rules{2: scopeSockets | scopeSignals}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, address(&r), 24, 0)
	if errno != 0 {
		return fmt.Errorf("restrict it: %w", errno)
	}
	defer unix.Close(int(fd))
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("restrict it: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("restrict it: %w", errno)
	}
	return nil
}
