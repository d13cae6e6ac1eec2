package vt10x

import (
	"cmp"
	"maps"
	"strconv"

	inner "github.com/hinshun/vt10x"

	"tandemux/emulator"
	"tandemux/emulator/control"
)

// engine is vt10x behind a front.
type engine struct {
	vts        [2]inner.Terminal // the main and the alternate screen
	alt        int               // index of the one that shows
	cols, rows int
	version    string

	parser control.Parser
	sys    control.System
	modes  control.Modes
	tabs   control.Tabs
	saved  [2]saved // by screen

	styles  styles
	writer          // what DECSC saves, but for the cursor
	sentID  uint32  // the pen that the screen that shows has; see unsent
	last    rune    // for REP: what was just printed, 0 after anything else
	region          // DECSTBM
	history history // of the main screen

	changed  bool // since Damage
	scrolled int  // the same, in lines

	run []rune // scratch: the run of characters being printed
	out []byte // scratch: bytes for vt10x
}

type region struct{ top, bottom int }

// writer is how characters are written.
type writer struct {
	pen     pen
	penID   uint32 // pen's number
	origin  bool   // DECOM
	charset charset
}

// saved is what DECSC saves.
type saved struct {
	writer
	x, y    int
	pending bool // waiting to wrap
}

// unsent is no style's number.
const unsent = ^uint32(0)

// The modes that there are, beside the mouse's, 6 and 1049.
const (
	initialModes = control.Wrap | control.CursorVisible | control.AltScroll
	knownModes   = initialModes | control.AppCursor | control.Reverse | control.CursorBlink | control.AppKeypad |
		control.Backspace | control.Focus | control.Paste | control.Sync | control.Scheme | control.Insert | control.Newline
)

// New makes an engine on vt10x.
func New(o emulator.Options) emulator.Emulator {
	e := &engine{version: o.Version, modes: control.NewModes(knownModes, initialModes)}
	e.LimitHistory(o.History)
	e.cols, e.rows = clampSize(o.Cols, o.Rows)
	e.reset()
	return e
}

// LimitHistory implements emulator.Emulator.
func (e *engine) LimitHistory(lines int) {
	lines = cmp.Or(lines, emulator.DefaultHistory)
	e.history.limit = min(max(lines, 0), emulator.MaxHistory)
	e.history.trim()
}

func clampSize(cols, rows int) (int, int) {
	return min(max(cols, 1), emulator.MaxCols), min(max(rows, 1), emulator.MaxRows)
}

// reset is the state after RIS.
func (e *engine) reset() {
	e.history.lines = nil
	e.modes.Reset()
	e.sys.Reset()
	e.tabs = control.DefaultTabs(e.cols)
	e.styles = styles{list: []pen{{}}, ids: map[pen]uint32{{}: 0}, sweep: sweepStyles}
	e.writer, e.saved, e.last = writer{}, [2]saved{}, 0
	e.renew()
}

// renew replaces vt10x by a fresh one on the main screen.
func (e *engine) renew() {
	for i := range e.vts {
		e.vts[i] = inner.New(inner.WithSize(e.cols, e.rows))
	}
	e.origin = false
	e.show(0)
	e.setRegion(0, e.rows-1)
}

// show makes a screen the one that shows.
func (e *engine) show(screen int) {
	e.alt, e.sentID, e.changed = screen, unsent, true
	e.setRegion(e.top, e.bottom)
	e.sendWrap()
}

// fenced does something to vt10x. A panic, which nothing known can cause, costs the
// screens and no more.
func (e *engine) fenced(do func()) {
	defer func() {
		if recover() != nil {
			e.renew()
		}
	}()
	do()
	e.changed = true
}

// send gives bytes to vt10x. They are made by this package, never the child's own.
func (e *engine) send(p []byte) {
	if len(p) > 0 {
		e.fenced(func() { e.vts[e.alt].Write(p) }) //nolint:errcheck // never fails
	}
}

func (e *engine) sendString(s string) {
	e.out = append(e.out[:0], s...)
	e.send(e.out)
}

