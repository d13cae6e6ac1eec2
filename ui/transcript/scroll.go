package transcript

import (
	"fmt"
	"slices"
	"strings"

	"tandemux/emulator"
	"tandemux/ui/look"
	"tandemux/ui/markup"
	"tandemux/ui/paint"
	"tandemux/ui/words"
)

// Scroll scrolls n rows towards newer text, or older if n is negative. It reports whether the
// view moved.
func (tr *View) Scroll(n int) bool {
	tr.relayout()
	was, wasFollow := tr.top, tr.follow
	tr.scrollTo(tr.top + n)
	return tr.top != was || tr.follow != wasFollow
}

// AtTop reports whether the oldest row shows.
func (tr *View) AtTop() bool { return tr.top == 0 }

// Height is the number of rows, as last drawn.
func (tr *View) Height() int { return tr.area.H }

// scrollTo scrolls so that a row is at the top, as far as there are rows below it.
func (tr *View) scrollTo(top int) {
	last := max(tr.rows-tr.area.H, 0)
	tr.top = min(max(top, 0), last)
	tr.follow = tr.top == last
	tr.dirty = true
}

// Bottom scrolls to the newest text and follows it.
func (tr *View) Bottom() {
	tr.follow, tr.dirty = true, true
	tr.focus = stop{}
}

// Back returns how many rows the view is scrolled back, and the largest such number.
func (tr *View) Back() (back, of int) {
	last := max(tr.rows-tr.area.H, 0)
	if tr.follow {
		return 0, last
	}
	return last - min(tr.top, last), last
}

// leastWide is the smallest width, in cells, of a view with margins.
const leastWide = 16

// Draw draws the transcript into a rectangle, with reading also the focus. It reports whether it
// shows a running time.
func (tr *View) Draw(cv *paint.Canvas, r paint.Rect, l *look.Look, reading bool) (ticks bool) {
	tr.area, tr.text = r, r
	if r.W >= leastWide {
		tr.text.X, tr.text.W = r.X+1, r.W-2
	}
	t := tr.text
	if t.Empty() {
		return false
	}
	tr.resize(t.W)
	tr.watch()
	tr.relayout()
	last := max(tr.rows-t.H, 0)
	if tr.follow {
		tr.top = last
	}
	tr.top = min(max(tr.top, 0), last)
	var marked stopAt
	if reading && tr.focus.on {
		all := tr.stops()
		if i := tr.current(all); i >= 0 && all[i].stop == tr.focus {
			marked = all[i]
		}
	}
	if tr.find.text != "" {
		tr.match()
	}
	for i := range min(t.H, tr.rows-tr.top) {
		row := tr.top + i
		ln, k, ok := tr.lineAt(row)
		if marked.on && row >= marked.from && row < marked.to && t.X > r.X {
			cv.Text(r.X, t.Y+i, 1, tr.Glyphs.Marker, tr.Palette[markup.Accent])
		}
		if !ok {
			continue
		}
		used := markup.DrawRuns(cv, t.X, t.Y+i, t.W, ln.Runs, &tr.Palette)
		if cells, x := tr.items[k].liveRow(row - tr.rowOf(k)); cells != nil && x < t.W {
			cells = cells[:min(len(cells), t.W-x)]
			cv.Line(t.X+x, t.Y+i, cells)
			used = x + len(cells)
		}
		tr.highlight(cv, row, i, used, l)
	}
	tr.drawBar(cv, l)
	tr.dirty = false
	return slices.ContainsFunc(tr.running(), func(i int) bool { return !tr.items[i].began.IsZero() })
}

// highlight restyles the selection and the matches in a row.
func (tr *View) highlight(cv *paint.Canvas, row, i, used int, l *look.Look) {
	t := tr.text
	mark := func(from, to int, s look.Style) {
		to = min(to, t.W)
		if to > from {
			cv.Restyle(paint.Rect{X: t.X + from, Y: t.Y + i, W: to - from, H: 1}, func(old emulator.Style) emulator.Style {
				if s.FG.IsDefault() && s.BG.IsDefault() {
					old.Attrs ^= emulator.Reverse
					return old
				}
				old.FG, old.BG = s.FG, s.BG
				return old
			})
		}
	}
	for k, h := range tr.find.hits {
		if h.row == row && tr.find.text != "" {
			s := l.Match
			if k == tr.find.at {
				s = l.Selection
			}
			mark(h.from, h.to, s)
		}
	}
	if !tr.sel.on {
		return
	}
	from, to := tr.sel.span()
	if row < from.row || row > to.row {
		return
	}
	first, last := 0, used
	if row == from.row {
		first = from.x
	}
	if row == to.row {
		last = min(to.x+1, max(used, 1))
	}
	mark(first, last, l.Selection)
}

