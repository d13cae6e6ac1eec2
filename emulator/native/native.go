package native

import (
	"maps"
	"unicode/utf8"

	"tandemux/emulator"
	"tandemux/emulator/control"
)

// Engine is one terminal's screen; see emulator.Emulator. Make one with New.
type Engine struct {
	cols, rows int

	// Grid.
	screens [2]screen // main, alternate
	scr     *screen   // the one that shows
	hist    history
	tables
	pics  pictures
	marks int // an upper bound of the number of marks

	// Writing.
	cur  cursor
	last lastPrint
	margins
	tabs control.Tabs
	inks
	late late

	// State that a child set.
	modes control.Modes
	sys   control.System
	conformance

	parser  control.Parser
	changes // for the caller
	scratch
}

// tables have what cells refer to by index.
type tables struct {
	styles styles
	texts  clusters
	links  links
}

// margins are the scroll region, all four sides inclusive.
type margins struct{ top, bot, left, right int }

// inks are the interned styles for printing and erasing.
type inks struct {
	link      *link
	penBits   cell // the style of cursor.pen and link; out of date if penStale
	penStale  bool
	memo      control.SGRMemo
	blankBits cell // an empty cell with background blankBG
	blankBG   emulator.Color
	plain     bool // ASCII needs no mapping or shifting: no character set, no insert mode, not doubled
	doubled   bool // some line is not of single size, or was after the last control
}

// conformance is what the terminal reports about itself, and what the child chose of it.
type conformance struct {
	version string
	allow   emulator.Allowed
	level   int // DECSCL, 1 to 4
	extent  int // DECSACE
	pens    control.Pens
	read    func(command []byte) []byte // Options.Read
}

// changes is what the next Damage returns.
type changes struct {
	damage    []emulator.Span
	damageAll bool
	scrolled  int
	spans     []emulator.Span // returned by the last call
}

// scratch is reused memory.
type scratch struct {
	rowBuf  []*row
	textBuf []byte
	markBuf []mark
}

// cursor is what DECSC saves.
type cursor struct {
	x, y     int
	pending  bool // the last column was written: the next character wraps first
	origin   bool // DECOM
	pen      emulator.Style
	charsets control.Charsets
}

// lastPrint is the cell printed last. It is ok until something else moves the cursor or
// changes the grid: until then its cluster may grow, and REP repeats it.
type lastPrint struct {
	ok   bool
	x, y int
	r    rune // the cell's first rune, for REP; 0 if REP must not repeat it (intervene)
}

// New makes an engine.
func New(o emulator.Options) emulator.Emulator { return newEngine(o) }

func newEngine(o emulator.Options) *Engine {
	e := &Engine{
		cols:  clamp(o.Cols, 1, emulator.MaxCols),
		rows:  clamp(o.Rows, 1, emulator.MaxRows),
		modes: control.NewModes(^control.ISOProtect, defaultFlags),
	}
	e.version, e.allow, e.read = o.Version, o.Allow, o.Read
	e.late.least = minLate
	e.hist = newHistory(historyLimit(o.History))
	e.styles = newStyles()
	e.texts = clusters{index: map[string]uint32{}, limit: minClusters}
	e.screens[0].resize(e.cols, e.rows)
	e.damage = make([]emulator.Span, e.rows)
	e.reset()
	return e
}

// historyLimit returns the number of lines that Options.History stands for.
func historyLimit(lines int) int {
	if lines == 0 {
		return emulator.DefaultHistory
	}
	return clamp(lines, 0, emulator.MaxHistory)
}

// LimitHistory implements emulator.Emulator.
func (e *Engine) LimitHistory(lines int) {
	e.flush()
	e.hist.setLimit(historyLimit(lines))
	e.hist.trim()
}

func clamp(v, lo, hi int) int { return max(lo, min(v, hi)) }

// Size implements emulator.Emulator.
func (e *Engine) Size() (cols, rows int) { return e.cols, e.rows }

// HistoryLen implements emulator.Emulator.
func (e *Engine) HistoryLen() int {
	e.flush()
	return e.hist.len()
}

