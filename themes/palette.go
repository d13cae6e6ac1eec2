package themes

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
