package paint

import (
	"unicode/utf8"

	"tandemux/emulator"
)

// maxExtras is the largest number of combinations of combining characters and hyperlinks. If
// there are more, the canvas is lost (see Lost).
const maxExtras = 1 << 16

// span is a half-open range of a row's cells.
type span struct{ from, to int }

// Canvas is what the outer terminal should show. The zero value has no cells until Resize.
type Canvas struct {
	w, h  int
	cells []cell
	dirty []span // for each row, the cells that may differ from the outer terminal's

	extras []extra // index 0 is the empty one
	index  map[extra]uint32
	lost   bool // everything must be drawn again
}

// Resize gives the canvas a size and empties it. Sizes under 1 become 1.
func (c *Canvas) Resize(w, h int) {
	c.w, c.h = max(w, 1), max(h, 1)
	c.cells = make([]cell, c.w*c.h)
	c.dirty = make([]span, c.h)
	c.Clear()
}

// Size is the canvas's size in cells.
func (c *Canvas) Size() (w, h int) { return c.w, c.h }

func (c *Canvas) Bounds() Rect { return Rect{0, 0, c.w, c.h} }

// Clear blanks all cells and marks them to be compared.
func (c *Canvas) Clear() {
	blank := cell{width: 1}
	for i := range c.cells {
		c.cells[i] = blank
	}
	for y := range c.dirty {
		c.dirty[y] = span{0, c.w}
	}
	c.extras = append(c.extras[:0], extra{})
	clear(c.index)
	c.lost = false
}

// Lost reports whether the canvas ran out of room and dropped parts of cells. It must be cleared
// and drawn whole.
func (c *Canvas) Lost() bool { return c.lost }

func (c *Canvas) row(y int) []cell { return c.cells[y*c.w : (y+1)*c.w] }

// put stores a cell. It blanks the other half of a wide character that it overwrites.
func (c *Canvas) put(row []cell, y, x int, n cell) {
	old := row[x]
	if old == n {
		return
	}
	if old.width != 1 {
		c.mend(row, y, x, n.width)
	}
	row[x] = n
	c.mark(y, x, x+1)
}

// mend blanks the other half of a wide character whose cell at x gets a cell of the given width.
func (c *Canvas) mend(row []cell, y, x int, width uint8) {
	if row[x].width == 0 && width != 0 && x > 0 && row[x-1].width == 2 {
		row[x-1].char, row[x-1].extra, row[x-1].width = 0, 0, 1
		c.mark(y, x-1, x)
	}
	if row[x].width == 2 && width != 2 && x+1 < c.w && row[x+1].width == 0 {
		row[x+1].char, row[x+1].extra, row[x+1].width = 0, 0, 1
		c.mark(y, x+1, x+2)
	}
}

func (c *Canvas) mark(y, from, to int) {
	d := &c.dirty[y]
	if d.from >= d.to {
		*d = span{from, to}
		return
	}
	d.from, d.to = min(d.from, from), max(d.to, to)
}

// intern returns the index of e in extras.
func (c *Canvas) intern(e extra) uint32 {
	if e == (extra{}) {
		return 0
	}
	if i, ok := c.index[e]; ok {
		return i
	}
	if len(c.extras) >= maxExtras {
		c.lost = true
		return 0
	}
	if c.index == nil {
		c.index = map[extra]uint32{}
	}
	i := uint32(len(c.extras))
	c.extras = append(c.extras, e)
	c.index[e] = i
	return i
}

// Fill fills a rectangle with one character of width 1 in one style.
func (c *Canvas) Fill(r Rect, char rune, s emulator.Style) {
	r = r.Intersect(c.Bounds())
	n := styled(char, 1, s)
	for y := r.Y; y < r.Y+r.H; y++ {
		row := c.row(y)
		for x := r.X; x < r.X+r.W; x++ {
			c.put(row, y, x, n)
		}
	}
}