// drawBar draws a scroll bar if the view is scrolled back.
func (tr *View) drawBar(cv *paint.Canvas, l *look.Look) {
	t := tr.area
	if tr.follow || tr.rows <= t.H || t.H < 3 || t.W < leastWide {
		return
	}
	size := max(t.H*t.H/tr.rows, 1)
	at := (t.H - size) * tr.top / max(tr.rows-t.H, 1)
	cv.Fill(paint.Rect{X: t.X + t.W - 1, Y: t.Y + at, W: 1, H: size}, ' ', look.Style{FG: l.Hint.FG, BG: l.Border.FG})
	if l.Border.FG.IsDefault() {
		cv.Fill(paint.Rect{X: t.X + t.W - 1, Y: t.Y + at, W: 1, H: size}, l.Vertical, look.Style{Attrs: emulator.Bold})
	}
	below := tr.rows - tr.top - t.H
	text := fmt.Sprintf(" %s %s below ", l.Down, words.Plural(below, "line"))
	if w := paint.Width(text); w < t.W-4 {
		cv.Text(t.X+t.W-1-w, t.Y+t.H-1, w, text, l.Hint)
	}
}

// Hit handles a click that dragged nothing: on the first line of a foldable item it folds or
// unfolds it.
func (tr *View) Hit(x, y int) {
	if !tr.area.Contains(x, y) {
		return
	}
	row := tr.top + y - tr.area.Y
	l, i, ok := tr.lineAt(row)
	if ok && tr.items[i].foldable() && (row == tr.rowOf(i) || l.Lead >= tr.r.w-2) {
		tr.toggle(i)
	}
}

// LinkAt returns the link at a cell, "" for none.
func (tr *View) LinkAt(x, y int) string {
	if !tr.area.Contains(x, y) {
		return ""
	}
	l, _, ok := tr.lineAt(tr.top + y - tr.area.Y)
	if !ok {
		return ""
	}
	at := tr.text.X
	for _, r := range l.Runs {
		w := markup.Width([]markup.Run{r})
		if x >= at && x < at+w {
			return r.Link
		}
		at += w
	}
	return ""
}

// spot is a cell of the transcript.
type spot struct{ row, x int }

func (s spot) before(o spot) bool { return s.row < o.row || s.row == o.row && s.x < o.x }

// selection is the text selected by the mouse.
type selection struct {
	on       bool
	from, to spot
}

// span returns the selection's ends in order; both cells are selected.
func (s selection) span() (from, to spot) {
	if s.to.before(s.from) {
		return s.to, s.from
	}
	return s.from, s.to
}

// spotAt returns the cell of the transcript at a cell of the canvas, or the nearest one.
func (tr *View) spotAt(x, y int) spot {
	r := tr.text
	return spot{row: tr.top + min(max(y-r.Y, 0), max(r.H-1, 0)), x: min(max(x-r.X, 0), max(r.W-1, 0))}
}

// StartDrag begins a selection at a cell of the canvas. It reports whether the cell is on the
// transcript.
func (tr *View) StartDrag(x, y int) bool {
	if !tr.area.Contains(x, y) {
		return false
	}
	at := tr.spotAt(x, y)
	tr.sel, tr.dirty = selection{from: at, to: at}, true
	return true
}

// Drag extends the selection to a cell, scrolling at the edges.
func (tr *View) Drag(x, y int) {
	switch r := tr.area; {
	case y < r.Y:
		tr.Scroll(-1)
	case y >= r.Y+r.H:
		tr.Scroll(1)
	}
	to := tr.spotAt(x, y)
	tr.sel.on = tr.sel.on || to != tr.sel.from
	tr.sel.to, tr.dirty = to, true
}

// Unselect ends the selection and reports whether there was one.
func (tr *View) Unselect() bool {
	was := tr.sel.on
	tr.sel = selection{}
	tr.dirty = tr.dirty || was
	return was
}

// Selected returns the selected text, with wrapped lines joined.
func (tr *View) Selected() string {
	if !tr.sel.on {
		return ""
	}
	from, to := tr.sel.span()
	var b strings.Builder
	for row := from.row; row <= to.row && row < tr.rows; row++ {
		l, i, ok := tr.lineAt(row)
		text, lead := "", 0
		if ok {
			text, lead = tr.rowText(l, i, row-tr.rowOf(i))
		}
		first, last := lead, 1<<30
		if row == from.row {
			first = max(first, from.x)
		}
		if row == to.row {
			last = to.x + 1
		}
		b.WriteString(strings.TrimRight(text[min(markup.Cells(text, first), len(text)):min(markup.Cells(text, max(last, first)), len(text))], " "))
		switch {
		case row == to.row:
		case l.Soft:
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// rowText returns the text of an item's row, and the cells at its front that are no text.
func (tr *View) rowText(l markup.Line, i, of int) (text string, lead int) {
	if cells, x := tr.items[i].liveRow(of); cells != nil {
		return strings.Repeat(" ", x) + emulator.LineText(cells), x
	}
	var b strings.Builder
	for _, r := range l.Runs {
		b.WriteString(r.Text)
	}
	return b.String(), l.Lead
}

// liveRow returns the cells of a terminal in an item's row, and the column at which they begin;
// nil for other rows.
func (it *item) liveRow(row int) (cells []emulator.Cell, x int) {
	v := it.live
	if v == nil || row < v.at || row >= v.at+v.rows || row-v.at >= len(v.cells) {
		return nil, 0
	}
	return v.cells[row-v.at], 2
}
