package emulator

// Style gives s as far as a receiver with this profile can show it.
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

// color brings a colour down to the profile's depth.
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

// palette16 is xterm's default for the basic colours.
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

// PaletteRGB gives xterm's default for a palette index: 16 basic colours, a
// 6×6×6 cube, 24 greys.
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

// nearest256 is the cube's or the grey ramp's colour next to (r, g, b). The
// basic colours are left out: users change them.
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

// distance is the squared distance, green weighing most and blue least as the
// eye sees them.
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
