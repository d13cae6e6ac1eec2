//go:build !linux

package journal

import "golang.org/x/sys/unix"

// sendfile: elsewhere it is for sockets only.
func sendfile(uintptr, int, int) (int, error) { return 0, unix.ENOSYS }

func rewind(int, int) error { return unix.ENOSYS }
