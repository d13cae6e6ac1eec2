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

// EscTimeout is how long the rest of a sequence is waited for. A lone ESC does
// not wait.
const EscTimeout = 50 * time.Millisecond

// fenceTimeout is how long Restore waits for answers that are still under way,
// so that they don't turn up at the shell's prompt.
const fenceTimeout = 200 * time.Millisecond

// answerTimeout is for how long answers about colours are due where not all
// come: until then a lone ESC waits like any incomplete sequence.
const answerTimeout = time.Second

// leaveTimeout is how long a terminal may take to hear that it is left.
const leaveTimeout = 500 * time.Millisecond

// canceler is a reader whose Read can be ended from outside.
type canceler interface {
	io.ReadCloser
	Cancel() bool
}

// Terminal is the outer terminal. Write belongs to the event loop; all other
// methods may be called from any goroutine.
type Terminal struct {
	in, out *os.File  // as given; termios and size are asked of them
	own     *polled   // in, opened anew; nil where that can't be
	writer  io.Writer // own if it is out too

	mu      sync.Mutex // guards all below, and the decoder
	caps    Caps
	saved   *term.State // nil unless in raw mode
	asked   bool        // queries were sent
	fence   chan struct{}
	fenced  bool
	colors  int // answers about colours since they were asked for
	give    *time.Timer
	dec     Decoder
	reader  canceler
	done    chan struct{} // the reader has ended
	flush   *time.Timer
	last    time.Time
	dropped bool // input is thrown away
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

// Size is the terminal's size in cells.
func (t *Terminal) Size() (w, h int, err error) {
	w, h, err = term.GetSize(int(t.out.Fd()))
	if err != nil {
		return 0, 0, fmt.Errorf("ask terminal size: %w", err)
	}
	if w <= 0 || h <= 0 {
		w, h = 80, 24 // a pty whose size was never set
	}
	return w, h, nil
}

// Cell is the size of a cell in pixels, as the window's size has it; zero where that is
// not said.
func (t *Terminal) Cell() CellSize {
	ws, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 || ws.Row == 0 {
		return CellSize{}
	}
	return CellSize{W: int(ws.Xpixel / ws.Col), H: int(ws.Ypixel / ws.Row), Guessed: true}
}

// Caps is what the terminal can do as far as known when it was opened.
func (t *Terminal) Caps() Caps {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.caps
}

// SetCaps tells Restore what was switched on since.
func (t *Terminal) SetCaps(c Caps) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.caps = c
}

// Enter sets raw mode and switches on what the interface needs, also where it is
// on already as far as is known here: the program was stopped, and whoever had
// the terminal meanwhile changed it.
func (t *Terminal) Enter() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	again := t.saved != nil
	saved, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return fmt.Errorf("set terminal to raw mode: %w", err)
	}
	t.dropped = false
	t.expect()
	if t.own != nil {
		_ = t.own.SetWriteDeadline(time.Time{}) // as Restore left it
	}
	seq := EnterSequence(t.caps)
	if again {
		seq = LeaveSequence(t.caps) + seq // each once, as Restore undoes them once
	} else {
		t.saved = saved
	}
	if _, err := io.WriteString(t.writer, seq); err != nil {
		return fmt.Errorf("write to terminal: %w", err)
	}
	return nil
}

// Entered reports whether Enter was called and Restore not since.
func (t *Terminal) Entered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.saved != nil
}

// Expect says that the terminal is about to be asked with AskColors, so that
// its answers are not taken for keys.
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

func (t *Terminal) Write(p []byte) (int, error) { return t.writer.Write(p) }

// TryWrite writes what the terminal takes at once and gives its length. An error is left to
// the Write of the rest.
func (t *Terminal) TryWrite(p []byte) (n int) {
	if t.own != nil && t.writer == io.Writer(t.own) {
		n = t.own.tryWrite(p)
	}
	return n
}

