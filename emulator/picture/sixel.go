package picture

import (
	"image"
	"image/color"
)

// A sixel picture is as a DCS has it: parameters, "q", then
//
//	"Pan;Pad;Ph;Pv  the shape of a pixel, and the size
//	#Pc;Pu;Px;Py;Pz a colour register, by HLS (1) or RGB (2)
//	!Pn c           c, Pn times
//	$ -             back to the left; to the next six rows
//	? to ~          six pixels below each other, as the bits of c-'?'
//
// Pixels that nothing sets are transparent, whatever P2 says. A colour register that
// is set again leaves what was drawn with it before, as in most terminals of today.

const (
	sixelRegisters = 1024
	maxSixelArg    = 1 << 16
	// maxSixelWork bounds the pixels that are set, again and again, in one picture.
	maxSixelWork = 4 * MaxPixels
)

// vt340 are the first registers as a VT340 has them, in percent.
var vt340 = [16][3]uint8{
	{0, 0, 0},
	{20, 20, 80},
	{80, 13, 13},
	{20, 80, 20},
	{80, 20, 80},
	{20, 80, 80},
	{80, 80, 20},
	{53, 53, 53},
	{26, 26, 26},
	{33, 33, 60},
	{60, 26, 26},
	{33, 60, 33},
	{60, 33, 60},
	{33, 60, 60},
	{60, 60, 33},
	{80, 80, 80},
}

// aspects are the heights of a pixel by P1.
var aspects = [...]int{2, 2, 5, 3, 3, 2, 2, 1, 1, 1}

// sixels reads a sixel picture.
type sixels struct {
	data   []byte
	args   [5]int
	n      int // arguments
	aspect int
	x, y   int // where the next goes; y is of the six rows
	w, h   int // of what was drawn or said
	color  color.NRGBA
	colors map[int]color.NRGBA // registers that were set
}

// SixelSize gives the size of a sixel picture; ok is false for one of nothing, or with
// too many pixels.
func SixelSize(data []byte) (w, h int, ok bool) {
	s := sixels{data: data}
	s.walk(nil)
	return s.w, s.h, sane(s.w, s.h) && s.w*s.h <= MaxPixels
}

// DecodeSixel gives the pixels of a sixel picture, cut at the size.
func DecodeSixel(data []byte, w, h int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	s := sixels{data: data, colors: map[int]color.NRGBA{}}
	work := 0
	s.color = s.register(0)
	s.walk(func(n int, bits byte) bool {
		if n = min(n, w-s.x); n <= 0 {
			return true
		}
		for bit := range 6 {
			if bits>>bit&1 == 0 {
				continue
			}
			for y := (s.y + bit) * s.aspect; y < min((s.y+bit+1)*s.aspect, h); y++ {
				to := out.Pix[y*out.Stride+s.x*4:][:n*4]
				to[0], to[1], to[2], to[3] = s.color.R, s.color.G, s.color.B, 0xff
				for done := 4; done < len(to); done *= 2 {
					copy(to[done:], to[:done])
				}
				work += n
			}
		}
		return work < maxSixelWork
	})
	return out
}

// walk reads the picture and calls paint, unless it is nil, for sixels to be drawn,
// until it says that it is enough.
func (s *sixels) walk(paint func(n int, bits byte) bool) {
	s.numbers()
	if len(s.data) == 0 || s.data[0] != 'q' {
		return
	}
	s.aspect = aspects[min(s.args[0], len(aspects)-1)]
	s.data = s.data[1:]
	for len(s.data) > 0 && s.y < MaxSide {
		b := s.data[0]
		s.data = s.data[1:]
		n := 1
		switch b {
		case '"':
			// The shape of a pixel and the size.
			s.numbers()
			if tall, wide := s.args[0], s.args[1]; tall > 0 && wide > 0 {
				s.aspect = min(max((tall+wide-1)/wide, 1), 10)
			}
			s.w, s.h = max(s.w, s.args[2]), max(s.h, s.args[3])
			continue
		case '#':
			s.choose(paint != nil)
			continue
		case '$':
			s.x = 0
			continue
		case '-':
			s.x, s.y = 0, s.y+6
			continue
		case '!':
			if s.numbers(); len(s.data) == 0 {
				return
			}
			n = min(max(s.args[0], 1), MaxSide)
			b = s.data[0]
			s.data = s.data[1:]
		}
		if b < '?' || b > '~' {
			continue
		}
		bits := b - '?'
		n = min(n, MaxSide-s.x)
		if bits != 0 {
			s.w = max(s.w, s.x+n)
			for bit := 5; bit >= 0; bit-- {
				if bits>>bit&1 != 0 {
					s.h = max(s.h, (s.y+bit+1)*s.aspect)
					break
				}
			}
			if paint != nil && n > 0 && !paint(n, bits) {
				return
			}
		}
		s.x += n
	}
}

// numbers reads numbers with semicolons between them.
func (s *sixels) numbers() {
	s.args, s.n = [5]int{}, 0
	for i, b := range s.data {
		switch {
		case b >= '0' && b <= '9':
			if s.n < len(s.args) {
				s.args[s.n] = min(s.args[s.n]*10+int(b-'0'), maxSixelArg)
			}
		case b == ';':
			s.n++
		default:
			s.data = s.data[i:]
			s.n++
			return
		}
	}
	s.data = nil
}

// choose sets or takes a colour register.
func (s *sixels) choose(paint bool) {
	s.numbers()
	if !paint {
		return
	}
	n, percent := s.args[0]%sixelRegisters, func(i int) int { return min(s.args[i], 100) }
	switch s.args[1] {
	case 1:
		s.colors[n] = hls(s.args[2], percent(3), percent(4))
	case 2:
		s.colors[n] = rgb(percent(2), percent(3), percent(4))
	}
	s.color = s.register(n)
}

func (s *sixels) register(n int) color.NRGBA {
	if c, ok := s.colors[n]; ok {
		return c
	}
	if n < len(vt340) {
		c := vt340[n]
		return rgb(int(c[0]), int(c[1]), int(c[2]))
	}
	return color.NRGBA{A: 0xff}
}

// rgb makes a colour of percents.
func rgb(r, g, b int) color.NRGBA {
	of := func(p int) uint8 { return uint8((p*255 + 50) / 100) }
	return color.NRGBA{R: of(r), G: of(g), B: of(b), A: 0xff}
}

// hls makes a colour of a hue in degrees, where blue is 0, and percents.
func hls(h, l, s int) color.NRGBA {
	const unit = 6000 // of sixty degrees
	c := (100 - abs(2*l-100)) * s / 100
	at := (h + 240) % 360
	x := c * (unit - abs(at*100%(2*unit)-unit)) / unit
	m := l - c/2
	parts := [...][3]int{{c, x, 0}, {x, c, 0}, {0, c, x}, {0, x, c}, {x, 0, c}, {c, 0, x}}[at/60]
	return rgb(max(parts[0]+m, 0), max(parts[1]+m, 0), max(parts[2]+m, 0))
}

func abs(n int) int { return max(n, -n) }
