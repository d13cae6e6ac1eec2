package tty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// EscTimeout is how long an incomplete sequence waits for its rest. A single ESC does not wait.
const EscTimeout = 50 * time.Millisecond

// fenceTimeout is how long Restore waits for pending answers, so that they don't appear at the
// shell's prompt.
const fenceTimeout = 200 * time.Millisecond

// answerTimeout is how long answers about colours are due if some don't arrive. Until then a
// single ESC waits like any incomplete sequence.
const answerTimeout = time.Second

// leaveTimeout is how long Restore's write to the terminal may take.
const leaveTimeout = 500 * time.Millisecond

// canceler is a reader whose pending Read can be ended.
type canceler interface {
	io.ReadCloser
	Cancel() bool
}

// Terminal is the outer terminal. Its methods may be called from any goroutine. What is written
// after Restore, before the next Enter, is dropped.
type Terminal struct {
	in, out *os.File   // as given; for termios and the size
	own     *polled    // in, opened again; nil if that failed
	writer  io.Writer  // own if out is the same terminal, else out
	writing sync.Mutex // held while writer is written to; taken before mu

	mu      sync.Mutex // guards all below, and the decoder
	caps    Caps
	saved   *term.State // nil unless in raw mode
	asked   bool        // queries were sent, so fence exists
	fence   chan struct{}
	fenced  bool
	colors  int         // number of answers since the colours were asked for
	give    *time.Timer // ends what expect began
	dec     Decoder
	reader  canceler
	done    chan struct{} // closed when the reader has ended
	flush   *time.Timer
	last    time.Time
	dropped bool // input and output are dropped
	closed  bool // in and out may be closed
}

// Open checks that in and out are a terminal that can show the interface.
func Open(in, out *os.File, env []string) (*Terminal, error) {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, errors.New("open terminal: standard input and output are not a terminal: run tandemux in one, or use its commands (tandemux --help)")
	}
	if slices.Contains(env, "TERM=dumb") {
		return nil, errors.New("open terminal: TERM is dumb, which can't move a cursor: use a terminal that can, or tandemux's commands (tandemux --help)")
	}
	t := &Terminal{in: in, out: out, own: reopen(in), writer: out, caps: Guess(env)}
	if a, err := in.Stat(); err == nil && t.own != nil {
		if b, err := out.Stat(); err == nil && os.SameFile(a, b) {
			t.writer = t.own
		}
	}
	return t, nil
}

var errClosed = errors.New("the terminal is closed")

// Size returns the terminal's size in cells.
func (t *Terminal) Size() (w, h int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0, 0, errClosed
	}
	w, h, err = term.GetSize(int(t.out.Fd()))
	if err != nil {
		return 0, 0, fmt.Errorf("ask terminal size: %w", err)
	}
	if w <= 0 || h <= 0 {
		w, h = 80, 24 // a pty whose size was never set
	}
	return w, h, nil
}

// Cell returns the size of a cell in pixels, computed from the window's size; zero if that has no
// pixels.
func (t *Terminal) Cell() CellSize {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return CellSize{}
	}
	ws, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 || ws.Row == 0 {
		return CellSize{}
	}
	return CellSize{W: int(ws.Xpixel / ws.Col), H: int(ws.Ypixel / ws.Row), Guessed: true}
}

// Caps returns the capabilities from Open, or those of the last SetCaps.
func (t *Terminal) Caps() Caps {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.caps
}

// SetCaps sets the capabilities that Restore and Enter go by.
func (t *Terminal) SetCaps(c Caps) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.caps = c
}

// Enter sets raw mode and switches on what the interface needs. It does so again if it was
// entered already: the program was stopped, and another program may have changed the terminal.
func (t *Terminal) Enter() error {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errClosed
	}
	again := t.saved != nil
	saved, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return fmt.Errorf("set terminal to raw mode: %w", err)
	}
	t.dropped = false
	t.expect()
	if t.own != nil {
		_ = t.own.SetWriteDeadline(time.Time{}) // Restore has set a deadline
	}
	seq := EnterSequence(t.caps)
	if again {
		seq = LeaveSequence(t.caps) + seq // off first, as Restore switches each off only once
	} else {
		t.saved = saved
	}
	if _, err := io.WriteString(t.writer, seq); err != nil {
		return fmt.Errorf("write to terminal: %w", err)
	}
	return nil
}

// Entered reports whether Enter was called after the last Restore.
func (t *Terminal) Entered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.saved != nil
}

