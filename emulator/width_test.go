package emulator

import (
	"bytes"
	_ "embed"
	"fmt"
	"testing"
)

//go:embed testdata/wcwidth.txt
var wcwidths []byte

// newerWidths are where we differ from glibc 2.36 on purpose.
var newerWidths = []struct {
	from, to rune
	why      string
}{
	{0x2630, 0x2637, "wide since Unicode 16"},
	{0x268a, 0x268f, "wide since Unicode 16"},
	{0x1d300, 0x1d356, "wide since Unicode 16"},
	{0x1d360, 0x1d376, "wide since Unicode 16"},
}

// Every character that glibc knows is as wide as wcwidth says.
func TestRuneWidth(t *testing.T) {
	known := 0
	for line := range bytes.Lines(wcwidths) {
		var from, to rune
		var want int
		if line[0] == '#' {
			continue
		}
		if _, err := fmt.Sscanf(string(line), "%x %x %d", &from, &to, &want); err != nil {
			t.Fatal(err)
		}
	runes:
		for r := from; r <= to; r++ {
			known++
			got := RuneWidth(r)
			for _, d := range newerWidths {
				if r >= d.from && r <= d.to {
					if got != 2 || want != 1 {
						t.Errorf("%U is %d wide, in glibc %d: not what %q means", r, got, want, d.why)
					}
					continue runes
				}
			}
			if got != want {
				t.Errorf("%U is %d wide, in glibc %d", r, got, want)
			}
		}
	}
	if known < 280000 {
		t.Errorf("only %d characters in the table", known)
	}
}

func TestClusterWidth(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "a": 1, "日": 2, "e\u0301": 1, "\u0301": 0,
		"น้ำ": 2, "ก็": 1, "ທຳ": 2, "கி": 2, "क्षि": 2, // Thai, Lao, Tamil, Devanagari
		"👩‍👩‍👧": 2, "👍🏽": 2, "🇩🇪": 2, "🇩": 1, "☁": 1, "☁\ufe0f": 2, "1\ufe0f\u20e3": 2, "x\ufe0f": 1, "⌚": 2, "⌚\ufe0e": 2, "☁\ufe0e": 1,
		"\u1100\u1161\u11a8": 2, "\uac01": 2, "\u00ad": 1, "\u0600": 1,
	} {
		if got := ClusterWidth(s); got != want {
			t.Errorf("%+q is %d wide, want %d", s, got, want)
		}
	}
}