// Text draws text from a cell rightwards into at most w cells and returns the number of cells
// used. Control characters are dropped, and text that does not fit is cut.
func (c *Canvas) Text(x, y, w int, text string, s emulator.Style) int {
	if y < 0 || y >= c.h || x < 0 {
		return 0
	}
	w = min(w, c.w-x)
	row := c.row(y)
	used := 0
	put := func(g string, width int) bool {
		char, size := utf8.DecodeRuneInString(g)
		if char < 0x20 || char >= 0x7f && char < 0xa0 || width <= 0 {
			return true
		}
		width = min(width, 2)
		if used+width > w {
			return false
		}
		n := styled(char, uint8(width), s)
		if rest := g[size:]; rest != "" {
			n.extra = c.intern(extra{combining: rest})
		}
		c.put(row, y, x+used, n)
		if width == 2 {
			c.put(row, y, x+used+1, styled(0, 0, s))
		}
		used += width
		return true
	}
	i := 0
	for i < len(text) && text[i] < 0x80 && (i+1 == len(text) || text[i+1] < 0x80) {
		if !put(text[i:i+1], 1) {
			return used
		}
		i++
	}
	for g := emulator.ClustersOf(text[i:]); g.Next(); {
		if !put(g.Value(), g.Width()) {
			break
		}
	}
	return used
}

// Line draws an emulator's cells from a cell rightwards. It cuts what is beyond the canvas's
// edge, and blanks half of a wide character.
func (c *Canvas) Line(x, y int, cells []emulator.Cell) {
	if y < 0 || y >= c.h || x < 0 || x >= c.w {
		return
	}
	cells = cells[:min(len(cells), c.w-x)]
	row := c.row(y)
	for i := range cells {
		e := &cells[i]
		n := styled(e.Rune, e.Width, e.Style)
		if e.Width == 1 && e.Combining == "" && e.Link == "" && row[x+i].width == 1 {
			// The fast path for nearly every cell.
			if row[x+i] != n {
				row[x+i] = n
				c.mark(y, x+i, x+i+1)
			}
			continue
		}
		switch {
		case e.Width == 1:
		case e.Width == 2 && i+1 < len(cells) && cells[i+1].Width == 0:
		case e.Width == 0 && i > 0 && cells[i-1].Width == 2:
			n.char = 0
		default:
			n.char, n.width = 0, 1
		}
		if e.Link != "" || e.Combining != "" && n.char != 0 {
			x := extra{link: e.Link, linkID: e.LinkID}
			if n.char != 0 {
				x.combining = e.Combining
			}
			n.extra = c.intern(x)
		}
		c.put(row, y, x+i, n)
	}
}

// Restyle changes the style of the cells of a rectangle, keeping their text.
func (c *Canvas) Restyle(r Rect, change func(emulator.Style) emulator.Style) {
	r = r.Intersect(c.Bounds())
	for y := r.Y; y < r.Y+r.H; y++ {
		row := c.row(y)
		for x := r.X; x < r.X+r.W; x++ {
			st := change(row[x].style())
			if row[x].char == emulator.PlaceholderRune { // its colours are the picture's id
				st.FG, st.UnderlineColor = row[x].fg, row[x].ul
			}
			n := styled(row[x].char, row[x].width, st)
			n.extra = row[x].extra
			c.put(row, y, x, n)
		}
	}
}

// Width is the number of cells that Text needs for s.
func Width(s string) int {
	w := 0
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			for g := emulator.ClustersOf(s); g.Next(); {
				w += g.Width()
			}
			return w
		}
	}
	return len(s)
}

// Cut shortens s to at most w cells. If it cuts something, the result ends with mark.
func Cut(s string, w int, mark string) string {
	if w <= 0 {
		return ""
	}
	room := w - Width(mark)
	at, used, end := 0, 0, 0
	for g := emulator.ClustersOf(s); g.Next(); {
		if used += g.Width(); used > w {
			return s[:end] + mark
		}
		if at += len(g.Value()); used <= room {
			end = at
		}
	}
	return s
}

// CutFront is Cut at the front: the result begins with mark.
func CutFront(s string, w int, mark string) string {
	for rest := s; Width(s) > w && rest != ""; {
		g := emulator.ClustersOf(rest)
		g.Next()
		rest = rest[len(g.Value()):]
		s = mark + rest
	}
	return s
}

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

// cell is a cell of the canvas, packed without padding so that cells are compared as memory.
// extra is an index into the canvas's extras.
type cell struct {
	char       rune // 0 is a blank
	extra      uint32
	fg, bg, ul emulator.Color
	attrs      emulator.Attrs
	underline  emulator.Underline
	width      uint8
}

// extra is the parts of a cell that few cells have.
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

// plainBlank reports whether erasing in the default style produces the cell.
func (c *cell) plainBlank() bool {
	return (c.char == 0 || c.char == ' ') && c.width == 1 && c.extra == 0 && c.bg.IsDefault() &&
		c.underline == emulator.NoUnderline && c.attrs&(emulator.Reverse|emulator.Strike|emulator.Overline) == 0
}
