package overlay

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// tallBox is how many rows of a text show at most.
const tallBox = 8

// Box asks for a text of several lines at the bottom of the area.
type Box struct {
	label  string
	text   editor.Text
	accept func(text string)
}

// NewBox gives a box with a text to start from; accept runs on Enter.
func NewBox(label, text string, accept func(text string)) *Box {
	b := &Box{label: label, accept: accept}
	b.text.Insert(text)
	return b
}

// Key implements Overlay.
func (b *Box) Key(k tea.Key) bool {
	switch editor.Stroke(k) {
	case "esc", "ctrl+c", "ctrl+g":
		return true
	case "enter":
		b.accept(b.text.String())
		return true
	case "alt+enter", "ctrl+j":
		b.text.Insert("\n")
	case "up":
		b.text.Vertical(-1)
	case "down":
		b.text.Vertical(1)
	default:
		b.text.Key(k)
	}
	return false
}

// Paste implements Overlay.
func (b *Box) Paste(text string) { b.text.Insert(text) }

// Draw implements Overlay.
func (b *Box) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	h := min(max(b.text.Layout(max(area.W-4, 1)), 1), tallBox, max(area.H-2, 1))
	in := box(c, paint.Rect{X: area.X, Y: area.Y + area.H - h - 2, W: area.W, H: h + 2}, b.label, "enter done  alt+enter new line  esc leave", l)
	rows, x, y := b.text.View(max(in.W-2, 1), max(in.H, 1))
	for i, row := range rows {
		c.Text(in.X+1, in.Y+i, in.W-2, row, l.Overlay)
	}
	return paint.Cursor{X: in.X + 1 + x, Y: in.Y + y, Visible: true, Default: true}
}
