package pane

import (
	"strings"
	"unicode"

	"tandemux/emulator"
	"tandemux/ui/motion"
)

// Unit is what a drag of the mouse selects by.
type Unit uint8

// The units: what one, two and three clicks select.
const (
	ByChar Unit = iota
	ByWord
	ByLine // as its program wrote it, however it is wrapped
)

// grip is where the mouse took hold of the text: what it selected there.
type grip struct {
	unit     Unit
	block    bool
	from, to spot
}

// Grip takes hold of the text at a cell of the canvas for Drag. By words and
// lines it selects the one there; copy mode's cursor goes there.
func (v *View) Grip(x, y int, unit Unit, block bool) {
	v.entire()
	v.with(func(*Feed) {
		from, to := v.around(v.pointed(x, y), unit)
		v.grip = grip{unit: unit, block: block && unit == ByChar, from: from, to: to}
		v.selection, v.full = nil, true
		if unit != ByChar {
			v.selectTo(from, to)
		} else if v.copy != nil {
			v.copy.X, v.copy.Line, v.copy.want = from.x, from.line, from.x
		}
	})
}

// Drag selects from where Grip took hold to a cell of the canvas.
func (v *View) Drag(x, y int) {
	v.with(func(*Feed) {
		if oldest, _ := v.bounds(); v.grip.from.line < oldest {
			v.grip.from, v.grip.to = spot{0, oldest}, spot{0, oldest}
		}
		v.selectTo(v.around(v.pointed(x, y), v.grip.unit))
	})
}

// selectTo selects from the grip to a unit of the text. The lock must be held,
// as for all below.
func (v *View) selectTo(from, to spot) {
	g := &v.grip
	anchor, end := g.from, to
	if from.before(g.from) {
		anchor, end = g.to, from
	}
	s := &Selection{AnchorX: anchor.x, AnchorLine: anchor.line, X: end.x, Line: end.line}
	if g.block {
		s.Shape = Block
	}
	v.selection, v.full = s, true
	if v.copy != nil {
		v.copy.X, v.copy.Line, v.copy.want = end.x, end.line, end.x
	}
}

// pointed gives the place in the text at a cell of the canvas, clamped to the
// view.
func (w *window) pointed(x, y int) spot {
	cols, _ := w.seen.em.Size()
	oldest, newest := w.bounds()
	r := w.rect
	row := min(max(y, r.Y), r.Y+max(r.H, 1)-1) - r.Y
	return spot{min(max(x-r.X+w.ox, 0), cols-1), min(max(w.lineAt(row), oldest), newest)}
}

// around gives the first and last cell of the unit at a place.
func (t *lines) around(p spot, unit Unit) (from, to spot) {
	if unit == ByChar {
		return p, p
	}
	s := t.stretch(p.line)
	if unit == ByLine {
		last := s.last()
		cols, _ := t.seen.em.Size()
		return spot{0, s.first}, spot{cols - 1, last}
	}
	i := s.index(p.x, p.line)
	if i >= len(s.cells) {
		return p, p
	}
	if l := t.linkAt(p.x, p.line); l.uri != "" && t.Separators == "" {
		return s.spot(l.span.from), s.spot(l.span.to - 1)
	}
	a, b, kind := i, i, t.clicked(&s.cells[i])
	for a > 0 && t.clicked(&s.cells[a-1]) == kind && kind == motion.Word {
		a--
	}
	for b+1 < len(s.cells) && t.clicked(&s.cells[b+1]) == kind && kind == motion.Word {
		b++
	}
	return s.spot(a), s.spot(b)
}

// inWords are the characters besides letters and digits that a double click
// takes for a part of a word, so that it takes a path or an option whole.
const inWords = "_-./~@%+#=?&"

// clicked says what a cell is for double clicks.
func (t *lines) clicked(c *emulator.Cell) motion.Class {
	switch {
	case t.Separators != "":
		return motion.ClassOf(t.Separators, c, false)
	case c.Rune == 0 && c.Width != 0 || unicode.IsSpace(c.Rune):
		return motion.Blank
	case c.Width == 0 || unicode.IsLetter(c.Rune) || unicode.IsDigit(c.Rune) || c.Rune > 0x7f && !unicode.IsPunct(c.Rune) ||
		strings.ContainsRune(inWords, c.Rune):
		return motion.Word
	}
	return motion.Punctuation
}

// Beyond tells how far above (negative) or below the view a row of the canvas
// is, in lines, for scrolling while text is dragged. Where the view touches the
// edge of the screen, given as the rows [0, h), its own first or last row counts.
func (w *window) Beyond(y, h int) int {
	r := w.rect
	switch {
	case y < r.Y:
		return y - r.Y
	case y == r.Y && r.Y == 0:
		return -1
	case y >= r.Y+r.H:
		return y - (r.Y + r.H) + 1
	case y == r.Y+r.H-1 && r.Y+r.H >= h:
		return 1
	}
	return 0
}
