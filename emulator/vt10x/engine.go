package vt10x

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"

	inner "github.com/hinshun/vt10x"

	"tandemux/emulator"
	"tandemux/emulator/control"
)

type engine struct {
	vt         inner.Terminal
	cols, rows int
	version    string

	parser control.Parser
	sys    control.System
	modes  control.Modes
	tabs   control.Tabs

	pen, sent   emulator.Style // as the program set it; as vt10x has it
	last        rune           // for REP: what was just printed, 0 after anything else
	top, bottom int            // DECSTBM
	saved       saved          // DECSC
	main        []row          // the main screen while the alternate one shows, else nil

	history  []row
	limit    int  // of history
	changed  bool // since Damage
	scrolled int  // the same, in lines

	out []byte // scratch: bytes for vt10x
}

// row is a line without the erased cells at its end.
type row []inner.Glyph

// saved is what DECSC saves.
type saved struct {
	inner.Cursor
	pen emulator.Style
}

// What vt10x keeps to itself: attributes of a glyph, and states of the cursor.
const (
	reverse = 1 << iota
	underline
	bold
	drawing // DEC's line drawing
	italic
	blink

	wrapNext = 1 << 1
	origin   = 1 << 2
)

const (
	initialModes = control.Wrap | control.CursorVisible | control.AltScroll
	knownModes   = initialModes | control.AppCursor | control.Reverse | control.CursorBlink | control.AppKeypad |
		control.Backspace | control.Focus | control.Paste | control.Sync | control.Scheme | control.Newline
)

// New returns an engine.
func New(o emulator.Options) emulator.Emulator {
	e := &engine{version: o.Version, modes: control.NewModes(knownModes, initialModes)}
	e.LimitHistory(o.History)
	e.cols, e.rows = clampSize(o.Cols, o.Rows)
	e.reset()
	return e
}

func clampSize(cols, rows int) (int, int) {
	return min(max(cols, 1), emulator.MaxCols), min(max(rows, 1), emulator.MaxRows)
}

// LimitHistory implements emulator.Emulator.
func (e *engine) LimitHistory(lines int) {
	e.limit = min(max(cmp.Or(lines, emulator.DefaultHistory), 0), emulator.MaxHistory)
	e.trim()
}

func (e *engine) trim() {
	n := max(0, len(e.history)-e.limit)
	clear(e.history[:n])
	e.history = e.history[n:]
}

// reset is RIS.
func (e *engine) reset() {
	e.history, e.saved, e.pen, e.last = nil, saved{}, emulator.Style{}, 0
	e.modes.Reset()
	e.sys.Reset()
	e.tabs = control.DefaultTabs(e.cols)
	e.renew()
}

// renew puts a fresh vt10x in place.
func (e *engine) renew() {
	e.vt, e.main, e.sent, e.changed = inner.New(inner.WithSize(e.cols, e.rows)), nil, emulator.Style{}, true
	e.top, e.bottom = 0, e.rows-1
	e.saved.Cursor = e.vt.Cursor()
	e.setWrap()
}

// setWrap tells vt10x whether lines wrap.
func (e *engine) setWrap() { e.sendf("\x1b[?7%c", control.SetReset(e.modes.Has(control.Wrap))) }

// fenced runs something of vt10x.
func (e *engine) fenced(do func()) {
	defer func() {
		if recover() != nil {
			e.renew()
		}
	}()
	do()
	e.changed = true
}

func (e *engine) send(p []byte) {
	if len(p) > 0 {
		e.fenced(func() { e.vt.Write(p) }) //nolint:errcheck // never fails
	}
}

// style has vt10x draw in a style, as far as it can.
func (e *engine) style(to emulator.Style) {
	to = emulator.Style{FG: known(to.FG), BG: known(to.BG), Attrs: to.Attrs & (emulator.Bold | emulator.Italic | emulator.Blink | emulator.Reverse), Underline: min(to.Underline, emulator.Single)}
	e.out = emulator.AppendStyle(e.out[:0], e.sent, to)
	e.sent = to
	e.send(e.out)
}

