package native

import (
	"testing"

	"tandemux/emulator"
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

// Each set can be designated by what a snapshot calls it.
func TestSetNames(t *testing.T) {
	for s := range numSets {
		e := newEngine(emulator.Options{Cols: 5, Rows: 1})
		intro := "\x1b[?42h\x1b)"
		if charset(s) == setLatin1 {
			intro = "\x1b-"
		}
		e.Write([]byte(intro + setNames[s]))
		if got := e.cur.charsets.g[1]; got != charset(s) {
			t.Errorf("set %d, designated as %q, is %d", s, setNames[s], got)
		}
	}
}
