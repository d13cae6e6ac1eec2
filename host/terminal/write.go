package terminal

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/host/journal"
	"tandemux/internal/rawio"
)

const (
	// maxInput bounds the queued input, in bytes; Input refuses more.
	maxInput = 1 << 20
	// maxReplies is how many bytes the emulator's replies may take beyond that. More are
	// dropped, as the child does not read them.
	maxReplies = 64 << 10
	// maxNow bounds the bytes that are written on the caller's goroutine.
	maxNow = 4 << 10
	// EnterTime is how long Enter is taken to begin a command, as not every Enter does.
	EnterTime = time.Second
)

// input is the queue to the pty: typed input and the emulator's replies, in order. Typed
// bytes are counted. The landing notes up to which byte writing has begun and up to which
// it is done, so that none is written twice after a crash.
type input struct {
	mu    sync.Mutex
	ready sync.Cond
	queue []byte // queue[head:] waits
	head  int
	runs  []stretch // the queue's parts
	busy  int       // bytes that are being written
	over  error     // why no more is accepted: ErrExited, ErrClosed
	// now writes what the pty takes at once and returns its number of bytes. The caller
	// holds mu.
	now func(p []byte, typed bool) int

	raw             syscall.RawConn
	landing         *journal.Landing
	spool           *journal.Spool
	process         string
	log             *slog.Logger
	accepted, typed uint64 // typed bytes that were accepted, and that were written

	line    flag        // something was typed since the last prompt
	entered flag        // Enter was typed, and neither a command began nor a prompt showed since
	changed atomic.Bool // line or entered has changed since the last Take
	// enteredAt is when Enter was typed or, once answered is set, when the first output
	// followed it, in Unix nanoseconds; 0 if Enter was typed into an earlier host.
	enteredAt atomic.Int64
	answered  atomic.Bool
}

// flag is a fact that changes without screen locked.
type flag struct {
	on      atomic.Bool
	changed *atomic.Bool
}

// set sets it and reports what it was.
func (f *flag) set(on bool) (was bool) {
	if was = f.on.Swap(on); was != on {
		f.changed.Store(true)
	}
	return was
}

// begin prepares the queue.
func (in *input) begin(c Config, raw syscall.RawConn, l *journal.Landing) {
	begun, _ := l.Typed()
	in.raw, in.landing, in.accepted, in.typed = raw, l, begun, begun
	l.SetTyped(begun)
	in.spool, in.process = c.Spool, c.Process.ID
}

// stretch is a part of the queue.
type stretch struct {
	n     int
	typed bool
}

func (in *input) waiting() int { return len(in.queue) - in.head }

// add writes data, so that a key needs no other goroutine, and queues what the pty does not
// take at once. It refuses data if the queue would exceed limit bytes.
func (in *input) add(data string, limit int, typed bool) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.over != nil:
		return in.over
	case in.waiting()+in.busy+len(data) > limit:
		return ErrInputFull
	}
	if typed {
		in.accepted += uint64(len(data))
	}
	n := 0
	if in.waiting()+in.busy == 0 && in.now != nil && len(data) <= maxNow {
		n = in.now([]byte(data), typed)
		in.wrote(n, typed)
	}
	if n < len(data) {
		in.queue = append(in.queue, data[n:]...)
		if last := len(in.runs) - 1; last >= 0 && in.runs[last].typed == typed {
			in.runs[last].n += len(data) - n
		} else {
			in.runs = append(in.runs, stretch{len(data) - n, typed})
		}
		in.ready.Signal()
	}
	return nil
}

// wrote counts n written bytes. The caller holds mu.
func (in *input) wrote(n int, typed bool) {
	if typed {
		in.typed += uint64(n)
		in.landing.SetTyped(in.typed)
		in.landing.SetTyping(in.typed)
	}
}

// next waits for queued input and returns some of it in buf, and whether it is typed. The
// last result is false at the end. The bytes that it returned before count as written.
func (in *input) next(buf []byte) ([]byte, bool, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.busy = 0
	for in.waiting() == 0 && in.over == nil {
		in.ready.Wait()
	}
	if in.over != nil {
		in.queue, in.head, in.runs = nil, 0, nil
		return nil, false, false
	}
	r := &in.runs[0]
	out := stretch{min(r.n, maxNow), r.typed}
	buf = append(buf[:0], in.queue[in.head:in.head+out.n]...)
	if r.n -= out.n; r.n == 0 {
		in.runs = in.runs[1:]
	}
	if in.head += out.n; in.head == len(in.queue) {
		in.queue, in.head = in.queue[:0], 0
		if cap(in.queue) > chunk {
			in.queue = nil
		}
	}
	in.busy = out.n
	return buf, out.typed, true
}

