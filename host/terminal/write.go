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
	// maxInput bounds input in bytes that the child has not read; Input refuses
	// more.
	maxInput = 1 << 20
	// maxReplies is what the emulator's answers may take up beyond that; more
	// are dropped, as the child does not read them.
	maxReplies = 64 << 10
	// maxNow bounds what is written on the caller's goroutine.
	maxNow = 4 << 10
	// EnterTime is how long Enter is believed to begin a command: not all that is read does.
	EnterTime = time.Second
)

// input is the queue to the pty: what is typed and what the emulator answers,
// in order. Bytes that are typed are counted, and the landing is told which of
// them are begun to be written and which are, so that after a crash none is
// written twice.
type input struct {
	mu    sync.Mutex
	ready sync.Cond
	queue []byte // from head on
	head  int
	runs  []stretch // of the queue
	busy  int       // bytes that are being written
	over  error     // no more is taken: ErrExited, ErrClosed
	// now writes what the pty takes at once and gives its number of bytes; the caller
	// holds mu.
	now func(p []byte, typed bool) int

	raw             syscall.RawConn
	landing         *journal.Landing
	spool           *journal.Spool
	process         string
	log             *slog.Logger
	accepted, typed uint64 // of what was typed: taken, written

	line    flag        // something was typed since the last prompt
	entered flag        // Enter was typed, and neither command nor prompt came since
	changed atomic.Bool // one of the two, since the last take
	// When Enter was typed, or, once answered, when output first followed it, in Unix nanoseconds;
	// 0 if an earlier host knew.
	enteredAt atomic.Int64
	answered  atomic.Bool
}

// flag is a fact that changes without the screen.
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

// begin makes it ready.
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

// add writes data, or queues what the pty does not take at once, unless the
// queue would exceed limit. A key needs no other goroutine this way.
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

// wrote counts what was written. The caller holds mu.
func (in *input) wrote(n int, typed bool) {
	if typed {
		in.typed += uint64(n)
		in.landing.SetTyped(in.typed)
		in.landing.SetTyping(in.typed)
	}
}

// next waits for input and gives some of it, all typed or none, in buf; false at
// the end. What it gave before is done with.
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

// end takes no more input and drops what waits.
func (in *input) end(why error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.over == nil {
		in.over = why
	}
	in.ready.Broadcast()
}

// Input queues data for the child. It never blocks; ErrInputFull when the queue
// is full (nothing of data is taken then), ErrExited, ErrClosed.
func (in *input) Input(data string) error {
	if data != "\x1b[I" && data != "\x1b[O" { // Nobody types focus reports.
		// Ctrl-C drops what was typed; fish shows no new prompt then.
		in.line.set(!strings.HasSuffix(data, "\x03"))
	}
	if strings.ContainsAny(data, "\r\n") {
		in.enteredAt.Store(time.Now().UnixNano())
		in.answered.Store(false)
		in.entered.set(true)
	}
	return in.add(data, maxInput, true)
}

// Entered reports that Enter was typed and no command has begun since, nor a
// prompt been shown: one may be about to.
func (in *input) Entered() bool { return in.entered.on.Load() }

// outputCame tells that the program printed something.
func (in *input) outputCame() {
	if !in.answered.Swap(true) && in.enteredAt.Load() != 0 {
		in.enteredAt.Store(time.Now().UnixNano())
	}
}

// unread reports that the shell may have yet to read Enter, upon which it prints something.
func (in *input) unread() bool {
	at := in.enteredAt.Load()
	return in.Entered() && at != 0 && (!in.answered.Load() || time.Since(time.Unix(0, at)) < EnterTime)
}

// Waits reports that what is typed now has to wait for the program to read.
func (in *input) Waits() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.waiting()+in.busy > 0
}

// Accepted counts the bytes that were typed: the offset behind the last.
func (in *input) Accepted() uint64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.accepted
}

// Written is the offset up to which what was typed is written.
func (in *input) Written() uint64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.typed
}

// Retype queues what was typed into the terminal of an earlier host and not begun
// to be written. Only for what Restore made, before Start.
func (in *input) Retype(data string) error { return in.add(data, 2*maxInput, true) }

// write is the goroutine that writes to the pty, until the child has ended or
// Close. Writes that find the pty full wait in the poller; only this goroutine
// waits with them.
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
				// Nobody has the terminal open; what is typed into it is lost.
				in.log.Debug("write to the pty", "process", in.process, "err", err)
				in.mu.Lock()
				in.wrote(len(rest), typed)
				in.mu.Unlock()
				break
			}
		}
	}
}

// isClosed reports whether an error is only that of a pty that we have closed. Go's
// poller has an error of its own for it, which has no name.
func (in *input) isClosed(err error) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.over == ErrClosed || errors.Is(err, os.ErrClosed)
}

// writeSome waits until the pty takes some of p, and notes how much.
func (in *input) writeSome(p []byte, typed bool) (n int, err error) {
	werr := in.raw.Write(func(fd uintptr) bool {
		in.mu.Lock()
		defer in.mu.Unlock()
		n, err = in.put(fd, p, typed)
		in.wrote(n, typed)
		return n > 0 || err != nil && err != unix.EAGAIN && err != unix.EINTR
	})
	if n > 0 {
		err = nil // it comes again
	}
	return n, errors.Join(werr, err)
}

// writeNow writes what the pty takes at once. An error is left to the writer,
// which meets it again.
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

// put writes to the pty, without waiting; what is typed in such a way that a next
// host knows how much of it was taken. The caller holds in.mu.
func (in *input) put(fd uintptr, p []byte, typed bool) (n int, err error) {
	if typed {
		return in.spool.Write(in.landing, in.process, fd, in.typed, p, rawio.Write)
	}
	n, err = rawio.Write(fd, p)
	return max(n, 0), err
}
