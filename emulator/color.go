package emulator

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// The answers to OSC 10, 11 and 12 while the outer terminal's colours are unknown.
var (
	defaultFG = RGB(0xe5, 0xe5, 0xe5)
	defaultBG = RGB(0, 0, 0)
)

// Dark reports whether the background is dark. An unknown one counts as dark.
func (c Colors) Dark() bool {
	r, g, b, ok := c.BG.RGB()
	return !ok || 299*int(r)+587*int(g)+114*int(b) < 128*1000
}

// Hex returns an RGB colour as "#rrggbb", another kind as "".
func (c Color) Hex() string {
	r, g, b, ok := c.RGB()
	if !ok {
		return ""
	}
	return fmt.Sprintf("#%02x%02x%02x", r, g, b)
}

// Dynamic returns the current colour n (10 text, 11 background, 12 cursor): the child's, else
// the outer terminal's, else a default.
func (p Palette) Dynamic(n int, outer Colors) Color {
	set, shown, def := p.FG, outer.FG, defaultFG
	switch n {
	case 11:
		set, shown, def = p.BG, outer.BG, defaultBG
	case 12:
		set, shown = p.Cursor, outer.Cursor
	}
	for _, c := range []Color{set, shown} {
		if _, _, _, ok := c.RGB(); ok {
			return c
		}
	}
	return def
}

// At returns the current palette colour i: the child's, else the outer terminal's, else
// xterm's default.
func (p Palette) At(i uint8, outer Colors) Color {
	if c, ok := p.Indexed[i]; ok {
		return c
	}
	if int(i) < len(outer.Indexed) {
		if c := outer.Indexed[i]; !c.IsDefault() {
			return c
		}
	}
	return RGB(PaletteRGB(i))
}

// ParseColor parses rgb:R/G/B and #RGB with one to four hexadecimal digits each, rgbi:R/G/B
// with numbers from 0 to 1, and names, as XParseColor does.
func ParseColor(s string) (Color, bool) {
	var part [3]string
	if rest, ok := strings.CutPrefix(s, "rgbi:"); ok {
		var v [3]uint8
		p := strings.Split(rest, "/")
		for i := range min(len(p), len(v)) {
			f, err := strconv.ParseFloat(p[i], 64)
			if err != nil || f != f {
				return 0, false
			}
			v[i] = uint8(max(0, min(f, 1))*255 + 0.5)
		}
		return RGB(v[0], v[1], v[2]), len(p) == len(v)
	} else if rest, ok := bytes.CutPrefix([]byte(s), []byte("rgb:")); ok {
		p := bytes.Split(rest, []byte{'/'})
		if len(p) != 3 {
			return 0, false
		}
		for i := range part {
			part[i] = string(p[i])
		}
	} else if len(s) > 1 && s[0] == '#' && (len(s)-1)%3 == 0 && len(s) <= 13 {
		n := (len(s) - 1) / 3
		for i := range part {
			part[i] = s[1+i*n : 1+(i+1)*n]
		}
	} else {
		return namedColor(s)
	}
	var v [3]uint8
	for i, p := range part {
		if len(p) < 1 || len(p) > 4 {
			return 0, false
		}
		n, err := strconv.ParseUint(p, 16, 16)
		if err != nil {
			return 0, false
		}
		if s[0] == '#' {
			// The digits are the most significant ones.
			v[i] = uint8(n << (16 - 4*len(p)) >> 8)
		} else {
			most := uint64(1)<<(4*len(p)) - 1
			v[i] = uint8((n*255 + most/2) / most)
		}
	}
	return RGB(v[0], v[1], v[2]), true
}

// colorNames are X11's colours (rgb.txt of X.Org): names in lower case without blanks, values
// in hexadecimal. gray0 to gray100 are left out, since they are computed.
//
//go:embed colornames.txt
var colorNames string

var colorsByName = sync.OnceValue(func() map[string]Color {
	m := map[string]Color{}
	for line := range strings.Lines(colorNames) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.ParseUint(value, 16, 24)
		m[name] = RGB(uint8(n>>16), uint8(n>>8), uint8(n))
	}
	return m
})

