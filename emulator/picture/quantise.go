package picture

import (
	"cmp"
	"image"
	"image/color"
	"slices"
	"strconv"
)

// box is some of the colours of a picture, in a cube.
type box struct {
	colors []counted
	count  int
	axis   int // the longest
	length int
}

// counted is a colour, of five bits a channel, and how many pixels have about it.
type counted struct {
	c [3]uint8
	n int
}

// Quantise gives the pixels in at most so many colours (256 at most), of which the
// first is what is transparent: those that are there, if they are few enough, else
// chosen by median cut, with the error passed on to what is near (Floyd, Steinberg).
func Quantise(px *image.NRGBA, colors int) *image.Paletted {
	colors = min(max(colors, 2), 256)
	out := image.NewPaletted(px.Rect, color.Palette{color.NRGBA{}})
	if few(px, out, colors) {
		return out
	}
	out.Palette = append(out.Palette[:1], medianCut(px, colors-1)...)
	dither(px, out)
	return out
}

// opaque says what counts as not transparent.
const opaque = 0x80

// few takes the colours as they are, if there are no more than so many.
func few(px *image.NRGBA, out *image.Paletted, colors int) bool {
	index := map[[3]uint8]uint8{}
	var last [3]uint8
	lastIndex, seen := uint8(0), false
	for i := range out.Pix {
		p := px.Pix[i/px.Rect.Dx()*px.Stride+i%px.Rect.Dx()*4:]
		if p[3] < opaque {
			out.Pix[i] = 0
			continue
		}
		c := [3]uint8(p[:3])
		if !seen || c != last {
			n, ok := index[c]
			if !ok {
				if len(out.Palette) == colors {
					return false
				}
				n = uint8(len(out.Palette))
				out.Palette = append(out.Palette, color.NRGBA{R: c[0], G: c[1], B: c[2], A: 0xff})
				index[c] = n
			}
			last, lastIndex, seen = c, n, true
		}
		out.Pix[i] = lastIndex
	}
	return true
}

