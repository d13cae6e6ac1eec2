package agent

import (
	"cmp"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// LastWords is how long output is read after a program has ended: another process may keep the pipe
// open forever.
const LastWords = 500 * time.Millisecond

// maxLate is more than a pipe holds, in bytes.
const maxLate = 1 << 20

// Output is the read end of a program's stdout or stderr. It returns what the program wrote before it
// ended, even if it is read much later.
type Output struct {
	f    *os.File
	late int // bytes that were read after LastWords
}

// NewOutput returns an Output of a pipe's read end.
func NewOutput(f *os.File) *Output { return &Output{f: f} }

// Ended says that the program has ended. It may be called while Read runs.
func (o *Output) Ended() {
	o.f.SetReadDeadline(time.Now().Add(LastWords)) //nolint:errcheck // pipes have deadlines
}

// Close closes the pipe.
func (o *Output) Close() error { return o.f.Close() }

func (o *Output) Read(b []byte) (n int, err error) {
	if o.late == 0 {
		if n, err = o.f.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		o.f.SetReadDeadline(time.Time{}) //nolint:errcheck // pipes have deadlines
	}
	raw, err := o.f.SyscallConn()
	if err == nil {
		err = raw.Read(func(fd uintptr) bool { // read what is there without waiting
			n, _ = syscall.Read(int(fd), b) //nolint:errcheck // then there is nothing
			return true
		}) // then there is nothing
	}
	if n = max(n, 0); err != nil || n == 0 || o.late > maxLate {
		return 0, cmp.Or(err, io.EOF)
	}
	o.late += n
	return n, nil
}
