package themes

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Color is "#rrggbb", one of the outer terminal's own "0" to "15", or
// "default". The zero Color is the default one. Colors compare with ==.
type Color struct {
	kind    kind
	r, g, b uint8 // r is the index of a palette colour
}

type kind uint8

const (
	isDefault kind = iota
	isPalette
	isRGB
)

// ParseColor reads a colour: "#7cc4ff", "#7cf", "0" to "15" or "default".
func ParseColor(s string) (Color, error) {
	if s == "default" {
		return Color{}, nil
	}
	if n, err := strconv.ParseUint(s, 10, 8); err == nil && n < 16 && s == strconv.Itoa(int(n)) {
		return Color{kind: isPalette, r: uint8(n)}, nil
	}
	if len(s) == 4 && s[0] == '#' {
		s = string([]byte{'#', s[1], s[1], s[2], s[2], s[3], s[3]})
	}
	if len(s) == 7 && s[0] == '#' && s[1] != '+' && s[1] != '-' {
		if n, err := strconv.ParseUint(s[1:], 16, 32); err == nil {
			return Color{isRGB, uint8(n >> 16), uint8(n >> 8), uint8(n)}, nil
		}
	}
	if len(s) > 32 {
		s = s[:32] + "…"
	}
	return Color{}, fmt.Errorf(`%q is no colour; write "#rrggbb", "0" to "15" or "default"`, s)
}

// String gives the canonical spelling, which ParseColor reads back.
func (c Color) String() string {
	switch c.kind {
	case isPalette:
		return strconv.Itoa(int(c.r))
	case isRGB:
		return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b)
	default:
		return "default"
	}
}

// IsDefault says whether the outer terminal's default colour is meant.
func (c Color) IsDefault() bool { return c.kind == isDefault }

// ANSI gives the index in the outer terminal's palette, 0 to 15; ok is false for
// other colours.
func (c Color) ANSI() (index uint8, ok bool) { return c.r, c.kind == isPalette }

// RGB gives the components; ok is false for colours of the outer terminal's.
func (c Color) RGB() (r, g, b uint8, ok bool) { return c.r, c.g, c.b, c.kind == isRGB }

// Contrast gives the WCAG contrast ratio of two colours, 1 to 21; ok is false
// when one of them is the outer terminal's and so unknown.
func Contrast(a, b Color) (ratio float64, ok bool) {
	if a.kind != isRGB || b.kind != isRGB {
		return 0, false
	}
	light, dark := a.luminance(), b.luminance()
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05), true
}

// luminance is WCAG's relative luminance of an sRGB colour.
func (c Color) luminance() float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// RGB gives the colour of these components.
func RGB(r, g, b uint8) Color { return Color{isRGB, r, g, b} }

// Backgrounds that people's terminals have: the darkest and the lightest of the
// widespread dark ones, and of the light ones.
var (
	darkGrounds  = []Color{{kind: isRGB}, {isRGB, 0x2e, 0x34, 0x40}}
	lightGrounds = []Color{{isRGB, 0xff, 0xff, 0xff}, {isRGB, 0xee, 0xe8, 0xd5}}
)

// Faults says in words for the user which tokens are hard to read on their
// ground. Colours of the outer terminal's own palette are not judged.
func (t Theme) Faults() []string {
	var faults []string
	for _, k := range tokens {
		if k.least == 0 {
			continue
		}
		for _, ground := range t.grounds(k) {
			if ratio, ok := Contrast(*k.of(&t.Colors), ground); ok && ratio < k.least {
				faults = append(faults, fmt.Sprintf("%s: %s on %s has a contrast of %.1f, %.1f is the least",
					k.name, *k.of(&t.Colors), ground, ratio, k.least))
			}
		}
	}
	return faults
}

// grounds gives the colours that a token may be drawn on.
func (t Theme) grounds(k token) []Color {
	if k.on != "" {
		return []Color{*find(k.on).of(&t.Colors)}
	}
	grounds := []Color{t.Background}
	if t.Dark {
		grounds = append(grounds, darkGrounds...)
	} else {
		grounds = append(grounds, lightGrounds...)
	}
	if strings.HasPrefix(k.name, "badge_") {
		grounds = append(grounds, t.StatusBg) // the focused terminal's shows there, too
	}
	return grounds
}

// Palette is what the outer terminal shows for its own colours; unknown ones are
// the default colour.
type Palette struct {
	Background Color
	Indexed    [16]Color
}

// Least contrasts of the outer terminal's own colours. They are its user's choice,
// so less is asked of them than of a theme's.
const (
	ownText       = 3.0
	ownDecoration = 1.1
)

// On gives the theme for an outer terminal whose colours are known: one of its own
// colours that can't be told from its ground, as the bright black of some palettes
// is their background, gives way to the default colour, or on another of its own
// colours to its black or white.
func (t Theme) On(p Palette) Theme {
	for _, k := range tokens {
		c := k.of(&t.Colors)
		i, own := c.ANSI()
		if !own || k.least == 0 {
			continue
		}
		ground, on := p.Background, false
		if k.on != "" {
			if g := *find(k.on).of(&t.Colors); !g.IsDefault() {
				ground, on = g, true
			}
			if j, ok := ground.ANSI(); ok {
				ground = p.Indexed[j]
			}
		}
		least := ownText
		if k.least == decoration {
			least = ownDecoration
		}
		ratio, known := Contrast(p.Indexed[i], ground)
		switch {
		case !known || ratio >= least:
		case !on:
			*c = Color{}
		default:
			*c = p.clearest(ground)
		}
	}
	return t
}

// clearest gives the one of black and white that can be read best on a ground.
func (p Palette) clearest(ground Color) Color {
	best, most := Color{}, 0.0
	for _, i := range [...]uint8{0, 15, 7, 8} {
		if ratio, ok := Contrast(p.Indexed[i], ground); ok && ratio > most {
			best, most = Color{kind: isPalette, r: i}, ratio
		}
	}
	return best
}
