package native

import (
	"fmt"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/control"
	"tandemux/emulator/emutest"
	"tandemux/internal/soak"
)

// Every golden screen that all engines share, and our own.
func TestGolden(t *testing.T) {
	t.Run("shared", func(t *testing.T) { emutest.Run(t, New, "../testdata/*.txtar") })
	t.Run("own", func(t *testing.T) { emutest.Run(t, New, "testdata/*.txtar") })
}

// Whatever a child writes: any split of it is the same, a snapshot rebuilds the
// state, damage covers what changed, and what we give is well formed.
func TestProperties(t *testing.T) {
	n := soak.Size(t, soak.Short(8, 50), 1000)
	emutest.Properties(t, New, emutest.Options{Features: emutest.All, Programs: n, Steps: 60, Seed: 1})
}

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
