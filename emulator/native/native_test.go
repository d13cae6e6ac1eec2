package native

import (
	"fmt"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
)

// Every golden screen that all engines share, and our own.
func TestGolden(t *testing.T) {
	t.Run("shared", func(t *testing.T) { emutest.Run(t, New, "../testdata/*.txtar") })
	t.Run("own", func(t *testing.T) { emutest.Run(t, New, "testdata/*.txtar") })
}

// Whatever a child writes: any split of it is the same, a snapshot rebuilds the
// state, damage covers what changed, and what we give is well formed.
func TestProperties(t *testing.T) {
	n := 100
	if testing.Short() {
		n = 30
	}
	emutest.Properties(t, New, emutest.Options{Features: emutest.All, Programs: n, Steps: 60, Seed: 1})
}

// A snapshot has every mode that DECRQM tells, DECCOLM as well.
func TestSnapshotHasModes(t *testing.T) {
	for n, m := range privateModes {
		if m.flag == 0 || n == 2048 {
			continue // told in another way; 2048 answers at once
		}
		e := newEngine(emulator.Options{Cols: 10, Rows: 3})
		on := e.flags.has(m.flag)
		e.Write(fmt.Appendf(nil, "\x1b[?%d%cabc", n, setReset(!on)))
		f := newEngine(emulator.Options{Cols: 10, Rows: 3})
		f.Write(e.Snapshot(nil, -1))
		if got, want := f.modeState(privateModes, n), e.modeState(privateModes, n); got != want {
			t.Errorf("mode %d is %d, rebuilt %d", n, want, got)
		}
		if d := emutest.Diff(emutest.Dump(f), emutest.Dump(e)); d != "" {
			t.Errorf("mode %d:\n%s", n, d)
		}
	}
}
