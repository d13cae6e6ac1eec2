package terminal

import (
	"strings"
	"sync"

	"cotty/internal/nowait"
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
)

// input is the queue to the pty: what is typed and what the emulator answers,
// in order.
type input struct {
	mu    sync.Mutex
	ready sync.Cond
	queue []byte
	busy  int   // bytes that are being written
	over  error // no more is taken: ErrExited, ErrClosed
	// now writes what the pty takes at once and gives its number of bytes.
	now func([]byte) int
}

// add writes data, or queues what the pty does not take at once, unless the
// queue would exceed limit. A key needs no other goroutine this way.
func (in *input) add(data string, limit int) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.over != nil:
		return in.over
	case len(in.queue)+in.busy+len(data) > limit:
		return ErrInputFull
	}
	n := 0
	if len(in.queue)+in.busy == 0 && in.now != nil && len(data) <= maxNow {
		n = in.now([]byte(data))
	}
	if n < len(data) {
		in.queue = append(in.queue, data[n:]...)
		in.ready.Signal()
	}
	return nil
}

// reply queues an answer of the emulator.
func (in *input) reply(data string) { in.add(data, maxInput+maxReplies) }

// next waits for input and takes all of it; false at the end.
func (in *input) next(done []byte) ([]byte, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.busy = 0
	for len(in.queue) == 0 && in.over == nil {
		in.ready.Wait()
	}
	if in.over != nil {
		in.queue = nil
		return nil, false
	}
	out := in.queue
	in.busy = len(out)
	if cap(done) > chunk {
		done = nil
	}
	in.queue = done[:0]
	return out, true
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
func (t *Terminal) Input(data string) error {
	if !focusReports[data] {
		// Ctrl-C drops what was typed; fish shows no new prompt then.
		t.typed.set(!strings.HasSuffix(data, "\x03"))
	}
	if strings.ContainsAny(data, "\r\n") {
		t.entered.set(true)
	}
	return t.in.add(data, maxInput)
}

// write is the goroutine that writes to the pty, until the child has ended or
// Close. Writes that find the pty full wait in the poller; only this goroutine
// waits with them.
func (t *Terminal) write() {
	var b []byte
	for {
		var ok bool
		if b, ok = t.in.next(b); !ok {
			return
		}
		if _, err := t.cfg.Process.Pty.Write(b); err != nil {
			if isClosed(err) {
				return
			}
			// Nobody has the terminal open; what is typed into it is lost.
			t.log.Debug("write to the pty", "process", t.cfg.Process.ID, "err", err)
		}
	}
}

// writeNow writes what the pty takes at once. An error is left to the writer,
// which meets it again.
func (t *Terminal) writeNow(p []byte) (n int) {
	err := t.raw.Write(func(fd uintptr) bool {
		n, _ = nowait.Write(fd, p)
		return true
	})
	if err != nil {
		return 0
	}
	return n
}
