package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/emulator"
	"tandemux/host/journal"
	"tandemux/host/terminal/filter"
	"tandemux/host/terminal/output"
	"tandemux/internal/rawio"
)

// read is the goroutine that reads the pty, until its end or Close.
func (t *Terminal) read() {
	defer t.hold(nil)
	defer t.parked.Store(true)
	for burst := 0; ; {
		if burst == 0 && t.cfg.Throttle != nil {
			t.cfg.Throttle(t.ctx)
		}
		if !t.waitRoom() {
			return
		}
		err := t.collect()
		if c := t.reader.landing.Chunk(); len(c) > headroom {
			t.process(c)
			t.hold(nil)
			t.exit.heard()
			t.trim(len(c))
			if burst += len(c); len(c) < little || burst >= chunk {
				burst = 0
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded): // Exit wants to know, or Pack has it trim
			t.cfg.Process.Pty.SetReadDeadline(time.Time{})
			t.trim(0)
		case errors.Is(err, journal.ErrFenced):
			t.report(fmt.Errorf("read the pty: %w", err))
			return
		default:
			if err != io.EOF && !t.input.isClosed(err) {
				t.log.Warn("read the pty", "process", t.cfg.Process.ID, "err", err)
			}
			t.endOfOutput()
			return
		}
	}
}

// reader is what reads the pty, on one goroutine, into the landing.
type reader struct {
	raw     syscall.RawConn
	landing *journal.Landing
	parked  atomic.Bool            // it waits for output, or has ended
	held    atomic.Pointer[func()] // of WithAnswer
	busy    atomic.Int64           // bytes read since the landing was trimmed
	calm    int                    // times in a row that little came
	rests   bool                   // so little came last that there is most likely nothing behind it
	flows   bool                   // so much came last that more is on its way
	// Of collect; kept, so that the functions are allocated once.
	gone func() bool           // the child, as far as is known
	step func(fd uintptr) bool // takeSome
	next func(l *journal.Landing, fd int) (int, error)
	err  error
}

// collect waits for output and takes what is there into the landing, up to a chunk. A pty
// gives at most 4 KiB at a time, and the kernel's worker has to run for the next: while it
// does, what came is processed. It is waited for only when that is done.
func (r *reader) collect() error {
	r.err, r.next = nil, (*journal.Landing).Read // of what may be nothing; see package rawio
	if r.rests || r.flows {                      // as behind a key's echo, where nobody waits for the worker
		r.next, r.rests = (*journal.Landing).ReadReady, false
	}
	err := r.raw.Read(r.step)
	r.parked.Store(false)
	return cmp.Or(err, r.err)
}

// takeSome is a step of collect: false waits for the poller.
func (r *reader) takeSome(fd uintptr) bool {
	r.parked.Store(false)
	n, err := r.readAvailable(int(fd), r.next)
	if n == 0 && err == nil && r.flows && rawio.WaitAlone(fd, answerTime) { // Most print more slowly than it is processed here.
		n, err = r.readAvailable(int(fd), (*journal.Landing).ReadNow)
	}
	r.flows = n >= leastSlice
	r.next = (*journal.Landing).ReadNow // the poller says that something is there
	if err == unix.EIO || err == io.EOF {
		// No process has the terminal open. While the child lives, or its
		// exit is not known yet, one may open it again.
		if err = nil; n == 0 && r.gone() {
			err = io.EOF
		}
	}
	r.err = err
	r.parked.Store(n == 0 && err == nil)
	return n > 0 || err != nil
}

// answerTime is how long the answer to a key is waited for, which nearly all programs that
// show it give sooner.
const answerTime = 400 * time.Microsecond

// WithAnswer calls flush, which writes the echo of input, behind what the program prints
// upon it if that comes at once: who watches is woken once for both. The caller sleeps
// in the kernel meanwhile, without the scheduler, as a timer of Go's would wake a thread.
func (r *reader) WithAnswer(flush func()) {
	r.hold(&flush)
	answered := false
	r.raw.Control(func(fd uintptr) { answered = r.parked.Load() && rawio.Wait(fd, answerTime) }) //nolint:errcheck // a closed pty answers nothing
	if !answered {
		r.hold(nil) // else the reader does
	}
}

// hold flushes what is held, and holds something else.
func (r *reader) hold(flush *func()) {
	if before := r.held.Swap(flush); before != nil {
		(*before)()
	}
}

// headroom is what lies in front of what is processed; see filter.Decoder.
const headroom = filter.Headroom

// little is so few bytes that there is most likely nothing behind them. Finding
// that out makes the kernel wait for its own worker, while a key's echo waits.
const little = 256

