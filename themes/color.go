package themes

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tandemux/emulator"
)

// Color is "#rrggbb", one of the outer terminal's own "0" to "15", or
// "default", which is the zero one.
type Color = emulator.Color

// ParseColor reads a colour: "#7cc4ff", "#7cf", "0" to "15" or "default".
func ParseColor(s string) (Color, error) {
	if s == "default" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(s, 10, 8); err == nil && n < 16 && s == strconv.Itoa(int(n)) {
		return emulator.Indexed(uint8(n)), nil
	}
	if len(s) == 4 && s[0] == '#' {
		s = string([]byte{'#', s[1], s[1], s[2], s[2], s[3], s[3]})
	}
	if len(s) == 7 && s[0] == '#' && s[1] != '+' && s[1] != '-' {
		if n, err := strconv.ParseUint(s[1:], 16, 32); err == nil {
			return emulator.RGB(uint8(n>>16), uint8(n>>8), uint8(n)), nil
		}
	}
	if len(s) > 32 {
		s = s[:32] + "…"
	}
	return 0, fmt.Errorf(`%q is no colour; write "#rrggbb", "0" to "15" or "default"`, s)
}

// Spell gives the canonical spelling of a colour, which ParseColor reads back.
func Spell(c Color) string {
	if i, ok := c.Index(); ok {
		return strconv.Itoa(int(i))
	}
	return cmp.Or(c.Hex(), "default")
}

// Contrast gives the WCAG contrast ratio of two colours, 1 to 21; ok is false
// when one of them is the outer terminal's and so unknown.
func Contrast(a, b Color) (ratio float64, ok bool) {
	light, okA := luminance(a)
	dark, okB := luminance(b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05), okA && okB
}

// luminance is WCAG's relative luminance of an sRGB colour; ok is false for others.
func luminance(c Color) (of float64, ok bool) {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	r, g, b, ok := c.RGB()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b), ok
}

// Backgrounds that people's terminals have: the darkest and the lightest of the
// widespread dark ones, and of the light ones.
var (
	darkGrounds  = []Color{emulator.RGB(0, 0, 0), emulator.RGB(0x2e, 0x34, 0x40)}
	lightGrounds = []Color{emulator.RGB(0xff, 0xff, 0xff), emulator.RGB(0xee, 0xe8, 0xd5)}
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
					k.name, Spell(*k.of(&t.Colors)), Spell(ground), ratio, k.least))
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
func (t Theme) On(shown emulator.Colors) Theme {
	for _, k := range tokens {
		c := k.of(&t.Colors)
		i, own := c.Index()
		if !own || k.least == 0 {
			continue
		}
		ground, on := shown.BG, false
		if k.on != "" {
			if g := *find(k.on).of(&t.Colors); !g.IsDefault() {
				ground, on = g, true
			}
			if j, ok := ground.Index(); ok {
				ground = shown.Indexed[j]
			}
		}
		least := ownText
		if k.least == decoration {
			least = ownDecoration
		}
		ratio, known := Contrast(shown.Indexed[i], ground)
		switch {
		case !known || ratio >= least:
		case !on:
			*c = 0
		default:
			*c = clearest(&shown, ground)
		}
	}
	return t
}

// clearest gives the one of black and white that can be read best on a ground.
func clearest(shown *emulator.Colors, ground Color) Color {
	best, most := Color(0), 0.0
	for _, i := range [...]uint8{0, 15, 7, 8} {
		if ratio, ok := Contrast(shown.Indexed[i], ground); ok && ratio > most {
			best, most = emulator.Indexed(i), ratio
		}
	}
	return best
}
