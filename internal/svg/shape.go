package svg

import (
	"strings"

	"tandemux/emulator"
)

// isShape reports whether a character is drawn as a shape.
func isShape(r rune) bool {
	if r >= 0x2580 && r <= 0x259f {
		return true
	}
	_, ok := boxes[r]
	return ok
}

// boxes are the lines of U+2500–U+257F: the arms left, right, up and down, each
// 0 for none, 1 light, 2 heavy, 3 double.
var boxes = map[rune][4]uint8{
	'─': {1, 1, 0, 0}, '━': {2, 2, 0, 0}, '│': {0, 0, 1, 1}, '┃': {0, 0, 2, 2},
	'┌': {0, 1, 0, 1}, '┐': {1, 0, 0, 1}, '└': {0, 1, 1, 0}, '┘': {1, 0, 1, 0},
	'├': {0, 1, 1, 1}, '┤': {1, 0, 1, 1}, '┬': {1, 1, 0, 1}, '┴': {1, 1, 1, 0}, '┼': {1, 1, 1, 1},
	'┏': {0, 2, 0, 2}, '┓': {2, 0, 0, 2}, '┗': {0, 2, 2, 0}, '┛': {2, 0, 2, 0},
	'┣': {0, 2, 2, 2}, '┫': {2, 0, 2, 2}, '┳': {2, 2, 0, 2}, '┻': {2, 2, 2, 0}, '╋': {2, 2, 2, 2},
	'═': {3, 3, 0, 0}, '║': {0, 0, 3, 3}, '╔': {0, 3, 0, 3}, '╗': {3, 0, 0, 3}, '╚': {0, 3, 3, 0}, '╝': {3, 0, 3, 0},
	'╠': {0, 3, 3, 3}, '╣': {3, 0, 3, 3}, '╦': {3, 3, 0, 3}, '╩': {3, 3, 3, 0}, '╬': {3, 3, 3, 3},
	'╴': {1, 0, 0, 0}, '╵': {0, 0, 1, 0}, '╶': {0, 1, 0, 0}, '╷': {0, 0, 0, 1},
	'╸': {2, 0, 0, 0}, '╹': {0, 0, 2, 0}, '╺': {0, 2, 0, 0}, '╻': {0, 0, 0, 2},
	'╭': {0, 1, 0, 1}, '╮': {1, 0, 0, 1}, '╯': {1, 0, 1, 0}, '╰': {0, 1, 1, 0},
}

// rounded are the corners drawn as a curve: from the middle of one side to that
// of another.
const rounded = "╭╮╯╰"

// shape draws a character of lines or blocks into the cell at x and y.
func (d *drawing) shape(r rune, x, y float64, colour, opacity string) {
	if r >= 0x2580 {
		d.block(r, x, y, colour, opacity)
		return
	}
	arms := boxes[r]
	cx, cy := x+cellW/2, y+cellH/2
	if strings.ContainsRune(rounded, r) {
		sx, ex := cx, x // the vertical arm's end, then the horizontal one's
		sy := y
		if arms[1] != 0 {
			ex = x + cellW
		}
		if arms[3] != 0 {
			sy = y + cellH
		}
		d.printf(`<path d="M%.1f %.1fQ%.1f %.1f %.1f %.1f" fill="none" stroke="%s" stroke-width="1"%s/>`, sx, sy, cx, cy, ex, cy, colour, opacity)
		return
	}
	line := func(x1, y1, x2, y2 float64, weight uint8) {
		width, gaps := 1.0, []float64{0}
		switch weight {
		case 0:
			return
		case 2:
			width = 2
		case 3:
			gaps = []float64{-1.5, 1.5}
		}
		for _, g := range gaps {
			dx, dy := 0.0, g
			if x1 == x2 {
				dx, dy = g, 0
			}
			d.printf(`<path d="M%.1f %.1fL%.1f %.1f" stroke="%s" stroke-width="%g"%s/>`, x1+dx, y1+dy, x2+dx, y2+dy, colour, width, opacity)
		}
	}
	if arms[0] == arms[1] {
		line(x, cy, x+cellW, cy, arms[0])
	} else {
		line(x, cy, cx+0.5, cy, arms[0])
		line(cx-0.5, cy, x+cellW, cy, arms[1])
	}
	if arms[2] == arms[3] {
		line(cx, y, cx, y+cellH, arms[2])
	} else {
		line(cx, y, cx, cy+0.5, arms[2])
		line(cx, cy-0.5, cx, y+cellH, arms[3])
	}
}

// quadrants are the quarters of U+2596–U+259F that are filled: upper left, upper
// right, lower left, lower right.
var quadrants = [...]string{"  x ", "   x", "x   ", "x xx", "x  x", "xxx ", "xx x", " x  ", " xx ", " xxx"}

// block draws U+2580–U+259F.
func (d *drawing) block(r rune, x, y float64, colour, opacity string) {
	fill := func(dx, dy, w, h float64, more string) {
		d.printf(`<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"%s/>`, x+dx*cellW, y+dy*cellH, w*cellW, h*cellH, colour, more)
	}
	switch {
	case r == 0x2580: // upper half
		fill(0, 0, 1, 0.5, opacity)
	case r <= 0x2588: // lower eighths, up to the full block
		n := float64(r-0x2580) / 8
		fill(0, 1-n, 1, n, opacity)
	case r <= 0x258f: // left eighths
		fill(0, 0, float64(0x2590-r)/8, 1, opacity)
	case r == 0x2590: // right half
		fill(0.5, 0, 0.5, 1, opacity)
	case r <= 0x2593: // shades
		fill(0, 0, 1, 1, [...]string{` opacity="0.25"`, ` opacity="0.5"`, ` opacity="0.75"`}[r-0x2591])
	case r == 0x2594:
		fill(0, 0, 1, 0.125, opacity)
	case r == 0x2595:
		fill(0.875, 0, 0.125, 1, opacity)
	default:
		for i, q := range quadrants[r-0x2596] {
			if q == 'x' {
				fill(float64(i%2)/2, float64(i/2)/2, 0.5, 0.5, opacity)
			}
		}
	}
}

// lines draws underline, strike and overline of a run at x and y of w.
func (d *drawing) lines(l *look, x, y, w float64) {
	stroke := func(at float64, colour emulator.Color, more string) {
		d.printf(`<path d="M%.1f %.1fh%.1f" stroke="%s"%s/>`, x, y+at, w, colour.Hex(), more)
	}
	const under = baseline + 2.1
	switch l.underline {
	case emulator.Single:
		stroke(under, l.ul, "")
	case emulator.Double:
		stroke(under-0.5, l.ul, "")
		stroke(under+1.5, l.ul, "")
	case emulator.Dotted:
		stroke(under, l.ul, ` stroke-dasharray="1 2"`)
	case emulator.Dashed:
		stroke(under, l.ul, ` stroke-dasharray="4 2"`)
	case emulator.Curly:
		const wave = cellW / 4
		d.printf(`<path d="M%.1f %.1f`, x, y+under)
		for at, up := 0.0, -2.0; at+wave < w+wave/2; at, up = at+wave, -up {
			d.printf(`q%.2f %.1f %.2f 0`, wave/2, up, wave)
		}
		d.printf(`" fill="none" stroke="%s"/>`, l.ul.Hex())
	}
	if l.attrs&emulator.Strike != 0 {
		stroke(baseline-4.4, l.fg, opacity(l))
	}
	if l.attrs&emulator.Overline != 0 {
		stroke(0.5, l.fg, opacity(l))
	}
}
