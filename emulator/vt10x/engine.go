package vt10x

import (
	"strconv"

	inner "github.com/hinshun/vt10x"

	"tandemux/emulator"
)

// engine is vt10x behind a front.
type engine struct {
	vt         inner.Terminal
	cols, rows int
	version    string

	// Scanner.
	scan scanner
	held []byte // an incomplete UTF-8 sequence at the end of a write
	run  []rune // scratch: the run of characters being printed
	out  []byte // scratch: bytes for vt10x

	// Writing.
	styles  styles
	pen     emulator.Pen
	penID   uint32 // pen's number; what vt10x has is sentID
	sentID  uint32
	charset charset
	last    rune // for REP: what was just printed, 0 after anything else

	// Terminal state that vt10x lacks or gets wrong.
	flags       flags
	modes       emulator.Modes
	cursor      emulator.Cursor // X and Y unused
	top, bottom int             // the scroll region
	tabs        []bool
	saved       [2]saved // by screen: main, alternate
	altMode     int      // 47, 1047 or 1049 while the alternate screen shows
	hidden      grid     // the main screen while the alternate one shows
	title       string
	titles      []string
	palette     emulator.Palette
	outer       emulator.Colors

	history history
	damage  damage
	events  events
}

// flags are modes that nobody outside asks for.
type flags struct {
	noWrap, origin, insert bool
}

// saved is what DECSC saves.
type saved struct {
	x, y    int
	pending bool // waiting to wrap
	id      uint32
	origin  bool
	charset charset
}

// New makes an engine on vt10x.
func New(o emulator.Options) emulator.Emulator {
	e := &engine{version: o.Version}
	if e.version == "" {
		e.version = "tandemux"
	}
	e.LimitHistory(o.History)
	e.cols, e.rows = clampSize(o.Cols, o.Rows)
	e.styles.reset()
	e.reset()
	return e
}

// LimitHistory implements emulator.Emulator.
func (e *engine) LimitHistory(lines int) {
	if lines == 0 {
		lines = emulator.DefaultHistory
	}
	e.history.setLimit(min(lines, emulator.MaxHistory))
}

func clampSize(cols, rows int) (int, int) {
	return min(max(cols, 1), emulator.MaxCols), min(max(rows, 1), emulator.MaxRows)
}

// reset is the state after RIS. The title stays, as in xterm.
func (e *engine) reset() {
	e.history.clear()
	e.renew()
	e.pen, e.penID = emulator.Pen{}, 0
	e.charset = charset{}
	e.last = 0
	e.flags = flags{}
	e.modes = emulator.Modes{AltScroll: true} // As today's terminals have it.
	e.cursor = emulator.Cursor{Visible: true, Default: true}
	e.tabs = make([]bool, e.cols)
	setDefaultTabs(e.tabs, 0)
	e.saved = [2]saved{}
	e.palette = emulator.Palette{}
	e.titles = nil
}

// renew replaces the inner terminal by a fresh one on the main screen.
func (e *engine) renew() {
	e.vt = inner.New(inner.WithSize(e.cols, e.rows))
	e.sentID = 0
	e.top, e.bottom = 0, e.rows-1
	e.altMode = 0
	e.modes.AltScreen = false
	e.hidden = grid{}
	e.damage.all = true
}

// send gives bytes to vt10x. They are made by this package, never the child's
// own. A panic, which nothing known can cause, costs the screen and no more.
func (e *engine) send(p []byte) {
	if len(p) == 0 {
		return
	}
	defer func() {
		if recover() != nil {
			e.renew()
			e.flags.origin = false
			e.restoreInner()
		}
	}()
	e.vt.Write(p)
}

// restoreInner gives a fresh inner terminal what it should know.
func (e *engine) restoreInner() {
	if e.flags.noWrap {
		e.sendString("\x1b[?7l")
	}
	e.sendTabs()
}

func (e *engine) sendString(s string) {
	e.out = append(e.out[:0], s...)
	e.send(e.out)
}

// sendCSI sends CSI n final.
func (e *engine) sendCSI(n int, final byte) {
	e.out = strconv.AppendInt(append(e.out[:0], "\x1b["...), int64(n), 10)
	e.out = append(e.out, final)
	e.send(e.out)
}

// place moves the cursor to an absolute place, which under origin mode lies in
// the scroll region.
func (e *engine) place(x, y int) {
	if e.flags.origin {
		y = max(0, y-e.top)
	}
	e.out = strconv.AppendInt(append(e.out[:0], "\x1b["...), int64(y+1), 10)
	e.out = strconv.AppendInt(append(e.out, ';'), int64(x+1), 10)
	e.send(append(e.out, 'H'))
}

// sendRegion sets the scroll region, which also moves the cursor home.
func (e *engine) sendRegion(top, bottom int) {
	e.out = strconv.AppendInt(append(e.out[:0], "\x1b["...), int64(top+1), 10)
	e.out = strconv.AppendInt(append(e.out, ';'), int64(bottom+1), 10)
	e.send(append(e.out, 'r'))
	e.top, e.bottom = top, bottom
}

// Bits of vt10x's cursor state and glyph mode, which it does not export.
const (
	innerWrapNext = 1 << 1
	innerWrapped  = 1 << 6
)

// at is the cursor: its place and whether the next character wraps.
func (e *engine) at() (x, y int, pending bool) {
	c := e.vt.Cursor()
	return c.X, c.Y, c.State&innerWrapNext != 0
}

func (e *engine) screen() int {
	if e.altMode != 0 {
		return 1
	}
	return 0
}

func (e *engine) Size() (cols, rows int) { return e.cols, e.rows }

func (e *engine) HistoryLen() int { return e.history.len() }

func (e *engine) Cursor() emulator.Cursor {
	c := e.cursor
	c.X, c.Y, _ = e.at()
	return c
}

func (e *engine) Modes() emulator.Modes { return e.modes }

func (e *engine) Title() string { return e.title }

func (e *engine) Palette() emulator.Palette { return e.palette }

// Mark does nothing: this engine has no marks, and Marks and SnapshotMarks give
// none.
func (e *engine) Mark(uint64) {}

func (e *engine) Marks(buf []emulator.Mark) []emulator.Mark { return buf }

func (e *engine) SnapshotMarks(buf []byte, history int) ([]byte, []emulator.Cut) {
	return e.Snapshot(buf, history), nil
}

func (e *engine) Events() []emulator.Event { return e.events.take() }
