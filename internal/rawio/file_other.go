//go:build !linux

package rawio

import (
	"errors"
	"net"
	"os"
)

// Open makes a File of a non-blocking descriptor, which it owns from then on.
func Open(fd int) (File, error) { return os.NewFile(uintptr(fd), "descriptor"), nil }

func take(*net.UnixConn) (File, error) { return nil, errors.ErrUnsupported }
