package native

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native/grapheme"
)

// invariants checks what cell.go, screen.go and history.go promise.
func invariants(e *Engine) error {
	e.flush()
	if c := e.cur; c.x < 0 || c.x >= e.cols || c.y < 0 || c.y >= e.rows {
		return fmt.Errorf("cursor %d,%d outside of %dx%d", c.x, c.y, e.cols, e.rows)
	}
	for i := range e.screens {
		for y, r := range e.screens[i].lines {
			if err := e.rowInvariants(r); err != nil {
				return fmt.Errorf("screen %d, line %d: %w", i, y, err)
			}
			if r.size != singleSize && (y > 0 && e.screens[i].lines[y-1].wrapped || r.wrapped || r.used > r.columns() || e.cols < minDouble || !e.doubled) {
				return fmt.Errorf("screen %d, line %d: of size %d, %+v", i, y, r.size, r)
			}
			if r.wrapped && y == e.rows-1 {
				return fmt.Errorf("screen %d: the last line is wrapped", i)
			}
		}
	}
	h, ended, used := &e.hist, 0, 0
	for i := range h.n {
		l := h.at(i)
		used += l.bytes()
		if !l.wrapped() {
			ended++
		}
	}
	if h.ended != ended || h.used != used || h.over(0, 0) || h.floor > h.n {
		return fmt.Errorf("history of %d lines (%d ended, %d bytes) says %d, %d, limit %d, floor %d", h.n, ended, used, h.ended, h.used, h.limit, h.floor)
	}
	for i := range e.hist.n {
		if l, n := e.hist.at(i), len(e.decodeLine(e.hist.data(e.hist.at(i)), e.hist.at(i), nil)); n != int(l.cells) || n > e.cols {
			return fmt.Errorf("history line %d has %d cells, is said to have %d", i, n, l.cells)
		}
	}
	return nil
}

func (e *Engine) rowInvariants(r *row) error {
	if len(r.cells) != e.cols {
		return fmt.Errorf("%d cells", len(r.cells))
	}
	for x, c := range r.cells {
		kind := c & kindMask
		switch {
		case x >= r.used && c != 0:
			return fmt.Errorf("cell %d is %x beyond %d", x, c, r.used)
		case int(c.style()) >= len(e.styles.list):
			return fmt.Errorf("cell %d has style %d of %d", x, c.style(), len(e.styles.list))
		case c&clusterBit != 0 && int(c&runeMask) >= len(e.texts.list):
			return fmt.Errorf("cell %d has cluster %d of %d", x, c&runeMask, len(e.texts.list))
		case kind == wideLead && (x+1 == e.cols || r.cells[x+1]&kindMask != wideTail):
			return fmt.Errorf("cell %d is half of a wide character", x)
		case kind == wideTail && (x == 0 || r.cells[x-1]&kindMask != wideLead || c&(runeMask|clusterBit) != 0):
			return fmt.Errorf("cell %d is the other half of nothing", x)
		case kind == padding && c != padding:
			return fmt.Errorf("cell %d is padding with %x", x, c)
		}
		if w := grapheme.ClusterWidth(e.texts.appendText(nil, c)); e.cols > 1 && (w == 2) != (kind == wideLead) {
			return fmt.Errorf("cell %d holds %+q, %d wide", x, e.texts.appendText(nil, c), w)
		}
		if st := e.styles.list[c.style()]; c.empty() && (st != style{Style: emulator.Style{BG: st.BG}}) {
			return fmt.Errorf("cell %d is empty in %+v", x, st)
		}
	}
	if r.wrapped && r.cells[e.cols-1]&textMask == 0 {
		return fmt.Errorf("wrapped, with nothing in the last column")
	}
	return nil
}

