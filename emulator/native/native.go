package native

import (
	"unicode/utf8"

	"tandemux/emulator"
)

// Engine is one terminal's screen; see emulator.Emulator. Make one with New.
type Engine struct {
	cols, rows int
	version    string
	checksums  bool

	// Grid.
	screens [2]screen // main, alternate
	scr     *screen   // the one that shows
	hist    history
	styles  styles
	texts   clusters
	links   links
	pics    pictures

	// Writing.
	cur         cursor
	last        lastPrint
	top, bot    int // scroll region, rows
	left, right int // scroll region, columns
	tabs        []bool
	link        *link
	penBits     cell // cur.pen and link interned, unless penStale
	penStale    bool
	memo        *sgrMemo // nil until the first SGR
	blankBits   cell     // a blank in blankBG
	blankBG     emulator.Color
	plain       bool // ASCII is printed as it is: no charset, no insert mode

	// State that a child set.
	flags    flags
	savedSet map[int]bool // XTSAVE
	mouse    emulator.Mouse
	mouseEnc emulator.MouseEncoding
	keyMods  int // modifyOtherKeys
	level    int // DECSCL, 1 to 4
	extent   int // DECSACE
	sumMode  int // XTCHECKSUM
	special  [maxSpecial]emulator.Color
	shape    int // DECSCUSR, 0 is the default
	title    string
	titles   []string
	palette  emulator.Palette
	outer    emulator.Colors
	marks    int // at least as many as there are

	parser parser

	// For the caller.
	damage    []emulator.Span
	damageAll bool
	scrolled  int
	events    []emulator.Event
	eventSize int
	spans     []emulator.Span
	unhandled int

	// Scratch.
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
	charsets charsets
}

// lastPrint is the cell printed last, while nothing has moved the cursor since:
// the cluster in it may grow, and REP repeats it.
type lastPrint struct {
	ok   bool
	x, y int
	r    rune // for REP: the rune that began it; see intervene
}

// New makes an engine.
func New(o emulator.Options) emulator.Emulator { return newEngine(o) }

func newEngine(o emulator.Options) *Engine {
	e := &Engine{
		cols:    clamp(o.Cols, 1, emulator.MaxCols),
		rows:    clamp(o.Rows, 1, emulator.MaxRows),
		version: o.Version,

		checksums: o.Checksums,
	}
	e.hist = newHistory(historyLimit(o.History))
	e.styles = newStyles()
	e.texts = newClusters()
	for i := range e.screens {
		e.screens[i].resize(e.cols, e.rows)
	}
	e.damage = make([]emulator.Span, e.rows)
	e.reset()
	return e
}

// historyLimit is what Options.History means.
func historyLimit(lines int) int {
	if lines == 0 {
		return emulator.DefaultHistory
	}
	return clamp(lines, 0, emulator.MaxHistory)
}

// LimitHistory implements emulator.Emulator.
func (e *Engine) LimitHistory(lines int) {
	e.hist.setLimit(historyLimit(lines))
	e.hist.trim()
}

func clamp(v, lo, hi int) int { return max(lo, min(v, hi)) }

// Size implements emulator.Emulator.
func (e *Engine) Size() (cols, rows int) { return e.cols, e.rows }

// HistoryLen implements emulator.Emulator.
func (e *Engine) HistoryLen() int { return e.hist.len() }

// Line implements emulator.Emulator.
func (e *Engine) Line(y int, buf []emulator.Cell) []emulator.Cell {
	if y < 0 {
		if -y > e.hist.len() {
			return buf
		}
		return e.historyLine(e.hist.len()+y, buf)
	}
	if y >= e.rows {
		return buf
	}
	for _, c := range e.scr.lines[y].cells {
		buf = append(buf, e.decode(c))
	}
	return buf
}

// decode gives a cell as callers see it.
func (e *Engine) decode(c cell) emulator.Cell {
	if c == 0 {
		return emulator.Cell{Width: 1}
	}
	st := &e.styles.list[c.style()]
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
		out.Rune, out.Combining = splitCluster(e.texts.list[c&runeMask])
		return out
	}
	out.Rune = rune(c & runeMask)
	return out
}

// splitCluster gives a cluster's first rune and the rest.
func splitCluster(s string) (rune, string) {
	r, n := utf8.DecodeRuneInString(s)
	return r, s[n:]
}

// Wrapped implements emulator.Emulator.
func (e *Engine) Wrapped(y int) bool {
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
	c := emulator.Cursor{X: e.cur.x, Y: e.cur.y, Visible: e.flags.has(flagCursor)}
	c.Shape, c.Blink = cursorShape(e.shape)
	c.Default = e.shape == 0
	if e.shape == 0 {
		c.Blink = e.flags.has(flagCursorBlink)
	}
	return c
}

// cursorShape decodes DECSCUSR's parameter.
func cursorShape(n int) (emulator.CursorShape, bool) {
	if n == 0 {
		return emulator.CursorBlock, false
	}
	return emulator.CursorShape((n - 1) / 2), n%2 == 1
}

// Modes implements emulator.Emulator.
func (e *Engine) Modes() emulator.Modes {
	has := e.flags.has
	return emulator.Modes{
		AltScreen:        e.alt(),
		AppCursor:        has(flagAppCursor),
		AppKeypad:        has(flagAppKeypad),
		BracketedPaste:   has(flagPaste),
		FocusEvents:      has(flagFocus),
		Mouse:            e.mouse,
		MouseEncoding:    e.mouseEnc,
		AltScroll:        has(flagAltScroll),
		Sync:             has(flagSync),
		Graphemes:        has(flagGraphemes),
		ColorScheme:      has(flagScheme),
		ReverseScreen:    has(flagReverse),
		ModifyOtherKeys:  e.keyMods,
		Kitty:            e.scr.kitty.flags(),
		Newline:          has(flagNewline),
		BackspaceSendsBS: has(flagBackspace),
	}
}

func (e *Engine) alt() bool { return e.scr == &e.screens[1] }

// Title implements emulator.Emulator.
func (e *Engine) Title() string { return e.title }

// Palette implements emulator.Emulator.
func (e *Engine) Palette() emulator.Palette {
	p := e.palette
	if p.Indexed != nil {
		p.Indexed = make(map[uint8]emulator.Color, len(e.palette.Indexed))
		for k, v := range e.palette.Indexed {
			p.Indexed[k] = v
		}
	}
	return p
}

// Unhandled counts the sequences that were understood as such but do nothing
// here, for tests.
func (e *Engine) Unhandled() int { return e.unhandled }

// Damage implements emulator.Emulator.
func (e *Engine) Damage() emulator.Damage {
	d := emulator.Damage{All: e.damageAll, Scrolled: e.scrolled}
	e.spans = append(e.spans[:0], e.damage...)
	for i, s := range e.spans {
		if s.From >= s.To {
			e.spans[i] = emulator.Span{}
		}
	}
	d.Lines = e.spans
	e.clearDamage()
	return d
}

func (e *Engine) clearDamage() {
	for i := range e.damage {
		e.damage[i] = emulator.Span{From: emulator.MaxCols}
	}
	e.damageAll, e.scrolled = false, 0
}

// mark records that cells [from, to) of screen line y changed.
func (e *Engine) mark(y, from, to int) {
	d := &e.damage[y]
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
	for y := from; y <= to; y++ {
		e.damage[y] = emulator.Span{From: 0, To: e.cols}
	}
}