// readAvailable reads until the chunk is full or, likely, nothing is left. What
// was read before an error is given without it: the error comes again.
// first reads first, as it may have to wait.
func (r *reader) readAvailable(fd int, first func(*journal.Landing, int) (int, error)) (n int, err error) {
	for read := first; !r.landing.Full(); read = (*journal.Landing).ReadReady {
		m, err := read(r.landing, fd)
		switch {
		case m > 0 && n == 0 && m < little:
			r.rests = true
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

// trimAfter is how much output uses so much of the landing that it is worth to
// give its memory back.
const trimAfter = 256 << 10

// trim gives back the memory that a flood needed, once little has come for a while, or nothing.
func (r *reader) trim(n int) {
	if r.calm++; n >= little {
		r.calm = 0
	}
	if busy := r.busy.Add(int64(n)); busy > trimAfter && (n == 0 || r.calm > 16) {
		r.busy.Store(0)
		r.landing.Trim()
	}
}

// process puts output, read into buf[headroom:], through the pipeline, in
// slices, so that whoever wants the screen need not wait for a whole chunk.
func (t *Terminal) process(buf []byte) {
	t.echo.flood.Store(len(buf)-headroom >= leastSlice)
	for from := headroom; from < len(buf); {
		n := t.sliceOf(buf[from:])
		t.screen.Lock()
		t.feed(buf[from-headroom : from+n])
		t.lookSoon()
		if t.filter.Lone() {
			t.escTimer.Reset(t.cfg.delays.escape)
		}
		handOn(t)
		from += n
	}
}

// sliceOf is how much of what was read is processed at once: mostly whole runes, what
// fills the store's block, and no questions that were answered with any that were not.
func (t *Terminal) sliceOf(p []byte) int {
	most := slice
	t.screen.Lock() // flushEscape and Clear use them, too
	left := t.store.Left() - len(t.filter.Held())
	t.screen.Unlock()
	if left >= leastSlice {
		most = min(most, left)
	}
	n := output.Boundary(p, most)
	if t.offset < t.quiet {
		n = int(min(uint64(n), t.quiet-t.offset))
	}
	return n
}

// feed gives output, in buf[headroom:], to decoder, filter and emulator and deals with what
// the emulator has to say. The caller holds screen, and publishes.
func (t *Terminal) feed(buf []byte) {
	to := t.offset + uint64(len(buf)-headroom)
	t.feeding = to
	defer t.fed(to)
	t.pipe(t.decoder.Decode(buf))
}

// fed ends a feed, also one that has failed: what it was about is not tried
// again.
func (t *Terminal) fed(to uint64) {
	t.offset, t.feeding = to, 0
	t.contain("process output", recover())
}

// pipe gives repaired output to filter and emulator. What comes before a shell's mark is in
// the emulator, with whoever keeps it, and in the queue before what the mark tells.
func (t *Terminal) pipe(p []byte) {
	clean := t.store.Keep(t.filter.Add(t.store.Room(len(t.filter.Held())+len(p)), p))
	at, in := 0, 0
	for _, m := range t.filter.Marks {
		t.pass(clean[at:m.At], p[in:m.In])
		at, in = m.At, m.In
		if body := t.filter.Body(m); len(body) > 0 {
			t.marked(body)
		}
	}
	t.pass(clean[at:], p[in:])
	if t.cfg.Media != nil {
		t.cfg.Media.Forget()
	}
}

// pass gives output that has no mark in it to viewers, of which they get the store's
// clean, and to the emulator.
func (t *Terminal) pass(clean, p []byte) {
	t.show(clean)
	t.emu.Write(p)
	t.handle(t.emu.Events())
}

// show gives viewers output that is in the store, to be published. The caller holds
// screen.
func (t *Terminal) show(b []byte) {
	t.fresh.output(b)
	t.retain(b)
}

// retain keeps what viewers get. The caller holds screen.
func (t *Terminal) retain(b []byte) {
	t.passed += uint64(len(b))
	t.answered.Store(true)
	t.kept.add(b)
	if t.cmds.running != nil {
		t.cmds.running.out.Add(b)
	}
}

// handle deals with the emulator's events. The caller holds screen.
func (t *Terminal) handle(events []emulator.Event) {
	if t.replaying {
		return
	}
	for _, e := range events {
		switch e.Kind {
		case emulator.EventReply:
			t.answer(e.Text)
		case emulator.EventResize:
			if err := t.resize(e.Cols, e.Rows, true); err != nil {
				t.log.Warn("give a program the size that it wants", "process", t.cfg.Process.ID, "err", err)
			}
		case emulator.EventTitle:
			t.setTitle(e.Text)
		case emulator.EventBell, emulator.EventNotify, emulator.EventProgress, emulator.EventMark:
			t.notice(e)
		}
	}
}

// answer writes a reply to the pty, unless an earlier host has answered what is
// being fed. That it is answered is noted first: a program rather misses an
// answer than reads one twice. The caller holds screen.
func (t *Terminal) answer(text string) {
	if t.feeding > 0 {
		if t.feeding <= t.quiet {
			return
		}
		t.reader.landing.SetAnswered(t.feeding)
	}
	t.input.add(text, maxInput+maxReplies, false)
}

// flushEscape passes on an ESC that nothing followed.
func (t *Terminal) flushEscape() {
	t.screen.Lock()
	if t.filter.Lone() && !t.closed.Load() {
		t.passHeld()
	}
	handOn(t)
}

// passHeld passes on what the filter holds. The caller holds screen, and
// publishes.
func (t *Terminal) passHeld() {
	t.show(t.store.Keep(t.filter.Flush(t.store.Room(len(t.filter.Held())))))
}

// endOfOutput passes on what is held.
func (t *Terminal) endOfOutput() {
	t.screen.Lock()
	t.pipeRest()
	handOn(t)
	if t.exit.known() {
		t.reportExit()
	}
}

// pipeRest passes on what is held. The caller holds screen, and publishes.
func (t *Terminal) pipeRest() {
	defer t.guard("process the end of the output")
	if rest := t.decoder.Flush(); rest != nil {
		t.pipe(rest)
	}
	t.passHeld()
}
