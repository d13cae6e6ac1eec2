package screen

import (
	"time"

	"tandemux/ui/layout"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
)

// held reports whether a floating pane is in the middle of a frame of its
// program's: nothing below it can be drawn without tearing that frame.
func (sc *Screen) held(now time.Time) bool {
	if !sc.panes.Arr.Floats() {
		return false
	}
	for _, p := range sc.panes.Arr.Panes {
		if v := sc.panes.Views[p.Pane]; p.Floating() && v != nil {
			if wait, hold := v.Feed.Hold(now); hold {
				sc.outer.Hold(wait)
				return true
			}
		}
	}
	return false
}

// floats draws the floating panes over everything else, whole, as what lies
// below them may have been drawn. The cursor of a pane that they cover does not
// show.
func (sc *Screen) floats(now time.Time, cursor paint.Cursor) paint.Cursor {
	if !sc.panes.Arr.Floats() {
		return cursor
	}
	focus, _ := sc.panes.Arr.Focused()
	if !focus.Floating() && sc.panes.Arr.At(cursor.X, cursor.Y).Pane != focus.Pane {
		cursor.Visible = false
	}
	for _, p := range sc.panes.Arr.Panes {
		if !p.Floating() {
			continue
		}
		sc.frame(p)
		if cur := sc.pane(p, true, now); p.Focused {
			cursor = cur
			top := sc.panes.Arr.At(cur.X, cur.Y)
			cursor.Visible = cursor.Visible && top.Pane == p.Pane
		}
		sc.signs(p, func(int, int) {}) // the frame was drawn whole
	}
	return cursor
}

// frame draws a floating pane's border and header.
func (sc *Screen) frame(p layout.Placed) {
	c, l, r := &sc.outer.Canvas, &sc.outer.Look, paint.Rect(p.Frame)
	style := l.Border
	if p.Focused {
		style = l.BorderFocused
	}
	sc.header(p)
	overlay.Frame(c, r, &l.Lines, style)
}
