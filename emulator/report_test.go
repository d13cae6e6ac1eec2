package emulator_test

import (
	"testing"

	"tandemux/emulator"
)

// What DECRQSS answers about SGR makes the same style again and has its colours
// with colons, as xterm has them.
func TestStyleReport(t *testing.T) {
	for _, c := range []struct {
		style emulator.Style
		want  string
	}{
		{emulator.Style{}, "0"},
		{emulator.Style{Attrs: emulator.Protected}, "0"},
		{emulator.Style{Attrs: emulator.Bold | emulator.Strike, FG: emulator.Indexed(1), BG: emulator.Indexed(12)}, "0;1;9;31;104"},
		{emulator.Style{FG: emulator.Indexed(38), BG: emulator.RGB(48, 2, 5)}, "0;38:5:38;48:2::48:2:5"},
		{emulator.Style{Underline: emulator.Curly, UnderlineColor: emulator.Indexed(7)}, "0;4:3;58:5:7"},
	} {
		if got := emulator.StyleReport(c.style); got != c.want {
			t.Errorf("%+v is reported as %q, want %q", c.style, got, c.want)
		}
	}
}