// end refuses further input and drops what waits.
func (in *input) end(why error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.over == nil {
		in.over = why
	}
	in.ready.Broadcast()
}

// Input queues typed data for the child. It never blocks. It returns ErrInputFull when the
// queue has no room for all of data (it then takes nothing), ErrExited or ErrClosed.
func (in *input) Input(data string) error {
	if data != "\x1b[I" && data != "\x1b[O" { // focus reports are not typed
		// Ctrl-C drops the typed line; fish shows no new prompt after it.
		in.line.set(!strings.HasSuffix(data, "\x03"))
	}
	if strings.ContainsAny(data, "\r\n") {
		in.enteredAt.Store(time.Now().UnixNano())
		in.answered.Store(false)
		in.entered.set(true)
	}
	return in.add(data, maxInput, true)
}

// Entered reports whether Enter was typed, and since then neither a command has begun nor a
// prompt was shown. One of them may be about to.
func (in *input) Entered() bool { return in.entered.on.Load() }

// outputCame notes that the program has printed something.
func (in *input) outputCame() {
	if !in.answered.Swap(true) && in.enteredAt.Load() != 0 {
		in.enteredAt.Store(time.Now().UnixNano())
	}
}

// unread reports whether the shell may not have read Enter yet: it prints something when it
// has.
func (in *input) unread() bool {
	at := in.enteredAt.Load()
	return in.Entered() && at != 0 && (!in.answered.Load() || time.Since(time.Unix(0, at)) < EnterTime)
}

// Waits reports whether input typed now has to wait until the program reads.
func (in *input) Waits() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.waiting()+in.busy > 0
}

// Accepted counts the typed bytes that were accepted.
func (in *input) Accepted() uint64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.accepted
}

// Written counts the typed bytes that are written.
func (in *input) Written() uint64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.typed
}

// Retype queues input that was typed into the terminal in an earlier host and whose writing
// had not begun. It is called between Restore and Start.
func (in *input) Retype(data string) error { return in.add(data, 2*maxInput, true) }

// write is the writer goroutine: it writes to the pty until the child has ended or Close.
// Only this goroutine waits, in Go's poller, while the pty is full.
func (in *input) write() {
	var b []byte
	for {
		var typed, ok bool
		if b, typed, ok = in.next(b); !ok {
			return
		}
		for rest := b; len(rest) > 0; {
			n, err := in.writeSome(rest, typed)
			rest = rest[n:]
			if err != nil {
				if in.isClosed(err) {
					return
				}
				// No process has the terminal open; what is typed into it is lost.
				in.log.Debug("write to the pty", "process", in.process, "err", err)
				in.mu.Lock()
				in.wrote(len(rest), typed)
				in.mu.Unlock()
				break
			}
		}
	}
}

// isClosed reports whether an error comes from our own closing of the pty. Go's poller has
// an unexported error for that.
func (in *input) isClosed(err error) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.over == ErrClosed || errors.Is(err, os.ErrClosed)
}

// writeSome waits until the pty takes some of p, and counts it.
func (in *input) writeSome(p []byte, typed bool) (n int, err error) {
	werr := in.raw.Write(func(fd uintptr) bool {
		in.mu.Lock()
		defer in.mu.Unlock()
		n, err = in.put(fd, p, typed)
		in.wrote(n, typed)
		return n > 0 || err != nil && err != unix.EAGAIN && err != unix.EINTR
	})
	if n > 0 {
		err = nil // the next write meets it again
	}
	return n, errors.Join(werr, err)
}

// writeNow writes what the pty takes at once. It ignores an error, which the writer goroutine
// meets again.
func (in *input) writeNow(p []byte, typed bool) (n int) {
	err := in.raw.Write(func(fd uintptr) bool {
		n, _ = in.put(fd, p, typed)
		return true
	})
	if err != nil {
		return 0
	}
	return n
}

// put writes to the pty without waiting. Typed input goes through Config.Spool, so that a
// next host knows how much of it was written. The caller holds in.mu.
func (in *input) put(fd uintptr, p []byte, typed bool) (n int, err error) {
	if typed {
		return in.spool.Write(in.landing, in.process, fd, in.typed, p, rawio.Write)
	}
	n, err = rawio.Write(fd, p)
	return max(n, 0), err
}
