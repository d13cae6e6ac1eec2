package ui

import (
	"time"

	"tandemux/emulator"
	"tandemux/ui/layout"
	"tandemux/ui/paint"
)

// floatHeld reports whether a floating pane is in the middle of a frame of its
// program's: nothing below it can be drawn without tearing that frame.
func (m *Model) floatHeld(now time.Time) bool {
	if !m.panes.Arr.Floats() {
		return false
	}
	for _, p := range m.panes.Arr.Panes {
		if v := m.panes.Views[p.Pane]; p.Floating() && v != nil {
			if wait, hold := v.Feed.Hold(now); hold {
				m.outer.Hold(wait)
				return true
			}
		}
	}
	return false
}

// drawFloats draws the floating panes over everything else, whole, as what lies
// below them may have been drawn. The cursor of a pane that they cover does not
// show.
func (m *Model) drawFloats(now time.Time, cursor paint.Cursor) paint.Cursor {
	if !m.panes.Arr.Floats() {
		return cursor
	}
	focus, _ := m.panes.Arr.Focused()
	if !focus.Floating() && m.panes.Arr.At(cursor.X, cursor.Y).Pane != focus.Pane {
		cursor.Visible = false
	}
	for _, p := range m.panes.Arr.Panes {
		if !p.Floating() {
			continue
		}
		m.drawFrame(p)
		if cur := m.drawPane(p, true, now); p.Focused {
			cursor = cur
			top := m.panes.Arr.At(cur.X, cur.Y)
			cursor.Visible = cursor.Visible && top.Pane == p.Pane
		}
		m.drawSigns(p, func(int, int) {}) // the frame was drawn whole
	}
	return cursor
}

// drawFrame draws a floating pane's border and header.
func (m *Model) drawFrame(p layout.Placed) {
	c, l, r := &m.outer.Canvas, &m.outer.Look, paint.Rect(p.Frame)
	style := l.Border
	if p.Focused {
		style = l.BorderFocused
	}
	m.drawHeader(p)
	right, bottom := r.X+r.W-1, r.Y+r.H-1
	cell := func(x, y int, glyph rune, style emulator.Style) {
		c.Fill(paint.Rect{X: x, Y: y, W: 1, H: 1}, glyph, style)
	}
	cell(r.X, r.Y, l.TopLeft, style)
	cell(right, r.Y, l.TopRight, style)
	c.Fill(paint.Rect{X: r.X, Y: r.Y + 1, W: 1, H: r.H - 2}, l.Vertical, style)
	c.Fill(paint.Rect{X: right, Y: r.Y + 1, W: 1, H: r.H - 2}, l.Vertical, style)
	c.Fill(paint.Rect{X: r.X, Y: bottom, W: r.W, H: 1}, l.Horizontal, style)
	cell(r.X, bottom, l.BottomLeft, style)
	cell(right, bottom, l.BottomRight, style)
}
