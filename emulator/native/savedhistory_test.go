package native

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
)

// moved makes an engine of a screen's snapshot and the saved history.
func moved(t *testing.T, e *Engine) *Engine {
	t.Helper()
	f := newEngine(emulator.Options{Cols: e.cols, Rows: e.rows, History: e.hist.limit})
	state, cuts := e.SnapshotMarks(nil, 0)
	at := 0
	for _, c := range cuts {
		f.Write(state[at:c.At])
		f.Mark(c.ID)
		at = c.At
	}
	f.Write(state[at:])
	saved := e.AppendHistory(nil)
	if most := e.HistorySize(); len(saved) > most {
		t.Fatalf("%d bytes, said to be %d at most", len(saved), most)
	}
	if err := f.SetHistory(saved); err != nil {
		t.Fatal(err)
	}
	return f
}

// A screen and the saved history are the engine that they were taken from, with its
// marks, whatever was printed, and go on and are resized in the same way.
func TestSavedHistory(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 21))
		e := newEngine(emulator.Options{Cols: 1 + r.IntN(40), Rows: 1 + r.IntN(12), History: 50})
		id := uint64(0)
		for range 4 {
			for range 5 {
				e.Write(emutest.Program(r, e.cols, e.rows, 10, emutest.All))
				id++
				e.Mark(id)
			}
			f := moved(t, e)
			if err := invariants(f); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if d := emutest.Diff(emutest.Dump(f), emutest.Dump(e)); d != "" {
				t.Fatalf("seed %d at %dx%d:\n%s", seed, e.cols, e.rows, d)
			}
			if got, want := f.Marks(nil), e.Marks(nil); !slices.Equal(got, want) {
				t.Fatalf("seed %d: marks %v, want %v", seed, got, want)
			}
			cols, rows := 1+r.IntN(40), 1+r.IntN(12)
			e.Resize(cols, rows)
			f.Resize(cols, rows)
			if d := emutest.Diff(emutest.Dump(f), emutest.Dump(e)); d != "" {
				t.Fatalf("seed %d, resized to %dx%d:\n%s", seed, cols, rows, d)
			}
		}
	}
}

// FuzzSavedHistory: damaged data is refused or makes a history that can be shown,
// resized and saved again.
func FuzzSavedHistory(f *testing.F) {
	for i := range uint64(4) {
		r := rand.New(rand.NewPCG(i, 78))
		e := fuzzEngine(i)
		e.Write(emutest.Program(r, e.cols, e.rows, 300, emutest.All))
		f.Add(e.AppendHistory(nil), i)
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint64) {
		e := fuzzEngine(n)
		e.Write([]byte("before\r\n\n\n\n"))
		was := emutest.Dump(e)
		if err := e.SetHistory(data); err != nil {
			if d := emutest.Diff(emutest.Dump(e), was); d != "" {
				t.Fatalf("after %v:\n%s", err, d)
			}
			return
		}
		if err := invariants(e); err != nil {
			t.Fatal(err)
		}
		e.Snapshot(nil, -1)
		e.Resize(fuzzSize(n >> 8))
		if err := invariants(e); err != nil {
			t.Fatal(err)
		}
	})
}
