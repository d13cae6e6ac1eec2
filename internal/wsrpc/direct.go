package wsrpc

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// direct reads and writes a socket by non-blocking system calls that the
// scheduler is not told of. They never wait, so it has nothing to do; being told
// wakes its monitor thread after each pause, just when a key is on its way.
type direct struct {
	raw syscall.RawConn

	// Arguments and results of the two functions, which are made once.
	in, out       []byte
	nin, nout     int
	errin, errout error
	reader        func(fd uintptr) bool
	writer        func(fd uintptr) bool
}

// newDirect gives nil for what is not a socket itself, as under TLS.
func newDirect(conn net.Conn) *direct {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	d := &direct{raw: raw}
	d.reader = func(fd uintptr) bool {
		d.nin, d.errin = again(fd, d.in, sysRead)
		return d.errin != syscall.EAGAIN
	}
	d.writer = func(fd uintptr) bool {
		d.nout, d.errout = again(fd, d.out, sysWrite)
		return true
	}
	return d
}

// again does a system call until no signal interrupts it.
func again(fd uintptr, p []byte, call func(uintptr, []byte) (int, error)) (int, error) {
	for {
		if n, err := call(fd, p); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// read waits for data in the poller, as net.Conn's does.
func (d *direct) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	d.in = p
	err := d.raw.Read(d.reader)
	d.in = nil
	if err == nil {
		if err = d.errin; err != nil {
			err = os.NewSyscallError("read", err)
		}
	}
	if err == nil && d.nin == 0 {
		err = io.EOF
	}
	if err != nil {
		return 0, err
	}
	return d.nin, nil
}

// write writes what the socket takes at once, which may be nothing.
func (d *direct) write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	d.out = p
	err := d.raw.Write(d.writer)
	d.out = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(d.errout, syscall.EAGAIN):
		return 0, nil
	case d.errout != nil:
		return 0, os.NewSyscallError("write", d.errout)
	}
	return d.nout, nil
}
