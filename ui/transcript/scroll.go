package transcript

import (
	"fmt"
	"slices"

	"tandemux/emulator"
	"tandemux/ui/look"
	"tandemux/ui/markup"
	"tandemux/ui/paint"
	"tandemux/ui/words"
)

// Scroll moves the view n rows towards newer text, back for negative n; it reports
// whether it moved.
func (tr *View) Scroll(n int) bool {
	tr.relayout()
	was, wasFollow := tr.top, tr.follow
	tr.scrollTo(tr.top + n)
	return tr.top != was || tr.follow != wasFollow
}

// AtTop reports whether the oldest row shows.
func (tr *View) AtTop() bool { return tr.top == 0 }

// Height is how many rows show, as last drawn.
func (tr *View) Height() int { return tr.area.H }

// scrollTo brings a row to the top, as far as there are rows below it.
func (tr *View) scrollTo(top int) {
	last := max(tr.rows-tr.area.H, 0)
	tr.top = min(max(top, 0), last)
	tr.follow = tr.top == last
	tr.dirty = true
}

// Bottom follows the newest text again.
func (tr *View) Bottom() {
	tr.follow, tr.dirty = true, true
	tr.focus = stop{}
}

// Back is how many rows the view is scrolled back, and of how many.
func (tr *View) Back() (back, of int) {
	last := max(tr.rows-tr.area.H, 0)
	if tr.follow {
		return 0, last
	}
	return last - min(tr.top, last), last
}

// leastWide is the width from which on there are margins beside the lines.
const leastWide = 16

// Draw draws what shows into a rectangle, and with reading where the reader is. It
// reports whether a time shows that goes on.
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

// highlight marks the selection and what was found in a row.
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

// drawBar shows where in the transcript the view is, once it is scrolled back.
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

// Hit is what a click on the transcript means that dragged nothing: a head folds.
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

// LinkAt is the address at a cell, "" for none.
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