// Expect must be called before the queries of AskColors are written, so that the answers are not
// taken for keys.
func (t *Terminal) Expect() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expect()
}

// expect is Expect. The lock must be held.
func (t *Terminal) expect() {
	if t.caps.Console {
		return
	}
	if t.fenced || !t.asked {
		t.fence = make(chan struct{})
	}
	t.asked, t.fenced, t.colors = true, false, 0
	t.dec.Expecting, t.dec.Due = true, true
	if t.give != nil {
		t.give.Stop()
	}
	t.give = time.AfterFunc(answerTimeout, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.dec.Expecting, t.dec.Due = !t.fenced, false
	})
}

// Write is io.Writer's.
func (t *Terminal) Write(p []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	if t.left() {
		return len(p), nil
	}
	return t.writer.Write(p)
}

// TryWrite writes what the terminal takes at once and returns its length. A later Write reports
// errors.
func (t *Terminal) TryWrite(p []byte) (n int) {
	if t.own == nil || t.writer != io.Writer(t.own) || !t.writing.TryLock() {
		return 0
	}
	defer t.writing.Unlock()
	if t.left() {
		return len(p)
	}
	return t.own.tryWrite(p)
}

// left reports whether output is dropped.
func (t *Terminal) left() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dropped
}

// Unblock ends a pending Write and makes later ones fail, for a terminal that takes no output any
// more. It has no effect if the terminal could not be opened again.
func (t *Terminal) Unblock() {
	if t.own != nil {
		_ = t.own.SetWriteDeadline(time.Unix(1, 0))
	}
}

// Read starts a goroutine that reads and calls take with the input, and lost once when nothing
// can be read any more.
func (t *Terminal) Read(take func(Input), lost func(error)) error {
	var r canceler = t.own
	if t.own == nil {
		cr, err := uv.NewCancelReader(t.in)
		if err != nil {
			return fmt.Errorf("read terminal: %w", err)
		}
		r = cr
	}
	t.mu.Lock()
	t.reader, t.done = r, make(chan struct{})
	t.mu.Unlock()
	go t.loop(r, take, lost)
	return nil
}

func (t *Terminal) loop(r canceler, take func(Input), lost func(error)) {
	defer close(t.done)
	defer func() {
		if p := recover(); p != nil {
			lost(fmt.Errorf("decode input: %v", p))
		}
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			t.feed(buf[:n], take)
		}
		if err != nil {
			t.mu.Lock()
			closed := t.reader == nil
			t.mu.Unlock()
			if !closed {
				lost(err)
			}
			return
		}
	}
}

func (t *Terminal) feed(p []byte, take func(Input)) {
	t.mu.Lock()
	if t.flush != nil {
		t.flush.Stop()
	}
	now := time.Now()
	in, more := t.dec.Feed(p, now.Sub(t.last) < EscTimeout)
	t.last = now
	if more {
		t.flush = time.AfterFunc(EscTimeout, func() { t.expire(take) })
	}
	t.sawAnswers(in)
	dropped := t.dropped
	t.mu.Unlock()
	if len(in) > 0 && !dropped {
		take(in)
	}
}

// expire decodes a sequence whose rest has not arrived.
func (t *Terminal) expire(take func(Input)) {
	defer func() { _ = recover() }() // input that can't be decoded is dropped
	t.mu.Lock()
	in := t.dec.Flush()
	dropped := t.dropped
	t.mu.Unlock()
	if len(in) > 0 && !dropped {
		take(in)
	}
}

// sawAnswers notes which answers have arrived. The lock must be held.
func (t *Terminal) sawAnswers(in Input) {
	for _, msg := range in {
		switch msg.(type) {
		case Color:
			t.colors++
		case Fence:
			if t.asked && !t.fenced {
				t.fenced = true
				t.dec.Expecting = t.dec.Due
				close(t.fence)
			}
		default:
			continue
		}
		if t.fenced && t.colors >= ColorCount {
			t.dec.Expecting, t.dec.Due = false, false
		}
	}
}

// Restore restores the terminal to its state before Enter. It waits up to fenceTimeout for
// pending answers. Only the first call after Enter has an effect; Enter may follow, after a
// suspension.
func (t *Terminal) Restore() {
	t.mu.Lock()
	saved, caps := t.saved, t.caps
	t.saved, t.dropped = nil, true
	wait, fence := t.asked && !t.fenced && t.reader != nil, t.fence
	t.mu.Unlock()
	if saved == nil {
		return
	}
	t.limit()
	t.writing.Lock()
	t.limit()
	_, _ = io.WriteString(t.writer, LeaveSequence(caps))
	t.writing.Unlock()
	if wait {
		select {
		case <-fence:
		case <-t.done:
		case <-time.After(fenceTimeout):
		}
	}
	_ = term.Restore(int(t.in.Fd()), saved)
}

