package themes

import (
	"fmt"
	"strings"
)

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
