package pane

import (
	"strings"
	"unicode"

	"tandemux/emulator"
	"tandemux/ui/motion"
)

// Unit is what dragging the mouse selects by.
type Unit uint8

// The units: a drag after one, two and three clicks.
const (
	ByChar Unit = iota
	ByWord
	ByLine // with the rows that it is wrapped to
)

// drag is where a drag of the mouse began: the unit of text there, from its first to its last
// cell.
type drag struct {
	unit     Unit
	block    bool
	from, to spot
}

// StartDrag begins a drag at a cell of the canvas. If unit is ByWord or ByLine, it selects the
// word or line there; if not, it moves copy mode's cursor there.
func (v *View) StartDrag(x, y int, unit Unit, block bool) {
	v.needHistory()
	v.with(func(*Feed) {
		from, to := v.around(v.pointed(x, y), unit)
		v.drag = drag{unit: unit, block: block && unit == ByChar, from: from, to: to}
		v.selection, v.full = nil, true
		if unit != ByChar {
			v.selectTo(from, to)
		} else if v.copy != nil {
			v.copy.X, v.copy.Line, v.copy.want = from.x, from.line, from.x
		}
	})
}

// Drag selects from where StartDrag began to a cell of the canvas.
func (v *View) Drag(x, y int) {
	v.with(func(*Feed) {
		if oldest, _ := v.bounds(); v.drag.from.line < oldest {
			v.drag.from, v.drag.to = spot{0, oldest}, spot{0, oldest}
		}
		v.selectTo(v.around(v.pointed(x, y), v.drag.unit))
	})
}

// selectTo selects from the beginning of the drag to a unit of text. The lock must be held, as
// for all below.
func (v *View) selectTo(from, to spot) {
	g := &v.drag
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

// pointed returns the place in the text at a cell of the canvas, clamped to the view.
func (w *window) pointed(x, y int) spot {
	cols, _ := w.seen.em.Size()
	oldest, newest := w.bounds()
	r := w.rect
	row := min(max(y, r.Y), r.Y+max(r.H, 1)-1) - r.Y
	return spot{min(max(x-r.X+w.ox, 0), cols-1), min(max(w.lineAt(row), oldest), newest)}
}

// around returns the first and the last cell of the unit at a place.
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
	a, b, kind := i, i, t.clickClass(&s.cells[i])
	for a > 0 && t.clickClass(&s.cells[a-1]) == kind && kind == motion.Word {
		a--
	}
	for b+1 < len(s.cells) && t.clickClass(&s.cells[b+1]) == kind && kind == motion.Word {
		b++
	}
	return s.spot(a), s.spot(b)
}

// inWords is the characters that a double click counts as part of a word besides letters and
// digits, so that it selects whole paths and options.
const inWords = "_-./~@%+#=?&"

// clickClass is the class of a cell for double clicks.
func (t *lines) clickClass(c *emulator.Cell) motion.Class {
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

// Beyond returns how many lines a row of the canvas is above (negative) or below the view, for
// scrolling during a drag. Where the view touches the edge of the screen, whose rows are [0, h),
// its own first or last row counts as outside.
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
