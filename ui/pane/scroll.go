package pane

import (
	"fmt"

	"cotty/ui/paint"
)

// Scroll moves the view n lines towards newer output, back for negative n. At
// the newest output the view follows again. It reports whether it moved.
func (v *View) Scroll(n int) bool {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil {
		return false
	}
	f.collect()
	return v.scroll(n)
}

func (v *View) scroll(n int) bool {
	v.geometry(v.rect)
	live := v.live()
	top := min(max(v.top+n, v.Feed.lineOff-v.Feed.em.HistoryLen()), live)
	if top == v.top {
		return false
	}
	v.top, v.full = top, true
	v.back = top < live || v.copy != nil
	if v.copy != nil {
		v.copy.line = min(max(v.copy.line, top), top+v.rect.H-1)
	}
	return true
}

// live is the line at the top of the view when it follows the output.
func (v *View) live() int {
	_, rows := v.Feed.em.Size()
	y := v.Feed.em.Cursor().Y
	if rows > v.rect.H {
		return v.Feed.lineOff + min(max(y-v.rect.H+1, 0), rows-v.rect.H)
	}
	return v.Feed.lineOff
}

// Follow leaves copy mode and goes back to the newest output.
func (v *View) Follow() {
	v.back, v.copy, v.selection, v.full = false, nil, nil, true
	v.search = search{}
}

// Back gives the number of lines that the view is scrolled back by.
func (v *View) Back() int {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil || !v.back {
		return 0
	}
	f.collect()
	return max(v.live()-v.top, 0)
}

// position draws where a scrolled-back view is. The lock must be held.
func (v *View) position(c *paint.Canvas, r paint.Rect, look Look) {
	text := fmt.Sprintf(" %d/%d ", max(v.live()-v.top, 0), v.Feed.em.HistoryLen())
	if v.search.pattern != "" {
		text = fmt.Sprintf(" %s %s", v.search.state(), text)
	}
	if w := paint.Width(text); w < r.W {
		c.Text(r.X+r.W-w, r.Y, w, text, look.Scroll)
	}
}

// Height is the number of rows that the view was last drawn in.
func (v *View) Height() int { return v.rect.H }
