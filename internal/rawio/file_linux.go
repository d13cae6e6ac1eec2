package rawio

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// descriptor is a File whose Read waits for input only (see the package's documentation). The
// descriptor is not in Go's poller. In the poller are two epoll instances, one for input and one
// for room, each of which becomes readable when the descriptor is ready.
type descriptor struct {
	fd    int
	state atomic.Int64 // number of present uses of fd, and closed
	in    *waiter

	mu  sync.Mutex // guards out
	out *waiter    // waits for room; nil until a write had to wait
	due time.Time  // the deadline of writes
}

// closed is a bit of descriptor.state.
const closed = 1 << 32

// waiter waits for one descriptor to have input, or to have room.
type waiter struct {
	*os.File // the epoll instance
	raw      syscall.RawConn
	d        *descriptor
	try      func(fd uintptr) bool // what to try when the descriptor is ready
	step     func(uintptr) bool    // calls try
	err      error
	deaf     bool // the epoll instance does not watch the descriptor, see WaitAlone
}

// inputEdges are the events for input, edge-triggered like those of Go's poller.
const inputEdges = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET

// Open makes a File of a non-blocking descriptor, which it owns from then on, also if it fails.
// The descriptor must not be used in any other way.
func Open(fd int) (File, error) {
	d := &descriptor{fd: fd}
	var err error
	if d.in, err = d.waiter(); err == nil {
		err = d.in.interest(unix.EPOLL_CTL_ADD, inputEdges)
	}
	if err != nil {
		if d.in != nil {
			d.in.Close()
		}
		unix.Close(fd)
		return nil, os.NewSyscallError("epoll", err)
	}
	return d, nil
}

// take makes a File of a socket in Go's poller, and closes that.
func take(c *net.UnixConn) (File, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	if cerr := raw.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 3) }); cerr != nil || err != nil {
		return nil, errors.Join(cerr, err)
	}
	f, err := Open(fd)
	if err == nil {
		c.Close()
	}
	return f, err
}

