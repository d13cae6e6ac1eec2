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
	marginGap  = '\uFDD2' // the free cell before a wide character that wrapped
)

// glyph is a cell as vt10x and history hold it: a stand-in or character, and
// the number of its style.
type glyph struct {
	char rune
	id   uint32
}

func (e *engine) glyph(x, y int) (g glyph, wrapped bool) {
	c := e.vt.Cell(x, y)
	g.char = c.Char
	if c.FG < inner.DefaultFG {
		g.id = uint32(c.FG)
	}
	return g, c.Mode&innerWrapped != 0
}

// line is a row of glyphs.
type line struct {
	glyphs  []glyph
	wrapped bool
}

// grid is a copy of a screen.
type grid struct{ lines []line }

// copyLine gives screen line y.
func (e *engine) copyLine(y int, buf []glyph) line {
	l := line{glyphs: buf[:0]}
	for x := range e.cols {
		g, wrapped := e.glyph(x, y)
		l.glyphs = append(l.glyphs, g)
		l.wrapped = wrapped
	}
	return l
}

func (e *engine) copyScreen() grid {
	lines := make([]line, e.rows)
	for y := range lines {
		lines[y] = e.copyLine(y, nil)
	}
	return grid{lines}
}

// blankGlyph is an erased cell in the default style.
var blankGlyph = glyph{char: ' '}

// trim cuts the erased cells in the default style off the end.
func (l line) trim() line {
	n := len(l.glyphs)
	for n > 0 && l.glyphs[n-1] == blankGlyph {
		n--
	}
	l.glyphs = l.glyphs[:n]
	return l
}

// decode appends a row's cells.
func (s *styles) decode(buf []emulator.Cell, row []glyph) []emulator.Cell {
	for x := 0; x < len(row); x++ {
		g := row[x]
		st := &s.list[min(int(g.id), len(s.list)-1)]
		c := emulator.Cell{Rune: g.char, Width: 1, Style: st.Style, Link: st.Link, LinkID: st.LinkID}
		switch {
		case g.char == typedSpace:
			c.Rune = ' '
		case g.char == marginGap:
			c = emptyCell(&s.list[0])
		case g.char == ' ' || g.char == secondHalf:
			c = emptyCell(st)
		case g.char < 0x300 || runeWidth(g.char) != 2:
		case x+1 < len(row) && row[x+1].char == secondHalf:
			c.Width = 2
			buf = append(buf, c)
			c.Rune, c.Width = 0, 0
			x++
		default:
			// Its other half was overwritten.
			c = emptyCell(st)
		}
		buf = append(buf, c)
	}
	return buf
}

func emptyCell(st *emulator.Pen) emulator.Cell {
	return emulator.Cell{Width: 1, Style: emulator.Style{BG: st.Style.BG}}
}

// runeWidth is 0, 1 or 2 columns.
func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	return emulator.RuneWidth(r)
}

func (e *engine) Line(y int, buf []emulator.Cell) []emulator.Cell {
	if y >= e.rows || y < -e.history.len() {
		return buf
	}
	var row [256]glyph
	glyphs := e.line(y, row[:0]).glyphs
	return e.styles.decode(buf, glyphs[:min(len(glyphs), e.cols)])
}

// line is line y of history or of the screen.
func (e *engine) line(y int, buf []glyph) line {
	if y < 0 {
		return e.history.at(y)
	}
	return e.copyLine(y, buf)
}

func (e *engine) Wrapped(y int) bool {
	if y >= e.rows-1 || y < -e.history.len() {
		return false
	}
	if y >= 0 {
		if _, wrapped := e.glyph(e.cols-1, y); !wrapped {
			return false
		}
	}
	var a, b [256]glyph
	next := e.line(y+1, b[:0])
	if y == -1 && e.altMode != 0 {
		next = e.hidden.lines[0] // History belongs to the main screen.
	}
	return e.line(y, a[:0]).continues(next, e.cols)
}

// continues reports whether a line runs on into the next. Where the character
// in the last column or the wide one that made it wrap is gone, or the terminal
// has become wider, it no longer does.
func (l line) continues(next line, cols int) bool {
	if !l.wrapped || len(l.glyphs) < cols {
		return false
	}
	g := l.glyphs[cols-1].char
	switch {
	case g == ' ':
		return false
	case g == marginGap:
		return next.startsWide()
	case g == secondHalf:
		return cols > 1 && runeWidth(l.glyphs[cols-2].char) == 2
	}
	return runeWidth(g) == 1
}

func (l line) startsWide() bool {
	return len(l.glyphs) > 1 && l.glyphs[1].char == secondHalf && runeWidth(l.glyphs[0].char) == 2
}

// endBottom makes the screen's last line one that does not run on, after
// something took away the line below.
func (e *engine) endBottom() { e.unmark(e.cols-1, e.rows-1) }

// unmark takes the mark of a wrapped line off a cell, where vt10x keeps it, by
// writing the cell once more.
func (e *engine) unmark(x, y int) {
	g, wrapped := e.glyph(x, y)
	if !wrapped {
		return
	}
	cx, cy, pending := e.at()
	top, bottom := e.top, e.bottom
	e.sendRegion(0, e.rows-1) // So that even origin mode lets the cursor there.
	e.place(x, y)
	e.sendID(g.id)
	e.sendString(string(g.char))
	e.sendRegion(top, bottom)
	e.putBack(cx, cy, pending)
}

// unmarkInside takes the marks off all cells that are not in the last column,
// so that a shift does not bring them there.
func (e *engine) unmarkInside() {
	for y := range e.rows {
		for x := range e.cols - 1 {
			e.unmark(x, y)
		}
	}
}