// sendCSI sends CSI with parameters.
func (e *engine) sendCSI(final byte, params ...int) {
	e.out = append(e.out[:0], "\x1b["...)
	for i, n := range params {
		if i > 0 {
			e.out = append(e.out, ';')
		}
		e.out = strconv.AppendInt(e.out, int64(n), 10)
	}
	e.send(append(e.out, final))
}

// place moves the cursor.
func (e *engine) place(x, y int) { e.sendCSI('H', y+1, x+1) }

// setRegion sets the scroll region, which also moves the cursor home.
func (e *engine) setRegion(top, bottom int) {
	e.region = region{top, bottom}
	e.sendCSI('r', top+1, bottom+1)
}

func (e *engine) sendWrap() {
	if e.modes.Has(control.Wrap) {
		e.sendString("\x1b[?7h")
	} else {
		e.sendString("\x1b[?7l")
	}
}

// innerWrapNext is a bit of vt10x's cursor state, which it does not export.
const innerWrapNext = 1 << 1

// at is the cursor: its place and whether the next character wraps.
func (e *engine) at() (x, y int, pending bool) {
	c := e.vts[e.alt].Cursor()
	return c.X, c.Y, c.State&innerWrapNext != 0
}

// Resize changes the grid. There is no reflow: lines are cut or extended at the
// right, and where the cursor would fall off the bottom, the lines above move
// up into history.
func (e *engine) Resize(cols, rows int) {
	cols, rows = clampSize(cols, rows)
	if cols == e.cols && rows == e.rows {
		return
	}
	shown := e.alt
	for e.alt = range e.vts {
		_, y, _ := e.at()
		slide := max(0, y-rows+1)
		e.saveTop(slide)
		s := &e.saved[e.alt]
		s.x, s.y = min(s.x, cols-1), min(max(0, s.y-slide), rows-1)
		e.sendString("\x1b[39m") // New cells are in the default style.
		e.fenced(func() { e.vts[e.alt].Resize(cols, rows) })
	}
	e.alt = shown
	e.cols, e.rows = cols, rows
	e.tabs = e.tabs.Resize(cols)
	e.region = region{0, rows - 1}
	e.sentID, e.last = unsent, 0 // The cursor may no longer be behind it.
}

func (e *engine) Size() (cols, rows int) { return e.cols, e.rows }

func (e *engine) HistoryLen() int { return len(e.history.lines) }

func (e *engine) Cursor() emulator.Cursor {
	x, y, _ := e.at()
	return e.modes.Cursor(x, y)
}

func (e *engine) Modes() emulator.Modes {
	m := e.modes.Emulator()
	m.AltScreen = e.alt > 0
	return m
}

func (e *engine) Title() string { return e.sys.Title }

func (e *engine) Palette() emulator.Palette {
	p := e.sys.Palette
	p.Indexed = maps.Clone(p.Indexed)
	return p
}

func (e *engine) SetColors(c emulator.Colors) { e.sys.SetColors(c, e.modes.Has(control.Scheme)) }

func (e *engine) Events() []emulator.Event { return e.sys.Events() }

// Damage says that everything may have changed: vt10x's own flags are cleared by every
// write.
func (e *engine) Damage() emulator.Damage {
	d := emulator.Damage{All: e.changed, Scrolled: e.scrolled}
	e.changed, e.scrolled = false, 0
	d.Lines = make([]emulator.Span, e.rows)
	return d
}

// Wrapped is false: vt10x marks cells before which a line once wrapped, and not which
// lines still do.
func (e *engine) Wrapped(int) bool { return false }

// Mark does nothing: this engine has no marks, and Marks and SnapshotMarks give
// none.
func (e *engine) Mark(uint64) {}

func (e *engine) Marks(buf []emulator.Mark) []emulator.Mark { return buf }

func (e *engine) SnapshotMarks(buf []byte, history int) ([]byte, []emulator.Cut) {
	return e.Snapshot(buf, history), nil
}
