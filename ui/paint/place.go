package paint

import (
	"image"
	"strconv"

	"tandemux/emulator"
	"tandemux/emulator/picture"
)

// part is a cell of a picture, with slot counted from 1; the zero part is none.
type part struct{ slot, col, row int }

// block is a rectangle of the screen that shows a rectangle of a picture.
type block struct {
	slot       int
	x, y, w, h int // on the screen
	col, row   int // in the picture
}

// Place appends, in mode Placed, what shows the canvas's pictures: placements over the blank
// cells of the parts that nothing covers. It deletes placements that are not needed any more.
// anew says that the screen was cleared since.
func (g *Gallery) Place(buf []byte, c *Canvas, anew bool) []byte {
	if g.outer.Mode != Placed || len(g.slots) == 0 && len(g.placed) == 0 {
		return buf
	}
	now := g.blocks(c, nil)
	start := len(buf)
	buf = append(buf, "\x1b7"...)
	head := len(buf)
	if anew {
		for b, n := range g.placed {
			buf = g.unplace(buf, b, n)
		}
		clear(g.placed)
	}
	for b, n := range g.placed {
		if !now[b] {
			buf = g.unplace(buf, b, n)
			delete(g.placed, b)
		}
	}
	for b := range now {
		if _, there := g.placed[b]; !there {
			buf = g.place(buf, b)
		}
	}
	if len(buf) == head {
		return buf[:start]
	}
	return append(buf, "\x1b8"...)
}

func (g *Gallery) place(buf []byte, b block) []byte {
	s := &g.slots[b.slot]
	w, h := s.pixels()
	x0, x1 := b.col*w/s.cols, (b.col+b.w)*w/s.cols
	y0, y1 := b.row*h/s.rows, (b.row+b.h)*h/s.rows
	if x1 <= x0 || y1 <= y0 {
		return buf
	}
	if g.placed == nil {
		g.placed = map[block]int{}
	}
	g.lastPlaced++
	g.placed[b] = g.lastPlaced
	buf = append(buf, "\x1b["+strconv.Itoa(b.y+1)+";"+strconv.Itoa(b.x+1)+"H\x1b_Ga=p,q=2,C=1"...)
	for _, k := range [...]struct {
		name string
		n    int
	}{
		{",i=", int(g.base) + b.slot},
		{",p=", g.lastPlaced},
		{",x=", x0},
		{",y=", y0},
		{",w=", x1 - x0},
		{",h=", y1 - y0},
		{",c=", b.w},
		{",r=", b.h},
	} {
		buf = append(buf, k.name...)
		buf = strconv.AppendInt(buf, int64(k.n), 10)
	}
	return append(buf, "\x1b\\"...)
}

func (g *Gallery) unplace(buf []byte, b block, n int) []byte {
	return append(buf, "\x1b_Ga=d,d=i,q=2,i="+strconv.Itoa(int(g.base)+b.slot)+",p="+strconv.Itoa(n)+"\x1b\\"...)
}

// blocks returns the blocks of the canvas: runs of cells in a row, joined with equal runs in the
// rows below. Cells for which leave is true are left out.
func (g *Gallery) blocks(c *Canvas, leave func(x, y int, p part) bool) map[block]bool {
	all := map[block]bool{}
	open := map[int]block{} // by x, the blocks that end in the row above
	for y := range c.h {
		runs := g.runs(c, y, leave)
		next := map[int]block{}
		for _, r := range runs {
			if a, ok := open[r.x]; ok && a.slot == r.slot && a.w == r.w && a.col == r.col && a.row+a.h == r.row {
				r.y, r.row, r.h = a.y, a.row, a.h+1
				delete(open, r.x)
			}
			next[r.x] = r
		}
		for _, b := range open {
			all[b] = true
		}
		open = next
	}
	for _, b := range open {
		all[b] = true
	}
	return all
}

// runs returns the runs of a row, as blocks of height 1.
func (g *Gallery) runs(c *Canvas, y int, leave func(x, y int, p part) bool) (runs []block) {
	row := c.row(y)
	var p []emulator.Placeholder
	var cells [1]emulator.Cell
	for x := range row {
		if row[x].char != emulator.PlaceholderRune {
			continue
		}
		p = p[:0]
		cells[0] = emulator.Cell{Rune: row[x].char, Combining: c.extras[row[x].extra].combining, Style: row[x].style()}
		emulator.Placeholders(cells[:], func(_ int, ph emulator.Placeholder) { p = append(p, ph) })
		i := int(p[0].ID) - int(g.base)
		if i < 0 || i >= len(g.slots) || g.slots[i].state != slotShown {
			continue
		}
		if leave != nil && leave(x, y, part{i + 1, p[0].Col, p[0].Row}) {
			continue
		}
		if n := len(runs) - 1; n >= 0 {
			if r := &runs[n]; r.slot == i && r.x+r.w == x && r.row == p[0].Row && r.col+r.w == p[0].Col {
				r.w++
				continue
			}
		}
		runs = append(runs, block{slot: i, x: x, y: y, w: 1, h: 1, col: p[0].Col, row: p[0].Row})
	}
	return runs
}

// pixels returns the size in pixels of the visible part of the image.
func (k *work) pixels() (w, h int) {
	if k.cuts != 0 {
		return k.w, k.h
	}
	return k.im.Width, k.im.Height
}

// repacked reports whether the image is sent in a format other than the program's. Cells can only
// show a whole picture, so a part of one is sent as a picture of its own, and kitty's protocol
// has only some of the formats.
func (k *work) repacked() bool {
	return k.cuts != 0 || k.im.Format == emulator.FormatFile || k.im.Format == emulator.FormatSixel
}

// repack returns the visible part as compressed RGBA.
func (k *work) repack() (*emulator.Image, bool) {
	px, ok := k.decode()
	if !ok {
		return nil, false
	}
	im, err := picture.Pack(px)
	return im, err == nil
}

// decode returns the pixels of the visible part.
func (k *work) decode() (*image.NRGBA, bool) {
	px, err := picture.Decode(k.im)
	if err != nil {
		return nil, false
	}
	if k.cuts == 0 {
		return px, true
	}
	return picture.Part(px, k.x, k.y, k.w, k.h)
}
