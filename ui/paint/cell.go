package paint

import (
	"tandemux/emulator"
)

// Rect is a rectangle of cells.
type Rect struct{ X, Y, W, H int }

// Empty reports whether r has no cell.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Contains reports whether the cell lies in r.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Intersect is what r and o share.
func (r Rect) Intersect(o Rect) Rect {
	x, y := max(r.X, o.X), max(r.Y, o.Y)
	w, h := min(r.X+r.W, o.X+o.W)-x, min(r.Y+r.H, o.Y+o.H)-y
	return Rect{x, y, max(w, 0), max(h, 0)}
}

// cell is a position of the canvas, packed without padding so that two are
// compared as memory. extra is an index into the canvas's table of what few
// cells have: combining characters and hyperlinks.
type cell struct {
	char       rune // 0 is a blank
	extra      uint32
	fg, bg, ul emulator.Color
	attrs      emulator.Attrs
	underline  emulator.Underline
	width      uint8
}

// extra is the rare part of a cell.
type extra struct {
	combining, link, linkID string
}

func (c *cell) style() emulator.Style {
	return emulator.Style{FG: c.fg, BG: c.bg, UnderlineColor: c.ul, Attrs: c.attrs, Underline: c.underline}
}

func styled(char rune, width uint8, s emulator.Style) cell {
	return cell{
		char: char, width: width,
		fg: s.FG, bg: s.BG, ul: s.UnderlineColor, attrs: s.Attrs &^ emulator.Protected, underline: s.Underline,
	}
}

// plainBlank reports whether erasing in the default style makes the cell.
func (c *cell) plainBlank() bool {
	return (c.char == 0 || c.char == ' ') && c.width == 1 && c.extra == 0 && c.bg.IsDefault() &&
		c.underline == emulator.NoUnderline && c.attrs&(emulator.Reverse|emulator.Strike|emulator.Overline) == 0
}
