package pane

import (
	"strings"

	"tandemux/emulator"
	"tandemux/ui/paint"
)

// MaxCopy is about the longest text of a selection, in bytes: it ends with the line that reaches
// it.
const MaxCopy = 8 << 20

// Shape says which cells between its ends a selection has.
type Shape uint8

// The shapes.
const (
	Chars Shape = iota // from one end to the other in reading order
	Lines              // whole lines
	Block              // a rectangle
)

// Selection is selected text, from an anchor to an end that moves with the cursor. The cells at
// both ends are selected.
type Selection struct {
	AnchorX, AnchorLine int
	X, Line             int
	Shape               Shape
}

// ordered returns the ends in reading order.
func (s *Selection) ordered() (x0, line0, x1, line1 int) {
	if s.AnchorLine < s.Line || s.AnchorLine == s.Line && s.AnchorX <= s.X {
		return s.AnchorX, s.AnchorLine, s.X, s.Line
	}
	return s.X, s.Line, s.AnchorX, s.AnchorLine
}

// on returns the half-open range of a line's columns that is selected, with whole wide characters
// and at most width.
func (s *Selection) on(line, width int, cells []emulator.Cell) (from, to int) {
	x0, line0, x1, line1 := s.ordered()
	if line < line0 || line > line1 {
		return 0, 0
	}
	from, to = 0, width
	switch s.Shape {
	case Lines:
		return from, to
	case Block:
		from, to = min(x0, x1), max(x0, x1)+1
	default:
		if line == line0 {
			from = x0
		}
		if line == line1 {
			to = x1 + 1
		}
	}
	if from > 0 && from < len(cells) && cells[from].Width == 0 {
		from--
	}
	if to > 0 && to < len(cells) && cells[to].Width == 0 && cells[to-1].Width == 2 {
		to++
	}
	return min(from, width), min(to, width)
}

// whole extends a selection of shape Lines to whole wrapped lines, within the lines from to to.
// Other selections stay the same. The lock must be held.
func (t *lines) whole(s Selection, from, to int) *Selection {
	if s.Shape != Lines {
		return &s
	}
	wrapped := func(line int) bool { return t.seen.em.Wrapped(line - t.seen.lineOff) }
	_, first, _, last := s.ordered()
	for first > from && wrapped(first-1) {
		first--
	}
	for last < to && wrapped(last) {
		last++
	}
	s.AnchorLine, s.Line = first, last
	return &s
}

// Mark starts a selection at copy mode's cursor. If there is a selection it gets the shape, or
// ends if it has that shape.
func (v *View) Mark(shape Shape) {
	if v.copy == nil {
		return
	}
	v.full = true
	if s := v.selection; s != nil {
		if s.Shape == shape {
			v.selection = nil
		} else {
			s.Shape = shape
		}
		return
	}
	v.selection = &Selection{
		AnchorX: v.copy.X, AnchorLine: v.copy.Line, X: v.copy.X, Line: v.copy.Line, Shape: shape,
	}
}

// OtherEnd moves copy mode's cursor to the other end of the selection.
func (v *View) OtherEnd() {
	v.moving(func() {
		if s, c := v.selection, v.copy; s != nil {
			s.AnchorX, s.AnchorLine, c.X, c.Line = c.X, c.Line, s.AnchorX, s.AnchorLine
			c.want = c.X
		}
	})
}

// Unselect ends the selection and unpicks the picked command (GoCommand). It reports whether
// there was either.
func (v *View) Unselect() bool {
	had := v.selection != nil || v.pick.id != ""
	v.selection, v.pick, v.Held = nil, pick{}, false
	v.full = v.full || had
	return had
}

// Selected reports whether something is selected.
func (v *View) Selected() bool { return v.selection != nil }