func (d *descriptor) waiter() (*waiter, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(ep, true); err != nil {
		unix.Close(ep)
		return nil, err
	}
	w := &waiter{File: os.NewFile(uintptr(ep), "epoll"), d: d}
	w.step = func(uintptr) (done bool) {
		if done, w.err = w.d.use(w.try); !done && w.err == nil && w.deaf {
			w.deaf, w.err = false, w.interest(unix.EPOLL_CTL_ADD, inputEdges) // ADD reports input that is there already, MOD would not
		}
		return done || w.err != nil
	}
	if w.raw, err = w.SyscallConn(); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// interest changes the events that the epoll instance watches for.
func (w *waiter) interest(op int, events uint32) error {
	var err error
	if w.raw.Control(func(ep uintptr) {
		err = unix.EpollCtl(int(ep), op, w.d.fd, &unix.EpollEvent{Events: events, Fd: int32(w.d.fd)})
	}) != nil {
		return os.ErrClosed // not the poller's own error
	}
	return err
}

// WaitAlone is Wait for one caller at a time, so that a processor stays free for others; for
// another caller it returns false at once. Call it within c's Read. Input would also wake a
// thread that sleeps in Go's poller, for nothing. So the poller is not told of input to a File
// until its Read has to wait.
func WaitAlone(c syscall.RawConn, fd uintptr, d time.Duration) bool {
	if waits.Swap(true) {
		return false
	}
	defer waits.Store(false)
	came := Wait(fd, d)
	if r, is := c.(rawDescriptor); is && came && !r.d.in.deaf {
		r.d.in.deaf = r.d.in.interest(unix.EPOLL_CTL_DEL, 0) == nil
	}
	return came
}

// waits says that a goroutine is in WaitAlone.
var waits atomic.Bool

// wait calls try, whenever the descriptor is ready, until it returns true.
func (w *waiter) wait(try func(fd uintptr) bool) error {
	w.try, w.err = try, nil
	err := w.raw.Read(w.step)
	w.try = nil
	if err != nil && w.d.state.Load()&closed != 0 {
		err = os.ErrClosed
	}
	if err == nil {
		err = w.err
	}
	return err
}

// use calls f with the descriptor, which stays open meanwhile.
func (d *descriptor) use(f func(fd uintptr) bool) (done bool, err error) {
	for {
		s := d.state.Load()
		if s&closed != 0 {
			return false, os.ErrClosed
		}
		if d.state.CompareAndSwap(s, s+1) {
			break
		}
	}
	defer d.leave()
	return f(uintptr(d.fd)), nil
}

func (d *descriptor) leave() {
	if d.state.Add(-1) == closed {
		unix.Close(d.fd)
	}
}

func (d *descriptor) Close() error {
	s := d.state.Or(closed)
	if s&closed != 0 {
		return os.ErrClosed
	}
	d.in.Close()
	d.mu.Lock()
	if d.out != nil {
		d.out.Close()
	}
	d.mu.Unlock()
	if s == 0 {
		return unix.Close(d.fd)
	}
	return nil
}

func (d *descriptor) SetReadDeadline(t time.Time) error { return d.in.SetReadDeadline(t) }

func (d *descriptor) SetWriteDeadline(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.due = t
	if d.out == nil {
		return nil
	}
	return d.out.SetReadDeadline(t) // the epoll instance becomes readable when there is room
}

func (d *descriptor) SyscallConn() (syscall.RawConn, error) { return rawDescriptor{d}, nil }

// rawDescriptor is the descriptor as a syscall.RawConn. One goroutine at a time may call Read,
// and one Write.
type rawDescriptor struct{ d *descriptor }

func (r rawDescriptor) Control(f func(fd uintptr)) error {
	_, err := r.d.use(func(fd uintptr) bool { f(fd); return true })
	return err
}

func (r rawDescriptor) Read(f func(fd uintptr) bool) error { return r.d.in.wait(f) }

func (r rawDescriptor) Write(f func(fd uintptr) bool) error {
	if done, err := r.d.use(f); done || err != nil {
		return err
	}
	out, err := r.d.writer()
	if err != nil {
		return err
	}
	if err := out.interest(unix.EPOLL_CTL_ADD, unix.EPOLLOUT); err != nil {
		return err
	}
	defer out.interest(unix.EPOLL_CTL_DEL, 0) //nolint:errcheck // fails only when closed
	return out.wait(f)
}

// writer is the waiter for room to write.
func (d *descriptor) writer() (*waiter, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.out == nil && d.state.Load()&closed == 0 {
		w, err := d.waiter()
		if err != nil {
			return nil, err
		}
		d.out = w
		return w, w.SetReadDeadline(d.due)
	}
	if d.out == nil {
		return nil, os.ErrClosed
	}
	return d.out, nil
}

func (d *descriptor) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	werr := rawDescriptor{d}.Read(func(fd uintptr) bool {
		n, err = Read(fd, p)
		return err != unix.EAGAIN
	})
	switch {
	case werr != nil:
		return 0, werr
	case err == nil && n == 0:
		return 0, io.EOF
	}
	return n, err
}

func (d *descriptor) Write(p []byte) (n int, err error) {
	m, err := d.writeBuffers([][]byte{p})
	return int(m), err
}

func (d *descriptor) writeBuffers(bufs [][]byte) (total int64, err error) {
	var iov [2]unix.Iovec
	for {
		var v []unix.Iovec
		for _, b := range bufs {
			if len(b) > 0 && len(v) < len(iov) {
				v = append(iov[:len(v)], unix.Iovec{Base: &b[0]})
				v[len(v)-1].SetLen(len(b))
			}
		}
		if len(v) == 0 {
			return total, nil
		}
		n, errno := 0, syscall.Errno(0)
		werr := rawDescriptor{d}.Write(func(fd uintptr) bool {
			for {
				var m uintptr
				if m, _, errno = syscall.RawSyscall(unix.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&v[0])), uintptr(len(v))); errno != syscall.EINTR {
					n = int(m)
					return errno != syscall.EAGAIN
				}
			}
		})
		switch {
		case werr != nil:
			return total, werr
		case errno != 0:
			return total, errno
		}
		total += int64(n)
		for len(bufs) > 0 && n >= len(bufs[0]) {
			n -= len(bufs[0])
			bufs = bufs[1:]
		}
		if n > 0 {
			bufs = append([][]byte{bufs[0][n:]}, bufs[1:]...)
		}
	}
}
