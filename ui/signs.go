package ui

import (
	"tandemux/ui/layout"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
)

// signLook says how commands are marked in a look.
func signLook(l *look.Look) *pane.SignLook {
	s := &pane.SignLook{Fold: l.Folded, Sticky: l.Hint, Ellipsis: l.Ellipsis}
	for _, of := range [...]struct {
		state pane.State
		glyph rune
		frame look.Style
	}{
		{pane.Running, l.Running, l.MarkRunning},
		{pane.Passed, l.Passed, l.MarkPassed},
		{pane.Failed, l.Failed, l.MarkFailed},
		{pane.Ended, l.Ended, l.Exited},
	} {
		s.Glyphs[of.state], s.Frame[of.state], s.Note[of.state] = of.glyph, of.frame, of.frame
		s.Cell[of.state] = of.frame
	}
	// What went well is said quietly.
	s.Note[pane.Passed] = l.Title
	s.Note[pane.Failed] = l.Fail // its contrast is a text's
	return s
}

// framed reports whether a pane has a cell of its frame on its left.
func (m *Model) framed(p layout.Placed) bool {
	return p.Floating() || p.Body.X > m.arr.Area.X
}

// drawSigns marks the commands of a pane in the frame on its left. What stood
// there before is drawn again where no mark stands any more.
func (m *Model) drawSigns(p layout.Placed, plain func(x, y int)) {
	v := m.views[p.Pane]
	if v == nil || !v.Framed || m.outer.signs == nil {
		return
	}
	x := p.Body.X - 1
	for _, row := range v.Unsigned() {
		if row < p.Body.H {
			plain(x, p.Body.Y+row)
		}
	}
	s := m.outer.signs
	for _, at := range v.Signs() {
		glyph := s.Glyphs[at.State]
		if at.Folded {
			glyph = s.Fold
		}
		m.outer.canvas.Fill(paint.Rect{X: x, Y: p.Body.Y + at.Row, W: 1, H: 1}, glyph, s.Frame[at.State])
	}
}

// drawTiledSigns marks the commands of the tiled panes.
func (m *Model) drawTiledSigns() {
	if m.outer.signs == nil || len(m.arr.Dividers) == 0 {
		return
	}
	var cell func(x, y int)
	for i := range m.arr.Panes {
		p := &m.arr.Panes[i]
		v := m.views[p.Pane]
		if p.Floating() || v == nil || !v.Framed || len(v.Signs()) == 0 && len(v.Unsigned()) == 0 {
			continue
		}
		if cell == nil {
			cell = m.dividerCell()
		}
		m.drawSigns(*p, cell)
	}
}

// pressSign folds the output of the command whose mark in a pane's frame is
// clicked, or whose line stays on top; it reports whether that was it.
func (m *Model) pressSign(x, y int) bool {
	for _, p := range m.arr.Panes {
		if v := m.views[p.Pane]; v != nil && v.Framed && x == p.Body.X-1 && y >= p.Body.Y && y < p.Body.Y+p.Body.H && v.FoldRow(y) {
			m.loop.Dirty |= loop.Places
			return true
		}
	}
	return false
}

// stickies are the choices of Look.StickyCommand.
var stickies = map[string]pane.Sticky{"": pane.StickyBack, "scrolled": pane.StickyBack, "always": pane.StickyAlways, "never": pane.StickyNever}
