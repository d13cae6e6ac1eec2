package themes

import (
	"fmt"
	"math"
	"strconv"
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
