package ui

import (
	"tandemux/ui/layout"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
)

// framed reports whether a pane has a cell of its frame on its left.
func (m *Model) framed(p layout.Placed) bool {
	return p.Floating() || p.Body.X > m.panes.Arr.Area.X
}

// drawSigns marks the commands of a pane in the frame on its left. What stood
// there before is drawn again where no mark stands any more.
func (m *Model) drawSigns(p layout.Placed, plain func(x, y int)) {
	v := m.panes.Views[p.Pane]
	if v == nil || !v.Framed || m.outer.Signs == nil {
		return
	}
	x := p.Body.X - 1
	for _, row := range v.Unsigned() {
		if row < p.Body.H {
			plain(x, p.Body.Y+row)
		}
	}
	s := m.outer.Signs
	for _, at := range v.Signs() {
		glyph := s.Glyphs[at.State]
		if at.Folded {
			glyph = s.Fold
		}
		m.outer.Canvas.Fill(paint.Rect{X: x, Y: p.Body.Y + at.Row, W: 1, H: 1}, glyph, s.Frame[at.State])
	}
}

// drawTiledSigns marks the commands of the tiled panes.
func (m *Model) drawTiledSigns() {
	if m.outer.Signs == nil || len(m.panes.Arr.Dividers) == 0 {
		return
	}
	var cell func(x, y int)
	for i := range m.panes.Arr.Panes {
		p := &m.panes.Arr.Panes[i]
		v := m.panes.Views[p.Pane]
		if p.Floating() || v == nil || !v.Framed || len(v.Signs()) == 0 && len(v.Unsigned()) == 0 {
			continue
		}
		if cell == nil {
			cell = m.dividerCell()
		}
		m.drawSigns(*p, cell)
	}
}

// stickies are the choices of Look.StickyCommand.
var stickies = map[string]pane.Sticky{"": pane.StickyBack, "scrolled": pane.StickyBack, "always": pane.StickyAlways, "never": pane.StickyNever}