// medianCut chooses colours: the box with most pixels in the longest cube is cut in the
// middle of them, until there are enough.
func medianCut(px *image.NRGBA, colors int) color.Palette {
	var count [1 << 15]int
	for y := range px.Rect.Dy() {
		for p := px.Pix[y*px.Stride:][:px.Rect.Dx()*4]; len(p) > 0; p = p[4:] {
			if p[3] >= opaque {
				count[short(int(p[0]), int(p[1]), int(p[2]))]++
			}
		}
	}
	var all []counted
	for i, n := range count {
		if n > 0 {
			all = append(all, counted{[3]uint8{uint8(i >> 10), uint8(i >> 5 & 31), uint8(i & 31)}, n})
		}
	}
	boxes := []box{newBox(all)}
	for len(boxes) < colors {
		best := -1
		for i := range boxes {
			if b := &boxes[i]; b.length > 0 && (best < 0 || b.count*b.length > boxes[best].count*boxes[best].length) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		a, b := boxes[best].cut()
		boxes[best] = a
		boxes = append(boxes, b)
	}
	var p color.Palette
	for _, b := range boxes {
		var sum [3]int
		for _, c := range b.colors {
			for i := range sum {
				sum[i] += int(c.c[i]) * c.n
			}
		}
		mean := func(i int) uint8 { return uint8(sum[i] * 255 / (31 * max(b.count, 1))) }
		p = append(p, color.NRGBA{R: mean(0), G: mean(1), B: mean(2), A: 0xff})
	}
	return p
}

// short is a colour in five bits a channel.
func short(r, g, b int) int { return r>>3<<10 | g>>3<<5 | b>>3 }

func newBox(colors []counted) box {
	b := box{colors: colors}
	low, high := [3]uint8{255, 255, 255}, [3]uint8{}
	for _, c := range colors {
		b.count += c.n
		for i, v := range c.c {
			low[i], high[i] = min(low[i], v), max(high[i], v)
		}
	}
	for i := range low {
		if n := int(high[i]) - int(low[i]); n > b.length {
			b.axis, b.length = i, n
		}
	}
	return b
}

// cut makes two of a box that has more than one colour.
func (b *box) cut() (box, box) {
	slices.SortFunc(b.colors, func(x, y counted) int { return cmp.Compare(x.c[b.axis], y.c[b.axis]) })
	half, at := 0, 0
	for at < len(b.colors)-1 && half < b.count/2 {
		half += b.colors[at].n
		at++
	}
	at = min(max(at, 1), len(b.colors)-1)
	return newBox(b.colors[:at:at]), newBox(b.colors[at:])
}

// dither gives each pixel the nearest colour of the palette, with what that is wrong by
// spread to those that follow.
func dither(px *image.NRGBA, out *image.Paletted) {
	w := px.Rect.Dx()
	var nearest [1 << 15]uint8 // by short; 0 is not known yet
	now, next := make([][3]int, w+2), make([][3]int, w+2)
	for y := range px.Rect.Dy() {
		for x := range w {
			p := px.Pix[y*px.Stride+x*4:]
			if p[3] < opaque {
				out.Pix[y*out.Stride+x] = 0
				continue
			}
			var want [3]int
			for i := range want {
				want[i] = min(max(int(p[i])+now[x+1][i]/16, 0), 255)
			}
			key := short(want[0], want[1], want[2])
			if nearest[key] == 0 {
				nearest[key] = closest(out.Palette, want)
			}
			n := nearest[key]
			out.Pix[y*out.Stride+x] = n
			c := out.Palette[n].(color.NRGBA)
			for i, v := range [3]uint8{c.R, c.G, c.B} {
				off := want[i] - int(v)
				now[x+2][i] += off * 7
				next[x][i] += off * 3
				next[x+1][i] += off * 5
				next[x+2][i] += off
			}
		}
		now, next = next, now
		clear(next)
	}
}

// closest is the index of the colour next to one, of those that are not transparent.
func closest(p color.Palette, want [3]int) uint8 {
	best, least := 0, 1<<30
	for i := 1; i < len(p); i++ {
		c := p[i].(color.NRGBA)
		r, g, b := int(c.R)-want[0], int(c.G)-want[1], int(c.B)-want[2]
		if d := 3*r*r + 4*g*g + 2*b*b; d < least {
			best, least = i, d
		}
	}
	return uint8(best)
}

// AppendSixel appends a rectangle of a picture of Quantise's as a sixel sequence, whose
// transparent pixels leave what is there.
func AppendSixel(buf []byte, px *image.Paletted, r image.Rectangle) []byte {
	r = r.Intersect(px.Rect)
	w, h := r.Dx(), r.Dy()
	if w == 0 || h == 0 {
		return buf
	}
	buf = append(buf, "\x1bP9;1;0q\"1;1;"...)
	buf = appendInt(append(appendInt(buf, w), ';'), h)
	var said [256]bool
	down := -1                               // bands that were not begun
	bands := make([][]byte, len(px.Palette)) // by colour: the sixels of six rows
	for top := 0; top < h; top += 6 {
		var used []uint8
		var in [256]bool
		for y := top; y < min(top+6, h); y++ {
			bit := byte(1) << (y - top)
			row := px.Pix[px.PixOffset(r.Min.X, r.Min.Y+y):][:w]
			for x, c := range row {
				if c == 0 {
					continue
				}
				if !in[c] {
					in[c] = true
					used = append(used, c)
					if bands[c] == nil {
						bands[c] = make([]byte, w)
					}
				}
				bands[c][x] |= bit
			}
		}
		if down++; len(used) > 0 {
			for ; down > 0; down-- {
				buf = append(buf, '-')
			}
		}
		for i, c := range used {
			if i > 0 {
				buf = append(buf, '$')
			}
			if !said[c] {
				said[c] = true
				of := px.Palette[c].(color.NRGBA)
				buf = append(appendInt(append(buf, '#'), int(c)-1), ";2"...)
				for _, v := range [...]uint8{of.R, of.G, of.B} {
					buf = appendInt(append(buf, ';'), (int(v)*100+127)/255)
				}
			}
			buf = appendInt(append(buf, '#'), int(c)-1) // in xterm, too, which does not take what it sets
			buf = appendBand(buf, bands[c])
			clear(bands[c])
		}
	}
	return append(buf, "\x1b\\"...)
}

// appendBand appends the sixels of one colour, without those that are empty at the end.
func appendBand(buf, band []byte) []byte {
	for len(band) > 0 && band[len(band)-1] == 0 {
		band = band[:len(band)-1]
	}
	for len(band) > 0 {
		n := 1
		for n < len(band) && band[n] == band[0] {
			n++
		}
		c := band[0] + '?'
		if n > 3 {
			buf = append(appendInt(append(buf, '!'), n), c)
		} else {
			for range n {
				buf = append(buf, c)
			}
		}
		band = band[n:]
	}
	return buf
}

func appendInt(buf []byte, n int) []byte { return strconv.AppendInt(buf, int64(n), 10) }