// known is a colour that vt10x doesn't take for another: the darkest blues are its
// indices.
func known(c emulator.Color) emulator.Color {
	if r, g, b, ok := c.RGB(); ok && r == 0 && g == 0 {
		return emulator.RGB(0, 1, b)
	}
	return c
}

// colorOf is what vt10x calls a colour.
func colorOf(c inner.Color) emulator.Color {
	switch {
	case c >= inner.DefaultFG:
		return 0
	case c < 256:
		return emulator.Indexed(uint8(c))
	}
	return emulator.RGB(uint8(c>>16), uint8(c>>8), uint8(c))
}

// cellOf is a cell as callers see it.
func cellOf(g inner.Glyph) emulator.Cell {
	if g.Char == ' ' && g.Mode&(reverse|underline) == 0 {
		return emulator.Cell{Width: 1, Style: emulator.Style{BG: colorOf(g.BG)}}
	}
	c := emulator.Cell{Rune: g.Char, Width: 1, Style: emulator.Style{FG: colorOf(g.FG), BG: colorOf(g.BG)}}
	if g.Mode&reverse != 0 {
		c.Style.FG, c.Style.BG = c.Style.BG, c.Style.FG
	}
	for bit, attr := range map[int16]emulator.Attrs{reverse: emulator.Reverse, bold: emulator.Bold, italic: emulator.Italic, blink: emulator.Blink} {
		if g.Mode&bit != 0 {
			c.Style.Attrs |= attr
		}
	}
	if g.Mode&underline != 0 {
		c.Style.Underline = emulator.Single
	}
	return c
}

// Line implements emulator.Emulator.
func (e *engine) Line(y int, buf []emulator.Cell) []emulator.Cell {
	switch {
	case y >= e.rows || y < -len(e.history):
		return buf
	case y < 0:
		return e.cells(e.history[len(e.history)+y], buf)
	}
	for x := range e.cols {
		buf = append(buf, cellOf(e.vt.Cell(x, y)))
	}
	return buf
}

func (e *engine) cells(r row, buf []emulator.Cell) []emulator.Cell {
	for _, g := range r[:min(len(r), e.cols)] {
		buf = append(buf, cellOf(g))
	}
	return buf
}

// row copies a line of the screen.
func (e *engine) row(y int) row {
	r := make(row, e.cols)
	for x := range r {
		r[x] = e.vt.Cell(x, y)
	}
	for len(r) > 0 && cellOf(r[len(r)-1]) == (emulator.Cell{Width: 1}) {
		r = r[:len(r)-1]
	}
	return slices.Clip(r)
}

// saveTop saves the screen's first n lines, which are about to scroll away.
func (e *engine) saveTop(n int) {
	if e.main != nil || e.top > 0 || e.limit == 0 {
		return
	}
	for y := range min(n, e.bottom+1) {
		e.history = append(e.history, e.row(y))
		e.scrolled++
	}
	e.trim()
}

// at is where the cursor is; pending says that the next character wraps first.
func (e *engine) at() (x, y int, pending bool) {
	c := e.vt.Cursor()
	return c.X, c.Y, c.State&wrapNext != 0
}

// Write implements emulator.Emulator.
func (e *engine) Write(p []byte) {
	ps := &e.parser
	if n := ps.NHeld; n > 0 {
		ps.NHeld = 0
		p = append(append([]byte(nil), ps.Held[:n]...), p...)
	}
	for len(p) > 0 {
		if !ps.Ground() {
			p = p[ps.Feed(p, e):]
			continue
		}
		p = p[e.text(p):]
		switch {
		case len(p) == 0:
		case p[0] >= 0x80:
			ps.NHeld = copy(ps.Held[:], p)
			return
		default:
			if p[0] == 0x1b {
				ps.Escape()
			} else {
				e.Control(p[0])
			}
			p = p[1:]
		}
	}
}

