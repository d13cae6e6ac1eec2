package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"tandemux/emulator"
	"tandemux/host/journal"
	"tandemux/host/terminal/filter"
	"tandemux/host/terminal/output"
	"tandemux/host/terminal/source"
)

// read is the reader goroutine: it reads the pty until its end or Close.
func (t *Terminal) read() {
	defer t.source.End()
	for burst := 0; ; {
		if burst == 0 && t.cfg.Throttle != nil {
			t.cfg.Throttle(t.ctx)
		}
		if !t.waitRoom() {
			return
		}
		took, err := t.source.Collect()
		n := 0
		if !took {
			n = processChunk(t)
		}
		if burst += n; n < source.Little || burst >= chunk {
			burst = 0
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded): // Exit or Pack has woken the reader
			t.cfg.Process.Pty.SetReadDeadline(time.Time{})
			t.source.Trim(0)
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

// processChunk processes the collected chunk, and returns its length with the headroom.
func processChunk(t *Terminal) int {
	c := t.source.Landing.Chunk()
	if len(c) <= headroom {
		return 0
	}
	t.process(c)
	t.source.Flush()
	t.exit.heard()
	t.source.Trim(len(c))
	return len(c)
}

// WithAnswer is source.Source.WithAnswer.
func (t *Terminal) WithAnswer(flush func()) {
	t.source.WithAnswer(flush, func() (more bool) {
		processChunk(t)
		return t.beginNext()
	})
}

// headroom is the free bytes in front of what is processed; see filter.Decoder.
const headroom = filter.Headroom

// process puts output, read into buf[headroom:], through the pipeline. It does so in slices,
// so that other goroutines can lock screen before the whole chunk is processed.
func (t *Terminal) process(buf []byte) {
	t.echo.flood.Store(len(buf)-headroom >= source.Much)
	for from := headroom; from < len(buf); {
		n := sliceOf(t, buf[from:])
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

// sliceOf is how many bytes of p are processed at once. A slice ends mostly between runes,
// fills the store's block if it can, and does not mix queries that an earlier host has
// answered with others.
func sliceOf(t *Terminal, p []byte) int {
	most := slice
	t.screen.Lock() // flushEscape and Clear use these fields, too
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

// feed puts output, in buf[headroom:], through decoder, filter and emulator, and handles the
// emulator's events. The caller holds screen, and publishes.
func (t *Terminal) feed(buf []byte) {
	to := t.offset + uint64(len(buf)-headroom)
	t.feeding = to
	defer t.fed(to)
	t.pipe(t.decoder.Decode(buf))
}

// fed ends a feed, also one that panicked: its bytes are not processed again.
func (t *Terminal) fed(to uint64) {
	t.offset, t.feeding = to, 0
	t.contain("process output", recover())
}

// pipe gives repaired output to filter and emulator. The output before a shell's mark is in
// the emulator, the content and the queue before the mark is handled.
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

// pass gives output without marks to viewers, as clean, which lies in the store, and to the
// emulator, as p.
func (t *Terminal) pass(clean, p []byte) {
	t.show(clean)
	t.emu.Write(p)
	t.handle(t.emu.Events())
}

// show gives viewers output that lies in the store, for publish. The caller holds screen.
func (t *Terminal) show(b []byte) {
	t.fresh.output(b)
	t.retain(b)
}

// retain keeps what viewers get, for content and commands. The caller holds screen.
func (t *Terminal) retain(b []byte) {
	t.passed += uint64(len(b))
	t.outputCame()
	t.kept.add(b)
	if t.cmds.running != nil {
		t.cmds.running.out.Add(b)
	}
}

// handle handles the emulator's events. The caller holds screen.
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

// answer writes a reply to the pty, unless an earlier host has answered the query. It notes
// the answer before it writes it: after a crash a program may miss an answer but reads none
// twice. The caller holds screen.
func (t *Terminal) answer(text string) {
	if t.feeding > 0 {
		if t.feeding <= t.quiet {
			return
		}
		t.source.Landing.SetAnswered(t.feeding)
	}
	t.input.add(text, maxInput+maxReplies, false)
}

// flushEscape passes on an ESC that nothing has followed for loneEscape. A timer calls it.
func (t *Terminal) flushEscape() {
	t.screen.Lock()
	if t.filter.Lone() && !t.closed.Load() {
		t.passHeld()
	}
	handOn(t)
}

// passHeld passes on what the filter holds back. The caller holds screen, and publishes.
func (t *Terminal) passHeld() {
	t.show(t.store.Keep(t.filter.Flush(t.store.Room(len(t.filter.Held())))))
}

// endOfOutput passes on what decoder and filter hold back, at the end of the output.
func (t *Terminal) endOfOutput() {
	t.screen.Lock()
	t.pipeRest()
	handOn(t)
	if t.exit.known() {
		t.reportExit()
	}
}

// pipeRest passes on what decoder and filter hold back. The caller holds screen, and
// publishes.
func (t *Terminal) pipeRest() {
	defer t.guard("process the end of the output")
	if rest := t.decoder.Flush(); rest != nil {
		t.pipe(rest)
	}
	t.passHeld()
}