// seed gives a fuzz target something of everything.
func seed(f *testing.F) {
	for i := range uint64(8) {
		r := rand.New(rand.NewPCG(i, 77))
		f.Add(emutest.Program(r, 20, 6, 40, emutest.All), i*7)
	}
	goldens, _ := filepath.Glob("testdata/*.txtar")
	for i, name := range goldens {
		if i%5 > 0 && testing.Short() {
			continue
		}
		if b, err := os.ReadFile(name); err == nil {
			f.Add(b, uint64(i))
		}
	}
	for i, long := range []string{"\x1b]2;", "\x1b]52;c;", "\x1b_G", "\x1bPq", "\x1bP$q", "\x1bX", "\x1bk"} {
		f.Add([]byte(long+strings.Repeat("A", 70<<10)), uint64(i)|60<<26)
	}
	f.Add([]byte("日本語\x1b[1;2;2;5;1;2;3$v\x1b[1;1;3;4;7$r\x1bVx\x1bW\x1b[2J\x1b[?42h\x1b(K[\x1b-A\x0e!\x1bP1$t2;3;1;I;A;B;1;2;B;BA0B\x1b\\"), uint64(9))
	f.Add([]byte("\x1b[9B"+strings.Repeat("naïve 漢字\tx\r\n\x1b[1;31mred e\u0301\U0001f469\u200d\U0001f467\x1b[m\r\n", 30)), uint64(1<<10))
	f.Add([]byte("\x1b[?69h\x1b[2;5s\x1b[?6h日本\x1b7\x1b[4h\x1b8\u200d\xf0\x9f"), uint64(3))
}

// fuzzSize makes a grid size of a number.
func fuzzSize(n uint64) (cols, rows int) { return 1 + int(n%41), 1 + int(n/41%13) }

func fuzzEngine(n uint64) *Engine {
	cols, rows := fuzzSize(n)
	return newEngine(emulator.Options{Cols: cols, Rows: rows, History: 30})
}

// Any bytes: no panic, all invariants hold, and any split gives the same.
func FuzzWrite(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte, n uint64) {
		whole, parts := fuzzEngine(n), fuzzEngine(n)
		whole.late.least = 1
		whole.Write(data)
		if err := invariants(whole); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(n, 5))
		for p := data; len(p) > 0; {
			k := min(len(p), 1+r.IntN(1+r.IntN(9)))
			parts.Write(p[:k])
			p = p[k:]
		}
		if d := emutest.Diff(emutest.Dump(parts), emutest.Dump(whole)); d != "" {
			t.Fatalf("split differs:\n%s", d)
		}
		a, b := whole.Events(), parts.Events()
		if len(a) != len(b) {
			t.Fatalf("%d events, split %d", len(a), len(b))
		}
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("event %d is %+v, split %+v", i, a[i], b[i])
			}
		}
	})
}

// Any bytes with resizes between them: no panic, all invariants hold, and what
// is left is rebuilt by a snapshot.
func FuzzResize(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte, n uint64) {
		if len(data) > 4<<10 && testing.Short() {
			return // It is looked at whole after each piece.
		}
		e := fuzzEngine(n)
		r := rand.New(rand.NewPCG(n, 6))
		for p := data; ; {
			k := min(len(p), r.IntN(60))
			e.Write(p[:k])
			p = p[k:]
			e.Resize(fuzzSize(r.Uint64()))
			if err := invariants(e); err != nil {
				t.Fatal(err)
			}
			if len(p) == 0 {
				break
			}
		}
		if d := rebuilt(e); d != "" {
			t.Fatal(d)
		}
	})
}

// A snapshot after any bytes rebuilds the state, and what follows it does the
// same to both.
func FuzzSnapshot(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte, n uint64) {
		e := fuzzEngine(n)
		cut := int(n>>16) % (len(data) + 1)
		e.Write(data[:cut])
		if d := rebuilt(e); d != "" {
			t.Fatal(d)
		}
		g := fuzzEngine(n)
		g.Write(e.Snapshot(nil, -1))
		e.Write(data[cut:])
		g.Write(data[cut:])
		if d := emutest.Diff(emutest.Dump(g), emutest.Dump(e)); d != "" {
			t.Fatalf("after the snapshot at %d:\n%s", cut, d)
		}
	})
}