// text prints what p begins with up to a control or the beginning of a character.
func (e *engine) text(p []byte) int {
	var run []rune
	i := 0
	for i < len(p) {
		b := p[i]
		if b < 0x20 || b == 0x7f || b >= 0x80 && !utf8.FullRune(p[i:]) {
			break
		}
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			// The longest that could have begun a character becomes one U+FFFD.
			for n < len(p)-i && n < utf8.UTFMax-1 && !utf8.FullRune(p[i:i+n+1]) {
				n++
			}
		}
		if r < 0x80 || r >= 0xa0 { // C1 controls are dropped.
			run = append(run, r)
		}
		i += n
	}
	e.print(run)
	return i
}

// print prints characters. vt10x is told before each scroll, for the history.
func (e *engine) print(run []rune) {
	if len(run) == 0 {
		return
	}
	e.style(e.pen)
	x, y, pending := e.at()
	var piece []byte
	for _, r := range run {
		w := 1
		if r >= 0x300 {
			if w = emulator.RuneWidth(r); w == 2 {
				r = utf8.RuneError
			}
		}
		for range w {
			if pending && e.modes.Has(control.Wrap) {
				if x = 0; y == e.bottom {
					e.send(piece)
					piece = piece[:0]
					e.saveTop(1)
				} else {
					y = min(y+1, e.rows-1)
				}
			}
			piece = utf8.AppendRune(piece, r)
			e.last = r
			x++
			if pending = x >= e.cols; pending {
				x--
			}
		}
	}
	e.send(piece)
}

// Resize implements emulator.Emulator. vt10x keeps the lines around the cursor.
func (e *engine) Resize(cols, rows int) {
	cols, rows = clampSize(cols, rows)
	if cols == e.cols && rows == e.rows {
		return
	}
	_, y, _ := e.at()
	slide := max(0, y-rows+1)
	e.top, e.bottom = 0, e.rows-1
	e.saveTop(slide)
	if e.main != nil {
		e.main = slices.Concat(e.main[slide:], make([]row, rows))[:rows]
		for y, r := range e.main {
			e.main[y] = r[:min(len(r), cols)]
		}
	}
	e.style(emulator.Style{}) // of new cells
	e.cols, e.rows = cols, rows
	e.tabs = e.tabs.Resize(cols)
	e.bottom, e.last = rows-1, 0
	e.fenced(func() { e.vt.Resize(cols, rows) })
}

// Size implements emulator.Emulator.
func (e *engine) Size() (cols, rows int) { return e.cols, e.rows }

// HistoryLen implements emulator.Emulator.
func (e *engine) HistoryLen() int { return len(e.history) }

// Cursor implements emulator.Emulator.
func (e *engine) Cursor() emulator.Cursor {
	x, y, _ := e.at()
	return e.modes.Cursor(x, y)
}

// Modes implements emulator.Emulator.
func (e *engine) Modes() emulator.Modes {
	m := e.modes.Emulator()
	m.AltScreen = e.main != nil
	return m
}

// Title implements emulator.Emulator.
func (e *engine) Title() string { return e.sys.Title }

// Palette implements emulator.Emulator.
func (e *engine) Palette() emulator.Palette {
	p := e.sys.Palette.Palette
	p.Indexed = maps.Clone(p.Indexed)
	return p
}

// SetColors implements emulator.Emulator.
func (e *engine) SetColors(c emulator.Colors) { e.sys.SetColors(c, e.modes.Has(control.Scheme)) }

// Events implements emulator.Emulator.
func (e *engine) Events() []emulator.Event { return e.sys.Events() }

// Damage implements emulator.Emulator: all or nothing.
func (e *engine) Damage() emulator.Damage {
	d := emulator.Damage{All: e.changed, Lines: make([]emulator.Span, e.rows), Scrolled: e.scrolled}
	e.changed, e.scrolled = false, 0
	return d
}

// Wrapped implements emulator.Emulator: lines don't reflow.
func (e *engine) Wrapped(int) bool { return false }

// Mark implements emulator.Emulator: there are none.
func (e *engine) Mark(uint64) {}

// Marks implements emulator.Emulator.
func (e *engine) Marks(buf []emulator.Mark) []emulator.Mark { return buf }

// SnapshotMarks implements emulator.Emulator.
func (e *engine) SnapshotMarks(buf []byte, history int) ([]byte, []emulator.Cut) {
	return e.Snapshot(buf, history), nil
}
