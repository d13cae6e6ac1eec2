package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/ui/layout"
	"tandemux/ui/paint"
)

// grip is the part of a floating pane's frame that the mouse holds.
type grip struct {
	frame               layout.Rect // when the button was pressed
	left, right, bottom bool        // none of them: the whole, by its header
}

// grabFrame takes hold of a floating pane's frame, if the mouse is on one.
func (m *Model) grabFrame(h layout.Hit, ev tea.Mouse) bool {
	p, ok := m.panes.Arr.Pane(h.Pane)
	if !ok || !p.Floating() || h.Kind == layout.HitBody || ev.Button != tea.MouseLeft {
		return false
	}
	g := grip{frame: p.Frame}
	if h.Kind == layout.HitFrame {
		g.left, g.right = ev.X == p.Frame.X, ev.X == p.Frame.X+p.Frame.W-1
		g.bottom = ev.Y == p.Frame.Y+p.Frame.H-1
	}
	m.mouse.grab, m.mouse.pane, m.mouse.grip = grabFloat, h.Pane, g
	return true
}

// dragFrame moves what the mouse holds of a frame to a cell.
func (m *Model) dragFrame(x, y int) {
	g := m.mouse.grip
	dx, dy := x-m.mouse.x, y-m.mouse.y
	r := g.frame
	switch {
	case g.left:
		dx = min(dx, r.W-layout.MinWidth-2)
		r.X, r.W = r.X+dx, r.W-dx
	case g.right:
		r.W += dx
	case !g.bottom:
		r.X, r.Y = r.X+dx, r.Y+dy
	}
	if g.bottom {
		r.H += dy
	}
	m.panes.PlaceFloat(m.mouse.pane, r)
}

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