// limit gives writes at most leaveTimeout from now on.
func (t *Terminal) limit() {
	if t.own != nil {
		_ = t.own.SetWriteDeadline(time.Now().Add(leaveTimeout))
	}
}

// Close ends the reader, and drops what is written afterwards. The files given to Open stay open.
func (t *Terminal) Close() {
	t.mu.Lock()
	r, done := t.reader, t.done
	t.reader, t.dropped, t.closed = nil, true, true
	if t.flush != nil {
		t.flush.Stop()
	}
	if t.give != nil {
		t.give.Stop()
	}
	t.mu.Unlock()
	if r == nil {
		if t.own != nil {
			t.own.Close()
		}
		return
	}
	if r.Cancel() {
		<-done
	}
	_ = r.Close()
}

// toggle is a mode that is on while the interface shows.
type toggle struct {
	on, off string
	query   bool // a query or its like, which consoles print; they don't get it
}

// toggles is in the order of switching on; switching off goes backwards.
var toggles = []toggle{
	{on: "\x1b[22;2t", off: "\x1b[23;2t", query: true}, // push the title
	{off: "\x1b]22;\x1b\\", query: true},               // reset the pointer's shape
	{on: "\x1b[?1049h", off: "\x1b[?1049l"},            // the alternate screen, which saves the cursor
	// Reset the cursor and styles. The screen is left empty with the cursor at its top: tmux
	// moves what is above the cursor into the main screen's history if the window has grown
	// meanwhile.
	{off: "\x1b[?25h\x1b[0 q\x1b[m\x1b[H\x1b[2J"},
	{on: "\x1b[?7l", off: "\x1b[?7h"},       // no autowrap
	{on: "\x1b[?2004h", off: "\x1b[?2004l"}, // bracketed paste
	{on: "\x1b[?1004h", off: "\x1b[?1004l"}, // focus reports
	{on: "\x1b[?1000h\x1b[?1002h\x1b[?1006h", off: "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l"},
	{on: "\x1b[?2031h", off: "\x1b[?2031l", query: true}, // reports of a dark or light scheme
	{on: "\x1b[?2026$p\x1b[?2027$p\x1b[?2031$p\x1b[?u\x1b[>q\x1b[?996n" + graphicsQuery + cellQuery + sixelQuery + colorQuery + fenceQuery, query: true},
}

// fenceQuery (DA1) is answered by a Fence: every terminal knows it, and answers queries in order.
const fenceQuery = "\x1b[c"

// Mode 2027: the terminal measures text by grapheme clusters, as the emulator does.
const clustersOn, clustersOff = "\x1b[?2027h", "\x1b[?2027l"

// Mouse motion without a button is reported only while somebody needs it.
const (
	AllMotionOn  = "\x1b[?1003h"
	AllMotionOff = "\x1b[?1003l\x1b[?1002h"
)

// EnterSequence returns what switches on the modes that the interface needs.
func EnterSequence(c Caps) string {
	var b strings.Builder
	for _, t := range toggles {
		if !t.query || !c.Console {
			b.WriteString(t.on)
		}
	}
	b.WriteString(c.keyboard())
	return b.String()
}

// LeaveSequence returns what undoes EnterSequence and what was switched on since.
func LeaveSequence(c Caps) string {
	var b strings.Builder
	b.WriteString("\x1b[?2026l")
	for i := range uint64(c.Gallery.Count) {
		b.WriteString("\x1b_Ga=d,d=I,q=2,i=" + strconv.FormatUint(uint64(c.Gallery.First)+i, 10) + "\x1b\\")
	}
	if c.ClustersOn {
		b.WriteString(clustersOff)
	}
	if c.Kitty {
		b.WriteString("\x1b[<u")
	}
	if c.Other && !c.Kitty {
		b.WriteString("\x1b[>4m")
	}
	if c.Profile.Hyperlinks {
		b.WriteString("\x1b]8;;\x1b\\")
	}
	for i := len(toggles) - 1; i >= 0; i-- {
		if t := toggles[i]; !t.query || !c.Console {
			b.WriteString(t.off)
		}
	}
	if c.Console {
		return strings.TrimPrefix(b.String(), "\x1b[?2026l")
	}
	return b.String()
}
