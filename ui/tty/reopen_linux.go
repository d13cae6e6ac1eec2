package tty

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/internal/rawio"
)

// polled is a terminal opened anew, so that it can be non-blocking without
// being so for the shell, which shares the file that it gave us. Go's poller
// then wakes the reading goroutine without a thread of its own for it: that
// takes two thread switches off the way of a key.
type polled struct {
	rawio.File
	now *rawio.Conn
}

func (p *polled) Read(b []byte) (int, error) { return p.now.Read(b) }

// Write is io.Writer's. A frame that the terminal takes at once, as nearly all
// are, needs no help of the scheduler.
func (p *polled) Write(b []byte) (int, error) {
	n, err := p.now.Write(b)
	if err != nil || n == len(b) {
		return n, err
	}
	m, err := p.File.Write(b[n:])
	return n + m, err
}

// tryWrite writes what the terminal takes at once.
func (p *polled) tryWrite(b []byte) int {
	n, _ := p.now.Write(b)
	return n
}

// reopen opens the terminal that f is anew; nil when that can't be done.
func reopen(f *os.File) *polled {
	was, err := f.Stat()
	if err != nil {
		return nil
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return nil
	}
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	var is unix.Stat_t
	if sys, ok := was.Sys().(*syscall.Stat_t); unix.Fstat(fd, &is) != nil || !ok || is.Dev != sys.Dev || is.Ino != sys.Ino {
		unix.Close(fd)
		return nil
	}
	own, err := rawio.Open(fd)
	if err != nil {
		return nil
	}
	now, err := rawio.NewTTY(own)
	if err != nil {
		own.Close()
		return nil
	}
	return &polled{own, now}
}

// Cancel ends a Read that is under way.
func (p *polled) Cancel() bool { return p.SetReadDeadline(time.Unix(1, 0)) == nil }
