package vt10x

import (
	"fmt"
	"slices"

	inner "github.com/hinshun/vt10x"

	"tandemux/emulator"
)

// snapshot writes VT bytes that rebuild an engine.
type snapshot struct {
	e   *engine
	buf []byte
	pen emulator.Style
}

// Snapshot implements emulator.Emulator. What REP would repeat is not in it.
func (e *engine) Snapshot(buf []byte, history int) []byte {
	lines := e.history
	if history >= 0 {
		lines = lines[max(0, len(lines)-history):]
	}
	s := &snapshot{e: e, buf: e.tabs.Append(buf)}
	if e.main != nil {
		s.lines(slices.Concat(lines, e.main))
		s.cursor(e.saved.Cursor, e.saved.pen, 0)
		s.textf("\x1b[?1049h")
		lines = nil
	} else {
		s.cursor(e.saved.Cursor, e.saved.pen, 0)
		s.textf("\x1b7")
	}
	s.cursor(inner.Cursor{}, emulator.Style{}, 0)
	lines = slices.Clone(lines)
	for y := range e.rows {
		lines = append(lines, e.row(y))
	}
	s.lines(lines)
	s.buf = e.sys.Append(s.buf)
	if e.top > 0 || e.bottom < e.rows-1 {
		s.textf("\x1b[%d;%dr", e.top+1, e.bottom+1)
	}
	s.buf = e.modes.Append(s.buf, 0)
	c := e.vt.Cursor()
	draws := c.Attr.Mode&drawing != 0
	c.Attr.Mode = 0
	s.cursor(c, emulator.Style{}, e.top)
	if c.State&wrapNext != 0 { // The last character again, to wait behind it.
		s.cell(cellOf(e.vt.Cell(c.X, c.Y)))
	}
	s.setPen(e.pen)
	if draws {
		s.textf("\x1b(0")
	}
	return e.parser.AppendPending(s.buf)
}

func (s *snapshot) textf(format string, args ...any) { s.buf = fmt.Appendf(s.buf, format, args...) }

func (s *snapshot) setPen(to emulator.Style) {
	s.buf = emulator.AppendStyle(s.buf, s.pen, to)
	s.pen = to
}

// lines writes lines below each other.
func (s *snapshot) lines(lines []row) {
	for i, line := range lines {
		if i > 0 {
			s.textf("\r\n")
		}
		for _, g := range line[:min(len(line), s.e.cols)] {
			s.cell(cellOf(g))
		}
		s.setPen(emulator.Style{}) // A scroll fills with the background.
	}
}

// cell prints a cell; an empty one as a space, which vt10x takes for the same.
func (s *snapshot) cell(c emulator.Cell) {
	s.setPen(c.Style)
	if c.Rune == 0 {
		c.Rune = ' '
	}
	s.textf("%c", c.Rune)
}

// cursor writes a cursor's place, with the region's first line, its character set and pen.
func (s *snapshot) cursor(c inner.Cursor, pen emulator.Style, top int) {
	final, charset := 'l', 'B'
	if c.State&origin != 0 {
		final = 'h'
		c.Y -= top
	}
	if c.Attr.Mode&drawing != 0 {
		charset = '0'
	}
	s.textf("\x1b[?6%c\x1b[%d;%dH\x1b(%c", final, c.Y+1, c.X+1, charset)
	s.setPen(pen)
}
