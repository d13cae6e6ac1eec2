package rawio

import (
	"io"
	"syscall"
)

// Conn is a descriptor in Go's poller. Read and Write may run at the same time,
// each in one goroutine at a time.
type Conn struct {
	raw      syscall.RawConn
	tty      bool
	in, out  transfer
	readable func(fd uintptr) bool
	writable func(fd uintptr) bool
}

// transfer holds a call's arguments and results. It is kept, so that its closure is
// allocated once.
type transfer struct {
	p     []byte
	n     int
	err   error
	woken bool // by the poller
}

// New gives a Conn of a socket or file in the poller.
func New(c syscall.Conn) (*Conn, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	n := &Conn{raw: raw}
	n.readable = func(fd uintptr) bool {
		woken := n.in.woken
		n.in.woken = true
		if n.tty && !woken && empty(fd) {
			return false
		}
		n.in.n, n.in.err = Read(fd, n.in.p)
		return n.in.err != syscall.EAGAIN
	}
	n.writable = func(fd uintptr) bool {
		n.out.n, n.out.err = Write(fd, n.out.p)
		return true
	}
	return n, nil
}

// NewTTY gives a Conn of a terminal in the poller. Read looks whether there is
// anything before it reads.
func NewTTY(c syscall.Conn) (*Conn, error) {
	n, err := New(c)
	if err == nil {
		n.tty = true
	}
	return n, err
}

// Read waits for data in the poller; it is io.Reader's.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.in = transfer{p: p}
	err := c.raw.Read(c.readable)
	t := c.in
	c.in = transfer{}
	switch {
	case err != nil:
		return 0, err
	case t.err != nil:
		return 0, t.err
	case t.n == 0:
		return 0, io.EOF
	}
	return t.n, nil
}

// Write writes as much as fits without waiting. If nothing does, n is 0 and err is
// nil.
func (c *Conn) Write(p []byte) (n int, err error) {
	c.out = transfer{p: p}
	err = c.raw.Write(c.writable)
	t := c.out
	c.out = transfer{}
	switch {
	case err != nil:
		return 0, err
	case t.err == syscall.EAGAIN:
		return 0, nil
	}
	return t.n, t.err
}

// Read reads from a non-blocking descriptor; EAGAIN means that there is no data.
func Read(fd uintptr, p []byte) (int, error) { return again(syscall.SYS_READ, fd, p) }

// Write writes to a non-blocking descriptor; EAGAIN means that there is no room.
func Write(fd uintptr, p []byte) (int, error) { return again(syscall.SYS_WRITE, fd, p) }

// again repeats a call that a signal interrupts.
func again(number, fd uintptr, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, err := call(number, fd, p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
