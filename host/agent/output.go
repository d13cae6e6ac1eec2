package agent

import (
	"cmp"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// LastWords is how long more output is waited for after a program has ended: another
// process may hold the pipe open for ever.
const LastWords = 500 * time.Millisecond

// maxLate is more than a pipe holds.
const maxLate = 1 << 20

// Output is the read end of a program's stdout or stderr. What the program said before it
// ended is read however late its reader comes to it.
type Output struct {
	f    *os.File
	late int // bytes that were read after the time was over
}

// NewOutput reads a pipe.
func NewOutput(f *os.File) *Output { return &Output{f: f} }

// Ended says that the program has. It may be called beside Read.
func (o *Output) Ended() {
	o.f.SetReadDeadline(time.Now().Add(LastWords)) //nolint:errcheck // a pipe has one
}

// Close closes the pipe.
func (o *Output) Close() error { return o.f.Close() }

func (o *Output) Read(b []byte) (n int, err error) {
	if o.late == 0 {
		if n, err = o.f.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		o.f.SetReadDeadline(time.Time{}) //nolint:errcheck // as above
	}
	raw, err := o.f.SyscallConn()
	if err == nil {
		err = raw.Read(func(fd uintptr) bool { // what is there, and waits for nothing
			n, _ = syscall.Read(int(fd), b) //nolint:errcheck // then there is nothing
			return true
		})
	}
	if n = max(n, 0); err != nil || n == 0 || o.late > maxLate {
		return 0, cmp.Or(err, io.EOF)
	}
	o.late += n
	return n, nil
}
