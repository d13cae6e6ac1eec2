package emulator

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// What OSC 10, 11 and 12 answer while the outer terminal's colours are unknown.
var (
	defaultFG = RGB(0xe5, 0xe5, 0xe5)
	defaultBG = RGB(0, 0, 0)
)

// Dark reports whether the background is nearer to black, as it is taken to be while
// it is unknown.
func (c Colors) Dark() bool {
	r, g, b, ok := c.BG.RGB()
	return !ok || 299*int(r)+587*int(g)+114*int(b) < 128*1000
}

// Hex writes an RGB colour as "#rrggbb"; "" is another one.
func (c Color) Hex() string {
	r, g, b, ok := c.RGB()
	if !ok {
		return ""
	}
	return fmt.Sprintf("#%02x%02x%02x", r, g, b)
}

// Dynamic gives what colour n (10 text, 11 background, 12 cursor) is now: what the
// child has set, or the outer terminal's.
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

// At gives what palette colour i is now.
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

// ParseColor reads rgb:R/G/B with one to four digits each, #RGB with one to four
// digits each, and names (XParseColor).
func ParseColor(s string) (Color, bool) {
	var part [3]string
	if rest, ok := bytes.CutPrefix([]byte(s), []byte("rgb:")); ok {
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
			// The digits are the high ones.
			v[i] = uint8(n << (16 - 4*len(p)) >> 8)
		} else {
			most := uint64(1)<<(4*len(p)) - 1
			v[i] = uint8((n*255 + most/2) / most)
		}
	}
	return RGB(v[0], v[1], v[2]), true
}

// colorNames are X11's (rgb.txt of X.Org), in lower case without blanks and with
// their values in hexadecimal. gray0 to gray100 are computed.
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

// namedColor gives the colour of a name, with any case and blanks (XParseColor).
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
