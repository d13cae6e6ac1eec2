package control

import (
	"testing"

	"tandemux/emulator/native/grapheme"
)

// What a set prints is one column wide, as print takes it to be.
func TestGlyphsAreNarrow(t *testing.T) {
	for s := range glyphs {
		for b, r := range glyphs[s] {
			if w := grapheme.Of(r).Width(); r != 0 && w != 1 {
				t.Errorf("set %s, byte %#x: %q has width %d", setNames[s], b+0x20, r, w)
			}
		}
	}
}