// namedColor returns the colour of a name. Case and blanks don't matter, as in XParseColor.
func namedColor(name string) (Color, bool) {
	if len(name) > 64 {
		return 0, false
	}
	name = strings.ReplaceAll(strings.ToLower(name), " ", "")
	if n, ok := strings.CutPrefix(strings.Replace(name, "grey", "gray", 1), "gray"); ok {
		if v, err := strconv.ParseUint(n, 10, 8); err == nil && v <= 100 {
			grey := uint8(float64(float64(v)*2.55) + 0.5)
			return RGB(grey, grey, grey), true
		}
	}
	c, ok := colorsByName()[name]
	return c, ok
}

// Style returns s reduced to what a receiver with this profile can show.
func (p Profile) Style(s Style) Style {
	s.FG, s.BG = p.color(s.FG), p.color(s.BG)
	if !p.Underlines {
		s.UnderlineColor = 0
		if s.Underline != NoUnderline {
			s.Underline = Single
		}
	} else {
		s.UnderlineColor = p.color(s.UnderlineColor)
	}
	if !p.Overline {
		s.Attrs &^= Overline
	}
	if !p.Protect {
		s.Attrs &^= Protected
	}
	return s
}

// color converts a colour to the profile's depth.
func (p Profile) color(c Color) Color {
	switch p.Colors {
	case TrueColor:
		return c
	case NoColors:
		return 0
	}
	if r, g, b, ok := c.RGB(); ok {
		c = Indexed(nearest256(r, g, b))
	}
	if i, ok := c.Index(); ok && p.Colors == Colors16 {
		return Indexed(basic[i])
	}
	return c
}

// palette16 has xterm's defaults of the basic colours.
var palette16 = [16][3]uint8{
	{0, 0, 0},
	{205, 0, 0},
	{0, 205, 0},
	{205, 205, 0},
	{0, 0, 238},
	{205, 0, 205},
	{0, 205, 205},
	{229, 229, 229},
	{127, 127, 127},
	{255, 0, 0},
	{0, 255, 0},
	{255, 255, 0},
	{92, 92, 255},
	{255, 0, 255},
	{0, 255, 255},
	{255, 255, 255},
}

// PaletteRGB returns xterm's default of a palette index: 16 basic colours, a 6×6×6 cube, 24
// greys.
func PaletteRGB(i uint8) (r, g, b uint8) {
	switch {
	case i < 16:
		c := palette16[i]
		return c[0], c[1], c[2]
	case i < 232:
		i -= 16
		return cubeLevel(i / 36), cubeLevel(i / 6 % 6), cubeLevel(i % 6)
	default:
		v := 8 + 10*(i-232)
		return v, v, v
	}
}

func cubeLevel(i uint8) uint8 {
	if i == 0 {
		return 0
	}
	return 55 + 40*i
}

// nearest256 returns the index of the cube's or the grey ramp's colour next to (r, g, b). It
// never returns a basic colour, since users change these.
func nearest256(r, g, b uint8) uint8 {
	ri, gi, bi := cubeIndex(r), cubeIndex(g), cubeIndex(b)
	cube := 16 + 36*ri + 6*gi + bi
	mean := (int(r) + int(g) + int(b)) / 3
	grey := uint8(232 + min(23, max(0, (mean-3)/10)))
	if distance(cube, r, g, b) <= distance(grey, r, g, b) {
		return cube
	}
	return grey
}

func cubeIndex(v uint8) uint8 {
	switch {
	case v < 48:
		return 0
	case v < 115:
		return 1
	default:
		return (v - 35) / 40
	}
}

// distance returns the squared distance of palette colour i and (r, g, b), with green weighted
// most and blue least.
func distance(i, r, g, b uint8) int {
	pr, pg, pb := PaletteRGB(i)
	dr, dg, db := int(pr)-int(r), int(pg)-int(g), int(pb)-int(b)
	return 3*dr*dr + 4*dg*dg + 2*db*db
}

// basic maps each palette index to the nearest basic colour.
var basic = func() (t [256]uint8) {
	for i := range t {
		if i < 16 {
			t[i] = uint8(i)
			continue
		}
		r, g, b := PaletteRGB(uint8(i))
		best := -1
		for j := range palette16 {
			if d := distance(uint8(j), r, g, b); best < 0 || d < best {
				best, t[i] = d, uint8(j)
			}
		}
	}
	return t
}()
