package vt10x

import (
	"slices"

	inner "github.com/hinshun/vt10x"

	"tandemux/emulator"
)

// What stands in vt10x for cells that it cannot tell apart. A plain space is an
// erased cell.
const (
	typedSpace = '\uFDD0'
	secondHalf = '\uFDD1' // of a wide character
)

// glyph is a cell as vt10x and history hold it: a stand-in or character, and
// the number of its style.
type glyph struct {
	char rune
	id   uint32
}

func (e *engine) glyph(screen, x, y int) glyph {
	c := e.vts[screen].Cell(x, y)
	g := glyph{char: c.Char}
	if c.FG < inner.DefaultFG {
		g.id = uint32(c.FG)
	}
	return g
}

// row appends the glyphs of a screen's line y.
func (e *engine) row(screen, y int, buf []glyph) []glyph {
	for x := range e.cols {
		buf = append(buf, e.glyph(screen, x, y))
	}
	return buf
}

// decode appends a row's cells.
func (s *styles) decode(buf []emulator.Cell, row []glyph) []emulator.Cell {
	for x := 0; x < len(row); x++ {
		g := row[x]
		st := &s.list[min(int(g.id), len(s.list)-1)]
		c := emulator.Cell{Rune: g.char, Width: 1, Style: st.Style, Link: st.link, LinkID: st.linkID}
		wide := runeWidth(g.char) == 2
		switch {
		case g.char == typedSpace:
			c.Rune = ' '
		case wide && x+1 < len(row) && row[x+1].char == secondHalf:
			c.Width = 2
			buf = append(buf, c)
			c.Rune, c.Width = 0, 0
			x++
		case wide || g.char == ' ' || g.char == secondHalf: // Erased, or one half was.
			c = emulator.Cell{Width: 1, Style: emulator.Style{BG: st.Style.BG}}
		}
		buf = append(buf, c)
	}
	return buf
}

// runeWidth is 0, 1 or 2 columns.
func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	return emulator.RuneWidth(r)
}

func (e *engine) Line(y int, buf []emulator.Cell) []emulator.Cell {
	return e.line(e.alt, y, buf)
}

// line is Line of history and a screen.
func (e *engine) line(screen, y int, buf []emulator.Cell) []emulator.Cell {
	if y >= e.rows || y < -len(e.history.lines) {
		return buf
	}
	if y < 0 {
		l := e.history.lines[len(e.history.lines)+y]
		return e.styles.decode(buf, l[:min(len(l), e.cols)])
	}
	var row [256]glyph
	return e.styles.decode(buf, e.row(screen, y, row[:0]))
}

// history is the scrollback, oldest line first, without erased cells in the default
// style at the lines' ends.
type history struct {
	limit int
	lines [][]glyph
}

func (h *history) trim() {
	n := max(0, len(h.lines)-h.limit)
	clear(h.lines[:n])
	h.lines = h.lines[n:]
}

// saveTop puts the screen's first n lines into history, when a scroll by n
// from the top of the main screen is about to lose them.
func (e *engine) saveTop(n int) {
	if e.alt > 0 || e.top > 0 || e.history.limit == 0 {
		return
	}
	for y := range min(n, e.bottom+1) {
		l := e.row(0, y, make([]glyph, 0, e.cols))
		for len(l) > 0 && l[len(l)-1] == (glyph{char: ' '}) {
			l = l[:len(l)-1]
		}
		e.history.lines = append(e.history.lines, l)
		e.history.trim()
		e.scrolled++
	}
}

// Bounds of the style table: when to look for unused ones, and what can be told apart.
// Beyond maxStyles a new style is drawn as the default one.
const (
	sweepStyles = 1 << 14
	maxStyles   = 1 << 20
)

// pen is what cells are written with.
type pen struct {
	emulator.Style
	link, linkID string
}

// styles numbers the pens that cells were written with. Number 0 is the
// default one. Unused numbers are found by sweep and used again.
type styles struct {
	list  []pen
	ids   map[pen]uint32
	free  []uint32
	sweep int // the number in use at which to sweep next
}

// id numbers a pen.
func (s *styles) id(p pen) uint32 {
	id, ok := s.ids[p]
	if ok || len(s.ids) >= maxStyles {
		return id
	}
	if n := len(s.free); n > 0 {
		id, s.free = s.free[n-1], s.free[:n-1]
		s.list[id] = p
	} else {
		id = uint32(len(s.list))
		s.list = append(s.list, p)
	}
	s.ids[p] = id
	return id
}

// sweepStyles frees the numbers that no cell, pen or saved cursor has.
func (e *engine) sweepStyles() {
	s := &e.styles
	used := make([]bool, len(s.list))
	rows := slices.Clip(e.history.lines)
	for i := range e.vts {
		for y := range e.rows {
			rows = append(rows, e.row(i, y, nil))
		}
	}
	for _, row := range rows {
		for _, g := range row {
			used[g.id] = true
		}
	}
	used[e.penID], used[e.saved[0].penID], used[e.saved[1].penID] = true, true, true
	for p, id := range s.ids {
		if id > 0 && !used[id] {
			delete(s.ids, p)
			s.list[id] = pen{}
			s.free = append(s.free, id)
		}
	}
	s.sweep = max(sweepStyles, 2*len(s.ids))
	e.sentID = unsent
}

// setPen changes the pen; vt10x hears of it when it next matters.
func (e *engine) setPen(p pen) {
	if e.pen == p {
		return
	}
	e.pen = p
	if len(e.styles.ids) >= e.styles.sweep {
		e.sweepStyles()
	}
	e.penID = e.styles.id(p)
}

// sendPen brings vt10x's pen up to date.
func (e *engine) sendPen() { e.sendID(e.penID) }

func (e *engine) sendID(id uint32) {
	switch {
	case id == e.sentID:
		return
	case id == 0:
		e.sendCSI('m', 39)
	default:
		e.sendCSI('m', 38, 2, int(id>>16), int(id>>8&0xff), int(id&0xff))
	}
	e.sentID = id
}