// Line implements emulator.Emulator.
func (e *Engine) Line(y int, buf []emulator.Cell) []emulator.Cell {
	e.flush()
	if y < 0 {
		if -y > e.hist.len() {
			return buf
		}
		l := e.hist.at(e.hist.len() + y)
		return enlarge(e.decodeLine(e.hist.data(l), l, buf), len(buf), l.size())
	}
	if y >= e.rows {
		return buf
	}
	n, r := len(buf), e.scr.lines[y]
	for _, c := range r.cells[:r.columns()] {
		buf = append(buf, e.decode(c))
	}
	if buf = enlarge(buf, n, r.size); len(buf) < n+e.cols {
		buf = append(buf, emulator.Cell{Width: 1}) // the last column of an odd width
	}
	return buf
}

// decode returns a cell in the form that callers get.
func (tb *tables) decode(c cell) emulator.Cell {
	if c == 0 {
		return emulator.Cell{Width: 1}
	}
	st := &tb.styles.list[c.style()]
	out := emulator.Cell{Width: 1, Tab: uint8(c >> tabShift), Style: st.Style}
	if st.link != nil {
		out.Link, out.LinkID = st.link.uri, st.link.id
	}
	switch c & kindMask {
	case wideLead:
		out.Width = 2
	case wideTail:
		out.Width = 0
		return out
	case padding:
		return out
	}
	if c&clusterBit != 0 {
		out.Rune, out.Combining = splitCluster(tb.texts.list[c&runeMask])
		return out
	}
	out.Rune = rune(c & runeMask)
	return out
}

// splitCluster returns a cluster's first rune and the rest.
func splitCluster(s string) (rune, string) {
	r, n := utf8.DecodeRuneInString(s)
	return r, s[n:]
}

// Wrapped implements emulator.Emulator.
func (e *Engine) Wrapped(y int) bool {
	e.flush()
	switch {
	case y >= e.rows || -y > e.hist.len():
		return false
	case y < 0:
		return e.hist.at(e.hist.len() + y).wrapped()
	}
	return e.scr.lines[y].wrapped
}

// Cursor implements emulator.Emulator.
func (e *Engine) Cursor() emulator.Cursor {
	e.flush()
	return e.modes.Cursor(e.scr.lines[e.cur.y].size.drawn(e.cur.x), e.cur.y)
}

// Modes implements emulator.Emulator.
func (e *Engine) Modes() emulator.Modes {
	m := e.modes.Emulator()
	m.AltScreen, m.Kitty, m.Pointer = e.alt(), e.scr.kitty.flags(), e.scr.pointers.Top()
	return m
}

func (e *Engine) alt() bool { return e.scr == &e.screens[1] }

// Title implements emulator.Emulator.
func (e *Engine) Title() string { return e.sys.Title }

// Palette implements emulator.Emulator.
func (e *Engine) Palette() emulator.Palette {
	p := e.sys.Palette.Palette
	p.Indexed = maps.Clone(p.Indexed)
	return p
}

// SetColors implements emulator.Emulator.
func (e *Engine) SetColors(c emulator.Colors) { e.sys.SetColors(c, e.modes.Has(control.Scheme)) }

// Events implements emulator.Emulator.
func (e *Engine) Events() []emulator.Event { return e.sys.Events() }

// Damage implements emulator.Emulator.
func (e *Engine) Damage() emulator.Damage {
	e.flush()
	d := emulator.Damage{All: e.damageAll, Scrolled: e.scrolled}
	e.spans = append(e.spans[:0], e.damage...)
	for i, s := range e.spans {
		if s.From >= s.To {
			e.spans[i] = emulator.Span{}
		} else if r := e.scr.lines[i]; r.size != singleSize {
			e.spans[i] = emulator.Span{From: 2 * s.From, To: min(2*s.To, e.cols)}
		}
	}
	d.Lines = e.spans
	e.clearDamage()
	return d
}

func (c *changes) clearDamage() {
	for i := range c.damage {
		c.damage[i] = emulator.Span{From: emulator.MaxCols}
	}
	c.damageAll, c.scrolled = false, 0
}

// mark records that cells [from, to) of screen line y changed.
func (c *changes) mark(y, from, to int) {
	d := &c.damage[y]
	if from < d.From {
		d.From = from
	}
	if to > d.To {
		d.To = to
	}
}

// markRows records that whole lines [from, to] changed.
func (e *Engine) markRows(from, to int) {
	if from == 0 && to == e.rows-1 {
		e.damageAll = true
		return
	}
	d, all := e.damage[from:to+1], emulator.Span{From: 0, To: e.cols}
	for i := range d {
		d[i] = all
	}
}
