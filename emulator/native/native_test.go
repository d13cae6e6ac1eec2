package native

import (
	"testing"

	"cotty/emulator/emutest"
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
