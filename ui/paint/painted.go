package paint

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"maps"
	"slices"
	"strconv"

	"tandemux/emulator"
	"tandemux/emulator/picture"
)

// This file paints pictures on outer terminals that keep no pictures: a painted picture shows
// until something is written over it.

// finest is the largest number of pixels of a picture that is painted at twice the resolution of
// the cells, for terminals that may have more pixels than they report.
const finest = 1 << 22

// canvas returns the size in pixels of all cells of a picture.
func (g *Gallery) canvas(k work) (w, h int) {
	w, h = k.cols*g.outer.CellW, k.rows*g.outer.CellH
	if from, _ := k.pixels(); g.outer.Mode == Inline && from > w && 4*w*h <= finest {
		w, h = 2*w, 2*h
	}
	return w, h
}

// cost returns the bytes that a picture takes.
func (g *Gallery) cost(k work) int {
	w, h := g.canvas(k)
	switch g.outer.Mode {
	case Sixel:
		return w * h
	case Inline:
		return 4 * w * h
	}
	return len(k.im.Data)
}

// paintNext decodes and scales the next picture that was asked for.
func (g *Gallery) paintNext() {
	i := g.queue[0]
	g.queue = g.queue[1:]
	s := &g.slots[i]
	if s.px = g.pixelsOf(s.work); s.px == nil {
		s.state = slotBad
		return
	}
	s.state = slotShown
}

// pixelsOf returns a picture as it is painted, nil if that fails. If a picture's cells were
// computed from its pixels, it may leave parts of its last cells empty.
func (g *Gallery) pixelsOf(k work) image.Image {
	w, h := g.canvas(k)
	if w <= 0 || h <= 0 || w*h > picture.MaxPixels {
		return nil
	}
	px, ok := k.decode()
	if !ok {
		return nil
	}
	fullW, fullH := w, h
	const cw, ch = emulator.CellWidth, emulator.CellHeight
	if fromW, fromH := k.pixels(); k.cols == (fromW+cw-1)/cw && k.rows == (fromH+ch-1)/ch {
		w, h = max(w*fromW/(k.cols*cw), 1), max(h*fromH/(k.rows*ch), 1)
	}
	px = picture.Scale(px, w, h, fullW, fullH)
	if g.outer.Mode == Sixel {
		return picture.Quantise(px, g.outer.Colors+1) // plus one for transparent pixels
	}
	return px
}

// Written notes which cells a frame of the painter has overwritten.
func (g *Gallery) Written(p *Painter) {
	if g.outer.painted() && len(g.slots) > 0 {
		if p.cleared || len(g.shown) != p.w*p.h {
			g.shown = make([]part, p.w*p.h)
		}
		for _, at := range p.blanked {
			g.shown[at] = part{}
		}
	}
	p.blanked = p.blanked[:0]
}

// Paint appends the parts of pictures that are on the canvas but not on the outer terminal: they
// are new or were overwritten. It stops after about limit bytes; more says that it did.
func (g *Gallery) Paint(buf []byte, c *Canvas, limit int) (out []byte, more bool) {
	if !g.outer.painted() || len(g.shown) != c.w*c.h {
		return buf, false
	}
	todo := g.blocks(c, func(x, y int, is part) bool { return g.shown[y*c.w+x] == is })
	if len(todo) == 0 {
		return buf, false
	}
	start := len(buf)
	buf = append(buf, "\x1b7"...)
	for _, b := range slices.SortedFunc(maps.Keys(todo), func(a, b block) int { return (a.y-b.y)*c.w + a.x - b.x }) {
		if len(buf)-start > limit {
			more = true
			break
		}
		for y := range b.h {
			for x := range b.w {
				g.shown[(b.y+y)*c.w+b.x+x] = part{b.slot + 1, b.col + x, b.row + y}
			}
		}
		buf = append(buf, "\x1b["+strconv.Itoa(b.y+1)+";"+strconv.Itoa(b.x+1)+"H"...)
		buf = g.paint(buf, b, b.y+b.h == c.h)
	}
	return append(buf, "\x1b8"...), more
}

// paint appends a block's pixels. At the bottom of the screen a sixel picture must end with whole
// sixels, else the terminal might scroll.
func (g *Gallery) paint(buf []byte, b block, bottom bool) []byte {
	s := &g.slots[b.slot]
	whole := s.px.Bounds()
	x, y := whole.Dx()/s.cols, whole.Dy()/s.rows
	r := image.Rect(b.col*x, b.row*y, (b.col+b.w)*x, (b.row+b.h)*y)
	switch px := s.px.(type) {
	case *image.Paletted:
		if bottom {
			r.Max.Y -= r.Dy() % 6
		}
		return picture.AppendSixel(buf, px, r)
	case *image.NRGBA:
		part, ok := picture.Part(px, r.Min.X, r.Min.Y, r.Dx(), r.Dy())
		if !ok {
			return buf
		}
		var file bytes.Buffer
		if (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&file, part) != nil {
			return buf
		}
		buf = append(buf, "\x1b]1337;File=inline=1;preserveAspectRatio=0;doNotMoveCursor=1;size="...)
		buf = strconv.AppendInt(buf, int64(file.Len()), 10)
		buf = append(buf, ";width="+strconv.Itoa(b.w)+";height="+strconv.Itoa(b.h)+":"...)
		buf = base64.StdEncoding.AppendEncode(buf, file.Bytes())
		return append(buf, '\a')
	}
	return buf
}

// unpaint marks all cells of slot i as not painted.
func (g *Gallery) unpaint(i int) {
	for at := range g.shown {
		if g.shown[at].slot == i+1 {
			g.shown[at] = part{}
		}
	}
}
