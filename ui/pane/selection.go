package pane

import (
	"strings"

	"cotty/emulator"
	"cotty/ui/paint"
)

// MaxCopy bounds the text of a selection, in bytes.
const MaxCopy = 8 << 20

// Selection is text chosen in a view, from an anchor to an end that moves. Both
// ends belong to it.
type Selection struct {
	AnchorX, AnchorLine int
	X, Line             int
	Lines               bool // whole lines
}

// ordered gives the ends in reading order.
func (s *Selection) ordered() (x0, line0, x1, line1 int) {
	if s.AnchorLine < s.Line || s.AnchorLine == s.Line && s.AnchorX <= s.X {
		return s.AnchorX, s.AnchorLine, s.X, s.Line
	}
	return s.X, s.Line, s.AnchorX, s.AnchorLine
}

// on gives the half-open range of a line's columns that is selected.
func (s *Selection) on(line, width int) (from, to int) {
	x0, line0, x1, line1 := s.ordered()
	if line < line0 || line > line1 {
		return 0, 0
	}
	if s.Lines {
		return 0, width
	}
	from, to = 0, width
	if line == line0 {
		from = x0
	}
	if line == line1 {
		to = min(x1+1, width)
	}
	return from, to
}

// Mark starts a selection at copy mode's cursor, of characters or of lines;
// the same kind again ends it.
func (v *View) Mark(lines bool) {
	if v.copy == nil {
		return
	}
	v.full = true
	if s := v.selection; s != nil {
		if s.Lines == lines {
			v.selection = nil
		} else {
			s.Lines = lines
		}
		return
	}
	v.selection = &Selection{
		AnchorX: v.copy.x, AnchorLine: v.copy.line, X: v.copy.x, Line: v.copy.line, Lines: lines,
	}
}

// Drag selects from one cell of the canvas to another.
func (v *View) Drag(fromX, fromY, toX, toY int) {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil {
		return
	}
	f.collect()
	v.geometry(v.rect)
	if v.selection == nil {
		v.selection = &Selection{AnchorX: fromX - v.rect.X + v.ox, AnchorLine: v.top + fromY - v.rect.Y}
	}
	cols, _ := f.em.Size()
	oldest, newest := v.bounds()
	s := v.selection
	s.X = min(max(toX-v.rect.X+v.ox, 0), cols-1)
	s.Line = min(max(v.top+min(max(toY, v.rect.Y), v.rect.Y+v.rect.H-1)-v.rect.Y, oldest), newest)
	v.full = true
}

// Unselect takes the selection away; it reports whether there was one.
func (v *View) Unselect() bool {
	had := v.selection != nil
	v.selection = nil
	v.full = v.full || had
	return had
}

// Selected reports whether something is selected.
func (v *View) Selected() bool { return v.selection != nil }

// SelectedText is the selected text: wrapped lines joined, blanks at line ends
// cut, MaxCopy bytes at most. Without a selection it is copy mode's line.
func (v *View) SelectedText() string {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	s := v.selection
	if f.em == nil || s == nil && v.copy == nil {
		return ""
	}
	f.collect()
	if s == nil {
		s = &Selection{AnchorLine: v.copy.line, Line: v.copy.line, Lines: true}
	}
	_, first, _, last := s.ordered()
	oldest, newest := v.bounds()
	first, last = max(first, oldest), min(last, newest)
	var b strings.Builder
	for line := first; line <= last && b.Len() < MaxCopy; line++ {
		cells := v.at(line)
		from, to := s.on(line, len(cells))
		cells = cells[min(from, len(cells)):min(to, len(cells))]
		wrapped := f.em.Wrapped(line - f.lineOff)
		if wrapped && line < last {
			b.WriteString(pad(cells))
			continue
		}
		b.WriteString(emulator.LineText(cells))
		if line < last || s.Lines {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// pad is the text of cells with the blanks at the end, as a wrapped line goes
// on behind them.
func pad(cells []emulator.Cell) string {
	text := emulator.LineText(cells)
	n := len(cells)
	for n > 0 && cells[n-1].Rune == ' ' {
		n--
	}
	return text + strings.Repeat(" ", len(cells)-n)
}

// highlight marks what is selected or found on a line that was just drawn into
// a row of the canvas. The lock must be held.
func (v *View) highlight(c *paint.Canvas, row paint.Rect, line int, look Look) {
	if v.search.pattern != "" {
		cells := v.at(line)
		for _, m := range v.search.find(cells) {
			v.restyle(c, row, m.from, m.to, look.Match)
		}
	}
	if v.selection != nil {
		cols, _ := v.Feed.em.Size()
		from, to := v.selection.on(line, cols)
		v.restyle(c, row, from, to, look.Selection)
	}
}

// restyle gives columns of the terminal the colours of s.
func (v *View) restyle(c *paint.Canvas, row paint.Rect, from, to int, s emulator.Style) {
	from, to = max(from-v.ox, 0), min(to-v.ox, row.W)
	if from >= to {
		return
	}
	c.Restyle(paint.Rect{X: row.X + from, Y: row.Y, W: to - from, H: 1}, func(old emulator.Style) emulator.Style {
		if s.FG.IsDefault() && s.BG.IsDefault() {
			old.Attrs ^= emulator.Reverse
			return old
		}
		old.FG, old.BG = s.FG, s.BG
		old.Attrs = old.Attrs&^emulator.Reverse | s.Attrs
		return old
	})
}
