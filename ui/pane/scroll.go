package pane

import (
	"fmt"

	"tandemux/emulator"
	"tandemux/ui/paint"
)

// Scroll scrolls the view n lines towards newer output, or with negative n towards older. At the
// newest output the view follows it again. It reports whether the view moved.
func (v *View) Scroll(n int) (moved bool) {
	if n < 0 {
		v.needHistory()
	}
	v.with(func(*Feed) { moved = v.scroll(n) })
	return moved
}

func (v *View) scroll(n int) bool {
	live := v.live()
	top := min(max(v.step(v.top, n), v.seen.lineOff-v.seen.em.HistoryLen()), live)
	if top == v.top {
		return false
	}
	v.top, v.full = top, true
	v.back = top < live || v.copy != nil
	if v.copy != nil {
		v.copy.Line = min(max(v.copy.Line, top), v.lineAt(v.rect.H-1))
		if s := v.selection; s != nil {
			s.X, s.Line = v.copy.X, v.copy.Line
		}
	}
	return true
}

// live returns the first line of a view that follows the output. Where lines are folded, older
// lines fill the view.
func (w *window) live() int {
	f := w.seen
	_, rows := f.em.Size()
	top := f.lineOff
	if rows > w.rect.H {
		// If the terminal is taller than the pane, the view ends with the cursor's line.
		top += min(max(f.em.Cursor().Y-w.rect.H+1, 0), rows-w.rect.H)
	}
	if len(w.folds.out) == 0 {
		return top
	}
	h := min(rows, max(w.rect.H, 1))
	last := w.showing(top + h - 1)
	return max(w.step(last, 1-h), f.lineOff-f.em.HistoryLen())
}

// Follow leaves copy mode and scrolls to the newest output.
func (v *View) Follow() {
	f := lock(v)
	defer f.mu.Unlock()
	v.back, v.Held, v.copy, v.selection, v.full = false, false, nil, nil, true
	v.search, v.index, v.pick = search{}, index{}, pick{}
}

// Back returns how many lines the view is scrolled back by.
func (v *View) Back() (lines int) {
	if v.back || v.Held {
		v.with(func(*Feed) { lines = max(v.between(v.top, v.live()), 0) })
	}
	return lines
}

// position returns the text that shows a scrolled-back view's position and its search. The lock
// must be held.
func (v *View) position(r paint.Rect) string {
	if v.copy != nil && v.copy.hidden {
		return ""
	}
	all := v.seen.em.HistoryLen()
	if len(v.folds.out) > 0 {
		all = v.between(v.seen.lineOff-all, v.live())
	}
	frozen := ""
	if v.seen != v.Feed {
		frozen = "frozen "
	}
	text := fmt.Sprintf(" %s%d/%d ", frozen, max(v.between(v.top, v.live()), 0), all)
	if found := v.Found(); found != "" {
		mark := "/"
		if v.search.back {
			mark = "?"
		}
		pattern := paint.Cut(v.search.pattern, max(r.W-len(text)-len(found)-4, 0), "")
		if long := fmt.Sprintf(" %s%s %s %s", mark, pattern, found, text); paint.Width(long) < r.W {
			text = long
		} else if long = " " + found + " " + text; paint.Width(long) < r.W {
			text = long
		}
	}
	return text
}

// OnBar reports whether the scroll bar is drawn at a cell of the canvas.
func (v *View) OnBar(x, y int) bool {
	return v.thumb.to > v.thumb.from && x == v.rect.X+v.rect.W-1 && v.rect.Contains(x, y)
}

// DragBar scrolls so that the middle of the scroll bar's thumb is at a row of the canvas.
func (v *View) DragBar(y int) {
	v.needHistory()
	v.with(func(*Feed) {
		oldest, _ := v.bounds()
		h := max(v.rect.H, 1)
		size := v.thumb.to - v.thumb.from
		room := max(h-size, 1)
		row := min(max(y-v.rect.Y-size/2, 0), room)
		v.scroll(v.between(oldest, v.live())*row/room - v.between(oldest, v.top))
	})
}

// thumbNow returns the rows of the scroll bar's thumb, an empty range if the scroll bar doesn't
// show. The lock must be held.
func (v *View) thumbNow() span {
	if !v.back && !v.bar || v.rect.H < 3 {
		return span{}
	}
	live, h := v.live(), v.rect.H
	oldest := v.seen.lineOff - v.seen.em.HistoryLen()
	if live == oldest {
		return span{}
	}
	all := max(v.between(oldest, live), 1)
	size := max(h*h/(all+h), 1)
	from := v.between(oldest, v.top) * (h - size) / all
	return span{from, from + size}
}

// drawBar draws rows of the scroll bar's thumb, by changing the last column's style.
func drawBar(c *paint.Canvas, r paint.Rect, look Look, rows span) {
	for y := rows.from; y < rows.to; y++ {
		c.Restyle(paint.Rect{X: r.X + r.W - 1, Y: r.Y + y, W: 1, H: 1}, func(s emulator.Style) emulator.Style {
			if look.Bar.BG.IsDefault() {
				s.Attrs ^= emulator.Reverse
				return s
			}
			s.FG, s.BG = look.Bar.FG, look.Bar.BG
			s.Attrs &^= emulator.Reverse
			return s
		})
	}
}

// Height returns the number of rows that the view was last drawn in.
func (w *window) Height() int { return w.rect.H }
