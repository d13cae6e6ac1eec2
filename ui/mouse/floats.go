package mouse

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/ui/layout"
	"tandemux/ui/loop"
)

// grip is the part of a floating pane's frame that the mouse holds.
type grip struct {
	frame               layout.Rect // when the button was pressed
	left, right, bottom bool        // none of them: the whole, by its header
}

// grabFrame takes hold of a floating pane's frame, if the mouse is on one.
func (ms *Mouse) grabFrame(h layout.Hit, ev tea.Mouse) bool {
	p, ok := ms.Panes.Arr.Pane(h.Pane)
	if !ok || !p.Floating() || h.Kind == layout.HitBody || ev.Button != tea.MouseLeft {
		return false
	}
	g := grip{frame: p.Frame}
	if h.Kind == layout.HitFrame {
		g.left, g.right = ev.X == p.Frame.X, ev.X == p.Frame.X+p.Frame.W-1
		g.bottom = ev.Y == p.Frame.Y+p.Frame.H-1
	}
	ms.button.grab, ms.button.pane, ms.button.grip = grabFloat, h.Pane, g
	return true
}

// dragFrame moves what the mouse holds of a frame to a cell.
func (ms *Mouse) dragFrame(x, y int) {
	g := ms.button.grip
	dx, dy := x-ms.button.x, y-ms.button.y
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
	ms.Panes.PlaceFloat(ms.button.pane, r)
}

// pressSign folds the output of the command whose mark in a pane's frame is
// clicked, or whose line stays on top; it reports whether that was it.
func (ms *Mouse) pressSign(x, y int) bool {
	for _, p := range ms.Panes.Arr.Panes {
		if v := ms.Panes.Views[p.Pane]; v != nil && v.Framed && x == p.Body.X-1 && y >= p.Body.Y && y < p.Body.Y+p.Body.H && v.FoldRow(y) {
			ms.Loop.Dirty |= loop.Places
			return true
		}
	}
	return false
}
