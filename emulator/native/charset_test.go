package native

import (
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/control"
)

// Each set can be designated by what a snapshot calls it.
func TestSetNames(t *testing.T) {
	for s := range control.NumCharsets {
		e := newEngine(emulator.Options{Cols: 5, Rows: 1})
		intro := "\x1b[?42h\x1b)"
		if control.Charset(s) == control.Latin1 {
			intro = "\x1b-"
		}
		e.Write([]byte(intro + control.Charset(s).Name()))
		if got := e.cur.charsets.G[1]; got != control.Charset(s) {
			t.Errorf("set %d, designated as %q, is %d", s, control.Charset(s).Name(), got)
		}
	}
}
