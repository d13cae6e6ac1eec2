package native

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/internal/soak"
)

// moved makes an engine of a screen's snapshot and the saved history.
func moved(t *testing.T, e *Engine) *Engine {
	t.Helper()
	f := newEngine(emulator.Options{Cols: e.cols, Rows: e.rows, History: e.hist.limit})
	emulator.Copy(f, e, 0)
	saved := e.AppendHistory([]byte("before"))[len("before"):]
	if err := f.SetHistory(saved); err != nil {
		t.Fatal(err)
	}
	return f
}

// A screen and the saved history are the engine that they were taken from, with its
// marks, whatever was printed, and go on and are resized in the same way.
func TestSavedHistory(t *testing.T) {
	for seed := range uint64(soak.Short(30, 150)) {
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

// An engine whose history is packed time and again is no other: it shows, goes on, is
// resized and saved as one that never was.
func TestPack(t *testing.T) {
	for seed := range uint64(soak.Size(t, 1, 30)) {
		r := rand.New(rand.NewPCG(seed, 5))
		o := emulator.Options{Cols: 60 + r.IntN(60), Rows: 5 + r.IntN(30), History: 3000 + r.IntN(3000)}
		e, f := newEngine(o), newEngine(o)
		id, packed := uint64(0), 0
		for range soak.Short(2, 6) {
			for range 4 {
				p := emutest.Program(r, e.cols, e.rows, 60, emutest.All)
				p = append(p, bytes.Repeat(append([]byte("\x1b[32mwörds\x1b[m and 漢字 "), p[:min(len(p), 10)]...), r.IntN(8000))...)
				e.Write(p)
				f.Write(p)
				id++
				e.Mark(id)
				f.Mark(id)
			}
			for f.Pack() && r.IntN(20) > 0 {
			}
			for _, b := range f.hist.blocks {
				if b.packed {
					packed++
				}
			}
			if d := emutest.Diff(emutest.Dump(f), emutest.Dump(e)); d != "" {
				t.Fatalf("seed %d:\n%s", seed, d)
			}
			if err := invariants(f); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if r.IntN(3) == 0 {
				f = moved(t, f)
			}
			if cols, rows := 60+r.IntN(60), 5+r.IntN(30); r.IntN(2) == 0 {
				e.Resize(cols, rows)
				f.Resize(cols, rows)
			}
		}
		if packed == 0 {
			t.Errorf("seed %d: nothing was packed", seed)
		}
	}
}

// What a program saved that did not pack is read all the same.
func TestSavedHistoryBefore(t *testing.T) {
	e := newEngine(emulator.Options{Cols: 20, Rows: 3})
	e.Write([]byte("one\r\n\x1b[31mtwo\x1b[m\r\n漢字\r\nfour\r\nfive\r\n"))
	h := &e.hist
	data := []byte{1, byte(h.n), 0, 0}
	for i := range h.n {
		l := h.at(i)
		data = append(append(data, byte(l.length), byte(l.cells), byte(l.flags)), h.data(l)...)
	}
	f := newEngine(emulator.Options{Cols: 20, Rows: 3})
	f.Write(e.Snapshot(nil, 0))
	if err := f.SetHistory(data); err != nil || h.n == 0 {
		t.Fatal(h.n, err)
	}
	if d := emutest.Diff(emutest.Dump(f), emutest.Dump(e)); d != "" {
		t.Error(d)
	}
	if err := f.SetHistory(append([]byte{4}, data[1:]...)); err == nil {
		t.Error("what a newer program saved was taken")
	}
}