// Unblock ends a Write that is under way and fails those after it, for a
// terminal that takes nothing any more. It helps only where the terminal could
// be opened anew.
func (t *Terminal) Unblock() {
	if t.own != nil {
		_ = t.own.SetWriteDeadline(time.Unix(1, 0))
	}
}

// Read starts to read, handing on what comes from another goroutine. lost is
// called once when there is nothing to be read any more.
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

// expire gives up waiting for the rest of a sequence.
func (t *Terminal) expire(take func(Input)) {
	defer func() { _ = recover() }() // what can't be decoded is dropped
	t.mu.Lock()
	in := t.dec.Flush()
	dropped := t.dropped
	t.mu.Unlock()
	if len(in) > 0 && !dropped {
		take(in)
	}
}

// sawAnswers notes which answers are in. The lock must be held.
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

// Restore gives the terminal back as it was found. It waits a moment for
// answers that are still under way. Only the first call after Enter does
// anything; Enter may follow, after a suspension.
func (t *Terminal) Restore() {
	t.mu.Lock()
	saved, caps := t.saved, t.caps
	t.saved, t.dropped = nil, true
	wait, fence := t.asked && !t.fenced && t.reader != nil, t.fence
	t.mu.Unlock()
	if saved == nil {
		return
	}
	if t.own != nil {
		_ = t.own.SetWriteDeadline(time.Now().Add(leaveTimeout))
	}
	_, _ = io.WriteString(t.writer, LeaveSequence(caps))
	if wait {
		select {
		case <-fence:
		case <-t.done:
		case <-time.After(fenceTimeout):
		}
	}
	_ = term.Restore(int(t.in.Fd()), saved)
}

// Close ends the reader; nothing can be written any more. The files that Open
// was given stay open.
func (t *Terminal) Close() {
	t.mu.Lock()
	r, done := t.reader, t.done
	t.reader, t.dropped = nil, true
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

// toggle is something that is switched on while the interface shows and off
// again when it leaves.
type toggle struct {
	on, off string
	query   bool // asks, so that consoles which print what they don't know are spared
}

// toggles in the order in which they are switched on; off goes backwards.
var toggles = []toggle{
	{on: "\x1b[22;2t", off: "\x1b[23;2t", query: true}, // keep the title
	{off: "\x1b]22;\x1b\\", query: true},               // the pointer that a program wanted
	{on: "\x1b[?1049h", off: "\x1b[?1049l"},            // alternate screen, cursor kept
	// Cursor and style. The screen is left empty with the cursor at its top:
	// tmux moves what is above the cursor into the main screen's history when
	// the window was made larger meanwhile.
	{off: "\x1b[?25h\x1b[0 q\x1b[m\x1b[H\x1b[2J"},
	{on: "\x1b[?7l", off: "\x1b[?7h"},       // no wrapping at the right edge
	{on: "\x1b[?2004h", off: "\x1b[?2004l"}, // bracketed paste
	{on: "\x1b[?1004h", off: "\x1b[?1004l"}, // focus
	{on: "\x1b[?1000h\x1b[?1002h\x1b[?1006h", off: "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l"},
	{on: "\x1b[?2031h", off: "\x1b[?2031l", query: true}, // reports of light and dark
	{on: "\x1b[?2026$p\x1b[?2027$p\x1b[?2031$p\x1b[?u\x1b[>q\x1b[?996n" + graphicsQuery + cellQuery + sixelQuery + colorQuery + fenceQuery, query: true},
}

// fenceQuery is answered by a Fence: every terminal knows it, and answers in
// the order in which it was asked.
const fenceQuery = "\x1b[c"

// Text is measured by grapheme clusters, as the emulator does.
const clustersOn, clustersOff = "\x1b[?2027h", "\x1b[?2027l"

// Mouse motion without a button is reported only while a program wants it.
const (
	AllMotionOn  = "\x1b[?1003h"
	AllMotionOff = "\x1b[?1003l\x1b[?1002h"
)

// EnterSequence switches on what the interface needs.
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

// LeaveSequence switches it off again.
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