// SelectedText returns the selected text, about MaxCopy bytes of it at most: wrapped lines are
// joined and blanks at line ends are cut. Without a selection it returns copy mode's line.
func (v *View) SelectedText() string {
	var b strings.Builder
	v.with(func(*Feed) {
		s := v.selection
		if s == nil {
			if v.copy == nil {
				return
			}
			s = &Selection{AnchorLine: v.copy.Line, Line: v.copy.Line, Shape: Lines}
		}
		oldest, newest := v.bounds()
		s = v.whole(*s, oldest, newest)
		_, first, _, last := s.ordered()
		first, last = max(first, oldest), min(last, newest)
		for line := first; line <= last && b.Len() < MaxCopy; line++ {
			cells := v.at(line)
			from, to := s.on(line, len(cells), cells)
			v.text(&b, line, cells[min(from, to):to], line == last, s.Shape)
		}
	})
	return b.String()
}

// text appends the selected part of a line, and its line end. The lock must be held.
func (t *lines) text(b *strings.Builder, line int, cells []emulator.Cell, last bool, shape Shape) {
	if shape != Block && !last && t.seen.em.Wrapped(line-t.seen.lineOff) {
		b.Write(emulator.AppendWrapped(nil, cells))
		return
	}
	b.WriteString(emulator.LineText(cells))
	if !last || shape == Lines {
		b.WriteByte('\n')
	}
}

// Text returns the whole text of the terminal: wrapped lines are joined and blanks at line ends
// are cut. at is the line of it, from 1, at the view's top. If it has more than most bytes, the
// oldest lines are left out and cut is true.
func (v *View) Text(most int) (text string, at int, cut bool) {
	v.needHistory()
	var b strings.Builder
	at = 1
	v.with(func(f *Feed) {
		oldest, newest := v.bounds()
		for line, n := oldest, 1; line <= newest; line++ {
			if line == v.top {
				at = n
			}
			v.text(&b, line, v.at(line), false, Chars)
			if !f.em.Wrapped(line - f.lineOff) {
				n++
			}
		}
	})
	text = strings.TrimRight(b.String(), "\n")
	if len(text) > most {
		start := len(text) - most
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			start += i + 1
		}
		at = max(at-strings.Count(text[:start], "\n"), 1)
		text, cut = strings.ToValidUTF8(text[start:], ""), true
	}
	if text != "" {
		text += "\n"
	}
	return text, at, cut
}

// highlight restyles the selection, matches and the link under the pointer on a line that was
// just drawn into a row of the canvas. The lock must be held.
func (v *View) highlight(c *paint.Canvas, row paint.Rect, line int, look Look) {
	if v.search.re != nil {
		for _, m := range v.search.hits(&v.lines, line) {
			style := look.Match
			if v.copy != nil && line == v.copy.Line && m.from <= v.copy.X && v.copy.X < m.to {
				style.Attrs |= emulator.Reverse
			}
			v.restyle(c, row, m.from, m.to, style)
		}
	}
	if v.selection != nil {
		cols, _ := v.seen.em.Size()
		from, to := v.whole(*v.selection, line, line).on(line, cols, v.at(line))
		v.restyle(c, row, from, to, look.Selection)
	}
	if from, to, ok := v.link.on(line); ok {
		x, end := max(from-v.ox, 0), min(to-v.ox, row.W)
		if x < end {
			c.Restyle(paint.Rect{X: row.X + x, Y: row.Y, W: end - x, H: 1}, func(s emulator.Style) emulator.Style {
				s.Underline = emulator.Single
				return s
			})
		}
	}
}

// restyle gives columns of the terminal the colours of s, or reverses them if it has none.
func (w *window) restyle(c *paint.Canvas, row paint.Rect, from, to int, s emulator.Style) {
	from, to = max(from-w.ox, 0), min(to-w.ox, row.W)
	if from >= to {
		return
	}
	c.Restyle(paint.Rect{X: row.X + from, Y: row.Y, W: to - from, H: 1}, func(old emulator.Style) emulator.Style {
		if s.FG.IsDefault() && s.BG.IsDefault() {
			old.Attrs ^= emulator.Reverse
			if s.Underline != emulator.NoUnderline && s.Attrs&emulator.Reverse != 0 {
				old.Attrs |= emulator.Bold // the match at the cursor
			}
			return old
		}
		old.FG, old.BG = s.FG, s.BG
		old.Attrs = old.Attrs&^emulator.Reverse | s.Attrs
		return old
	})
}
