package terminal

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cotty/emulator"
	"cotty/internal/nowait"
)

// buffers are shared by all readers: an idle terminal has none.
var buffers = sync.Pool{New: func() any { return new([headroom + chunk]byte) }}

// read is the goroutine that reads the pty, until its end or Close.
func (t *Terminal) read() {
	defer t.parked.Store(true)
	for {
		if t.cfg.Throttle != nil {
			t.cfg.Throttle(t.ctx)
		}
		if !t.waitRoom() {
			return
		}
		buf, n, err := t.collect()
		if n > 0 {
			t.process(buf[:headroom+n])
			t.exit.heard()
		}
		if buf != nil {
			buffers.Put(buf)
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded): // Exit wants to know
			t.cfg.Process.Pty.SetReadDeadline(time.Time{})
		default:
			if err != io.EOF && !isClosed(err) {
				t.log.Warn("read the pty", "process", t.cfg.Process.ID, "err", err)
			}
			t.endOfOutput()
			return
		}
	}
}

// collect waits for output and takes what is there, up to a chunk. A pty gives
// at most 4 KiB at a time; what costs per chunk should be paid less often. The
// caller puts buf back.
func (t *Terminal) collect() (buf *[headroom + chunk]byte, n int, err error) {
	read := unix.Read // of what may be nothing; see nowait
	rerr := t.raw.Read(func(fd uintptr) bool {
		t.parked.Store(false)
		if buf == nil {
			buf = buffers.Get().(*[headroom + chunk]byte)
		}
		n, err = readAvailable(int(fd), buf[headroom:], read)
		read = readNow // the poller says that something is there
		if err == unix.EIO || err == io.EOF {
			// No process has the terminal open. While the child lives, or its
			// exit is not known yet, one may open it again.
			if err = nil; n == 0 && t.exit.known() {
				err = io.EOF
			}
		}
		if n > 0 || err != nil {
			return true
		}
		buffers.Put(buf)
		buf = nil
		t.parked.Store(true)
		return false
	})
	t.parked.Store(false)
	if rerr != nil {
		err = rerr
	}
	return buf, n, err
}

// little is so few bytes that there is most likely nothing behind them. Finding
// that out makes the kernel wait for its own worker, while a key's echo waits.
const little = 256

// readNow is unix.Read that the scheduler isn't told of.
func readNow(fd int, p []byte) (int, error) { return nowait.Read(uintptr(fd), p) }

// readAvailable reads until p is full or, likely, nothing is left. What was read
// before an error is given without it: the error comes again.
// first reads first, as it may have to wait.
func readAvailable(fd int, p []byte, first func(int, []byte) (int, error)) (n int, err error) {
	read := first
	for n < len(p) {
		m, err := read(fd, p[n:])
		read = unix.Read
		switch {
		case m > 0 && n == 0 && m < little:
			return m, nil
		case m > 0:
			n += m
		case err == unix.EINTR:
		case n > 0 || err == unix.EAGAIN:
			return n, nil
		case err == nil:
			return 0, io.EOF
		default:
			return 0, err
		}
	}
	return n, nil
}

// process puts output, read into buf[headroom:], through the pipeline, in
// slices, so that whoever wants the screen need not wait for a whole chunk.
func (t *Terminal) process(buf []byte) {
	for p := t.decoder.decode(buf); len(p) > 0; {
		n := runeBoundary(p, slice)
		t.screen.Lock()
		due := t.feed(p[:n])
		if t.filter.lone() {
			t.escTimer.Reset(loneEscape)
		}
		t.screen.Unlock()
		t.wakeUp(due)
		p = p[n:]
	}
}

// runeBoundary is the most of valid text, up to n bytes, that ends with a rune.
func runeBoundary(p []byte, n int) int {
	if n >= len(p) {
		return len(p)
	}
	for !utf8.RuneStart(p[n]) {
		n--
	}
	return n
}

// feed gives repaired output to filter and emulator and deals with what the
// emulator has to say. It reports whether Wake is due. The caller holds screen.
func (t *Terminal) feed(p []byte) (due bool) {
	t.mu.Lock()
	before := len(t.pending.data)
	t.pending.data = t.filter.add(t.pending.data, p)
	if len(t.filter.marks) > 0 {
		t.clean = append(t.clean[:0], t.pending.data[before:]...)
		t.pending.data = t.pending.data[:before]
		t.mu.Unlock()
		t.feedMarked(p, before)
	} else {
		t.retain(t.pending.data[before:])
		t.mu.Unlock()
		t.emu.Write(p)
		t.handle(t.emu.Events())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.due(false)
}

// retain keeps what viewers get. The caller holds screen.
func (t *Terminal) retain(b []byte) {
	t.kept.add(b)
	if t.cmds.running != nil {
		t.cmds.running.out.add(b)
	}
}

// handle deals with the emulator's events. The caller holds screen.
func (t *Terminal) handle(events []emulator.Event) {
	for _, e := range events {
		switch e.Kind {
		case emulator.EventReply:
			t.in.reply(e.Text)
		case emulator.EventTitle:
			if e.Text != t.title {
				t.title = e.Text
				t.mu.Lock()
				t.pending.title = &e.Text
				t.mu.Unlock()
			}
		case emulator.EventBell, emulator.EventNotify, emulator.EventProgress, emulator.EventMark:
			t.notice(e)
		}
	}
}

// flushEscape passes on an ESC that nothing followed.
func (t *Terminal) flushEscape() {
	t.screen.Lock()
	due := false
	if t.filter.lone() && !t.closed.Load() {
		due = t.passHeld()
	}
	t.screen.Unlock()
	t.wakeUp(due)
}

// passHeld passes on what the filter holds. The caller holds screen.
func (t *Terminal) passHeld() (due bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := len(t.pending.data)
	t.pending.data = t.filter.flush(t.pending.data)
	t.retain(t.pending.data[before:])
	return t.due(false)
}

// endOfOutput is after the last read: nothing more will come.
func (t *Terminal) endOfOutput() {
	t.screen.Lock()
	due := false
	if rest := t.decoder.flush(); rest != nil {
		due = t.feed(rest)
	}
	due = t.passHeld() || due
	t.screen.Unlock()
	t.wakeUp(due)
	if t.exit.known() {
		t.reportExit()
	}
}
