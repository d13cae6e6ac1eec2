package screen

import (
	"tandemux/ui/layout"
	"tandemux/ui/paint"
)

// framed reports whether a pane has a cell of its frame on its left.
func (sc *Screen) framed(p layout.Placed) bool {
	return p.Floating() || p.Body.X > sc.panes.Arr.Area.X
}

// signs marks the commands of a pane in the frame on its left. What stood
// there before is drawn again where no mark stands any more.
func (sc *Screen) signs(p layout.Placed, plain func(x, y int)) {
	v := sc.panes.Views[p.Pane]
	if v == nil || !v.Framed || sc.outer.Signs == nil {
		return
	}
	x := p.Body.X - 1
	for _, row := range v.Unsigned() {
		if row < p.Body.H {
			plain(x, p.Body.Y+row)
		}
	}
	s := sc.outer.Signs
	for _, at := range v.Signs() {
		glyph := s.Glyphs[at.State]
		if at.Folded {
			glyph = s.Fold
		}
		sc.outer.Canvas.Fill(paint.Rect{X: x, Y: p.Body.Y + at.Row, W: 1, H: 1}, glyph, s.Frame[at.State])
	}
}

// tiledSigns marks the commands of the tiled panes.
func (sc *Screen) tiledSigns() {
	if sc.outer.Signs == nil || len(sc.panes.Arr.Dividers) == 0 {
		return
	}
	var cell func(x, y int)
	for i := range sc.panes.Arr.Panes {
		p := &sc.panes.Arr.Panes[i]
		v := sc.panes.Views[p.Pane]
		if p.Floating() || v == nil || !v.Framed || len(v.Signs()) == 0 && len(v.Unsigned()) == 0 {
			continue
		}
		if cell == nil {
			cell = sc.dividerCell()
		}
		sc.signs(*p, cell)
	}
}
