package vt10x

import (
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
