package overlay

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Overlay is something on top of the panes that takes the keys.
type Overlay interface {
	// Key handles a key and reports whether the overlay is done.
	Key(k tea.Key) (done bool)
	// Paste takes pasted text.
	Paste(text string)
	// Draw draws it within the area and gives the place of its cursor.
	Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor
}

// Passing is an overlay that some keys take away and are then for what lies below.
type Passing interface {
	Passes(k tea.Key) bool
}

// Clicker is an overlay that handles the mouse.
type Clicker interface {
	// Click handles a press at a cell, Wheel a notch.
	Click(x, y int) (done bool)
	Wheel(up bool)
}

// Pointing is a Clicker that follows the mouse. Both report whether there is anything to do:
// Point that it has to be drawn again, Release that it is done.
type Pointing interface {
	Clicker
	Point(x, y int) bool
	Release(x, y int) (done bool)
}

// Frame draws a frame around the inside of a rectangle, but for the line between its
// upper corners, where a title goes.
func Frame(c *paint.Canvas, r paint.Rect, l *look.Lines, s look.Style) {
	right, bottom := r.X+r.W-1, r.Y+r.H-1
	fill := func(x, y, w, h int, glyph rune) { c.Fill(paint.Rect{X: x, Y: y, W: w, H: h}, glyph, s) }
	fill(r.X, bottom, r.W, 1, l.Horizontal)
	fill(r.X, r.Y, 1, r.H, l.Vertical)
	fill(right, r.Y, 1, r.H, l.Vertical)
	fill(r.X, r.Y, 1, 1, l.TopLeft)
	fill(right, r.Y, 1, 1, l.TopRight)
	fill(r.X, bottom, 1, 1, l.BottomLeft)
	fill(right, bottom, 1, 1, l.BottomRight)
}

// box draws an empty framed box with a title and a footer and gives its inside.
func box(c *paint.Canvas, r paint.Rect, title, footer string, l look.Look) paint.Rect {
	c.Fill(r, ' ', l.Overlay)
	if r.W < 4 || r.H < 3 {
		return r
	}
	right, bottom := r.X+r.W-1, r.Y+r.H-1
	c.Fill(paint.Rect{X: r.X, Y: r.Y, W: r.W, H: 1}, l.Horizontal, l.OverlayBox)
	Frame(c, r, &l.Lines, l.OverlayBox)
	if title != "" {
		c.Text(r.X+2, r.Y, r.W-4, " "+paint.Cut(title, r.W-6, l.Ellipsis)+" ", l.OverlayAccent)
	}
	if footer != "" {
		text := " " + paint.Cut(footer, r.W-6, l.Ellipsis) + " "
		c.Text(right-1-paint.Width(text), bottom, r.W-4, text, l.OverlayMuted)
	}
	return paint.Rect{X: r.X + 1, Y: r.Y + 1, W: r.W - 2, H: r.H - 2}
}

// centred is a rectangle of at most w×h cells in the middle of the area, a
// little above it.
func centred(area paint.Rect, w, h int) paint.Rect {
	w, h = min(w, area.W), min(h, area.H)
	return paint.Rect{X: area.X + (area.W-w)/2, Y: area.Y + (area.H-h)/3, W: w, H: h}
}
