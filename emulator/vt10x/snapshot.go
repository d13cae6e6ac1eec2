package vt10x

import (
	"fmt"

	"tandemux/emulator"
	"tandemux/emulator/control"
)

// snapshot writes an engine's state as VT bytes.
type snapshot struct {
	e     *engine
	buf   []byte
	pen   pen
	cells []emulator.Cell
}

// Snapshot appends VT bytes that rebuild the state in a fresh engine of the
// same size: the main screen with its history first, then the alternate one if
// it shows, then what surrounds them. A sequence in progress comes last, so
// that the rest of it may follow.
func (e *engine) Snapshot(buf []byte, history int) []byte {
	first := -len(e.history.lines)
	if history >= 0 {
		first = max(first, -history)
	}
	s := &snapshot{e: e, buf: buf}
	s.buf = e.tabs.Append(s.buf)
	if e.alt > 0 {
		s.lines(0, first)
		s.state(e.saved[0]) // 1049 saves it.
		s.wait(e.saved[0], 0)
		s.text("\x1b[?1049h")
		s.state(saved{})
		s.text("\x1b[2J") // Entering filled it with the background.
		first = 0
	}
	if c := e.saved[e.alt]; c != (saved{}) {
		s.state(c)
		if c.pending {
			s.text(" ")
		}
		s.text("\x1b7")
		s.state(saved{})
		s.text("\x1b[2J")
	}
	s.lines(e.alt, first)
	s.buf = e.sys.Append(s.buf)
	s.setPen(pen{})
	if e.top > 0 || e.bottom < e.rows-1 {
		s.textf("\x1b[%d;%dr", e.top+1, e.bottom+1)
	}
	s.buf = e.modes.Append(s.buf, control.Insert)
	s.cursor()
	s.buf = e.parser.AppendPending(s.buf)
	return s.buf
}

func (s *snapshot) text(text string) { s.buf = append(s.buf, text...) }

func (s *snapshot) textf(format string, args ...any) { s.buf = fmt.Appendf(s.buf, format, args...) }

// lines writes history from line first on and a whole screen, starting at the
// top of an empty one.
func (s *snapshot) lines(screen, first int) {
	for y := first; y < s.e.rows; y++ {
		if y > first {
			s.setPen(pen{}) // A scroll fills with the background.
			s.text("\r\n")
		}
		s.cells = s.e.line(screen, y, s.cells[:0])
		for rest := s.cells; len(rest) > 0; {
			n := 1
			if c := &rest[0]; c.Rune != 0 {
				n = s.char(c)
			} else {
				for n < len(rest) && rest[n] == *c {
					n++
				}
				if !c.Style.BG.IsDefault() {
					s.setPen(pen{Style: c.Style})
					s.textf("\x1b[%dX", n)
				}
				if n < len(rest) {
					s.textf("\x1b[%dC", n)
				}
			}
			rest = rest[n:]
		}
	}
}

// char writes a cell that is not empty, and gives its width.
func (s *snapshot) char(c *emulator.Cell) int {
	s.setPen(pen{c.Style, c.Link, c.LinkID})
	s.text(string(c.Rune))
	return int(c.Width)
}

func (s *snapshot) setPen(p pen) {
	s.buf = emulator.AppendStyle(s.buf, s.pen.Style, p.Style)
	if s.pen.link != p.link || s.pen.linkID != p.linkID {
		s.buf = emulator.AppendLink(s.buf, p.link, p.linkID)
	}
	s.pen = p
}

// state makes the cursor, pen and character sets those of c.
func (s *snapshot) state(c saved) {
	s.textf("\x1b[?6%c\x1b[%d;%dH", control.SetReset(c.origin), c.y+1, c.x+1)
	s.writer(c.writer)
}

// writer makes the receiver write as w; the hyperlink is left out.
func (s *snapshot) writer(w writer) {
	for i, intermediate := range []string{"(", ")"} {
		final := "B"
		if w.charset.drawing[i] {
			final = "0"
		}
		s.text("\x1b" + intermediate + final)
	}
	s.text([]string{"\x0f", "\x0e"}[w.charset.gl])
	s.setPen(pen{Style: w.pen.Style})
}

// wait has the cursor of c, in the last column of a screen, wait to wrap, if it did: by
// writing what is there once more.
func (s *snapshot) wait(c saved, screen int) {
	if !c.pending {
		return
	}
	s.writer(writer{})
	s.cells = s.e.line(screen, c.y, s.cells[:0])
	x := c.x
	if s.cells[x].Width == 0 {
		x--
		s.text("\b")
	}
	if cell := s.cells[x]; cell.Rune == 0 {
		s.setPen(pen{Style: cell.Style})
		s.text(" \x1b[X")
	} else {
		s.char(&cell)
	}
	s.writer(c.writer)
}

// cursor places the cursor and gives it its pen. The character for REP comes from writing
// what is left of the cursor once more.
func (s *snapshot) cursor() {
	e := s.e
	c := saved{writer: e.writer}
	c.x, c.y, c.pending = e.at()
	at := c
	if e.origin {
		at.y -= e.top
	}
	from := c.x - runeWidth(e.last)
	if c.pending {
		from++
	}
	insert := e.modes.Has(control.Insert)
	if again := e.last != 0 && from >= 0; again {
		at.x = from
		s.state(at)
		s.setPen(e.pen)
		if insert {
			s.textf("\x1b[%dP\x1b[4h", runeWidth(e.last)) // To come in again.
		}
		s.text(string(e.last))
		return
	}
	s.state(at)
	s.wait(c, e.alt)
	s.setPen(e.pen)
	if insert {
		s.text("\x1b[4h")
	}
}
