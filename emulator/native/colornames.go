package native

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"tandemux/emulator"
)

// colorNames are X11's (rgb.txt of X.Org), in lower case without blanks and with
// their values in hexadecimal. gray0 to gray100 are computed.
//
//go:embed colornames.txt
var colorNames string

var colorsByName = sync.OnceValue(func() map[string]emulator.Color {
	m := map[string]emulator.Color{}
	for line := range strings.Lines(colorNames) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.ParseUint(value, 16, 24)
		m[name] = emulator.RGB(uint8(n>>16), uint8(n>>8), uint8(n))
	}
	return m
})

// namedColor gives the colour of a name, with any case and blanks (XParseColor).
func namedColor(name string) (emulator.Color, bool) {
	if len(name) > 64 {
		return 0, false
	}
	name = strings.ReplaceAll(strings.ToLower(name), " ", "")
	if n, ok := strings.CutPrefix(strings.Replace(name, "grey", "gray", 1), "gray"); ok {
		if v, err := strconv.ParseUint(n, 10, 8); err == nil && v <= 100 {
			grey := uint8(float64(float64(v)*2.55) + 0.5)
			return emulator.RGB(grey, grey, grey), true
		}
	}
	c, ok := colorsByName()[name]
	return c, ok
}
