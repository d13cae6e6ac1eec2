//go:build !linux

package wsrpc

import "golang.org/x/sys/unix"

func sysRead(fd uintptr, p []byte) (int, error) { return unix.Read(int(fd), p) }

func sysWrite(fd uintptr, p []byte) (int, error) { return unix.Write(int(fd), p) }
