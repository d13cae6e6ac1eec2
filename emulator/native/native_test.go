package native

import (
	"fmt"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/control"
	"tandemux/emulator/emutest"
)

// A snapshot has every mode that DECRQM tells, DECCOLM as well.
func TestSnapshotHasModes(t *testing.T) {
	state := func(e *Engine, n int) string {
		e.Events()
		e.Write(fmt.Appendf(nil, "\x1b[?%d$p", n))
		return e.Events()[0].Text
	}
	o, modes := emulator.Options{Cols: 10, Rows: 3}, 0
	for n := range 2048 { // That one answers at once.
		e := newEngine(o)
		was := state(e, n)
		on := was == fmt.Sprintf("\x1b[?%d;1$y", n)
		e.Write(fmt.Appendf(nil, "\x1b[?%d%cabc", n, control.SetReset(!on)))
		got := state(e, n)
		if got == was {
			continue // told in another way, or none
		}
		modes++
		f := newEngine(o)
		f.Write(e.Snapshot(nil, -1))
		if rebuilt := state(f, n); got != rebuilt {
			t.Errorf("mode %d is %q, rebuilt %q", n, got, rebuilt)
		}
		if d := emutest.Diff(emutest.Dump(f), emutest.Dump(e)); d != "" {
			t.Errorf("mode %d:\n%s", n, d)
		}
	}
	if modes < 30 {
		t.Errorf("only %d modes change", modes)
	}
}
