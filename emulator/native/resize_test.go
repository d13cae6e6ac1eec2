package native

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/internal/soak"
)

// session is lines of random words without any cursor movement.
func session(r *rand.Rand, lines int) []byte {
	words := []string{
		"a", "lorem", "ipsum dolor", "日本語", "👩‍👩‍👧", "é", "e\u0301", "☁️", "\x1b[31mred\x1b[m", "\x1b[4:3;44mcurl\x1b[m", "🇩🇪",
		"\x1b]8;id=x;http://a.b/c\x1b\\link\x1b]8;;\x1b\\", "0123456789012345678901234567890123456789", " ", "  ",
	}
	var b strings.Builder
	for range lines {
		for range r.IntN(12) {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(' ')
		}
		b.WriteString("|\r\n")
	}
	return []byte(b.String())
}

func text(e *Engine) string { return emulator.HistoryText(e, -1) }

// No line is lost or doubled by any sequence of resizes, at any size that has
// room for a wide character, and back at the first size all is as it was.
func TestResizeKeepsText(t *testing.T) {
	for seed := range uint64(soak.Short(12, 50)) {
		r := rand.New(rand.NewPCG(seed, 7))
		cols, rows := 2+r.IntN(60), 1+r.IntN(20)
		e := newEngine(emulator.Options{Cols: cols, Rows: rows, History: 1 << 20})
		e.Write(session(r, r.IntN(60)))
		want, first := text(e), emutest.Screen(e)+emutest.History(e)
		for range 6 {
			c, n := 2+r.IntN(80), 1+r.IntN(30)
			if r.IntN(3) == 0 {
				c = e.cols
			}
			e.Resize(c, n)
			if got := text(e); got != want {
				t.Fatalf("seed %d, to %dx%d:\n%s", seed, c, n, emutest.Diff(got, want))
			}
			if d := rebuilt(e); d != "" {
				t.Fatalf("seed %d, to %dx%d, snapshot:\n%s", seed, c, n, d)
			}
		}
		e.Resize(cols, rows)
		if d := emutest.Diff(emutest.Screen(e)+emutest.History(e), first); d != "" {
			t.Fatalf("seed %d, back at %dx%d:\n%s", seed, cols, rows, d)
		}
	}
}

// rebuilt compares an engine with one made from its snapshot, and their
// snapshots.
func rebuilt(e *Engine) string {
	f := newEngine(emulator.Options{Cols: e.cols, Rows: e.rows, History: e.hist.limit})
	s := e.Snapshot(nil, -1)
	f.Write(s)
	if d := emutest.Diff(emutest.Dump(f), emutest.Dump(e)); d != "" {
		return fmt.Sprintf("%s\nfrom %q", d, s)
	}
	if again := string(f.Snapshot(nil, -1)); again != string(s) {
		return fmt.Sprintf("second snapshot\n%q\nfirst\n%q", again, s)
	}
	return ""
}

// Whatever was on the screen, resizing it at any time leaves a state that a
// snapshot rebuilds.
func TestResizeAnything(t *testing.T) {
	for seed := range uint64(soak.Short(40, 150)) {
		r := rand.New(rand.NewPCG(seed, 9))
		e := newEngine(emulator.Options{Cols: 1 + r.IntN(40), Rows: 1 + r.IntN(12), History: 50})
		for range 5 {
			e.Write(emutest.Program(r, e.cols, e.rows, 30, emutest.All))
			e.Resize(1+r.IntN(40), 1+r.IntN(12))
			if d := rebuilt(e); d != "" {
				t.Fatalf("seed %d at %dx%d:\n%s", seed, e.cols, e.rows, d)
			}
		}
	}
}

// The limit of history counts lines as they were printed: narrowing wraps them and
// loses none.
func TestHistoryCountsPrintedLines(t *testing.T) {
	e := newEngine(emulator.Options{Cols: 170, Rows: 24, History: 3000})
	for i := range 3000 {
		e.Write(fmt.Appendf(nil, "%04d %s\r\n", i, strings.Repeat("x", 165)))
	}
	before := emulator.HistoryText(e, -1)
	if !strings.HasPrefix(before, "0000 xxx") {
		t.Fatalf("it begins with %.20q", before)
	}
	e.Resize(33, 24)
	if err := invariants(e); err != nil {
		t.Fatal(err)
	}
	e.Resize(170, 24)
	if after := emulator.HistoryText(e, -1); after != before {
		t.Errorf("%d bytes after, %d before; it begins with %.20q", len(after), len(before), after)
	}
	// Over the limit a wrapped line goes as a whole.
	e.Resize(33, 24)
	for i := range 100 {
		e.Write([]byte("y\r\n"))
		if first := lineText(e, -e.HistoryLen()); !strings.HasSuffix(first[:5], " ") {
			t.Fatalf("after %d more it begins with %q", i, first)
		}
	}
	// A lower limit takes the oldest, a higher one gives nothing back.
	e.LimitHistory(10)
	if err := invariants(e); err != nil || e.hist.ended != 10 {
		t.Errorf("%d lines with a limit of 10: %v", e.hist.ended, err)
	}
	e.LimitHistory(-1)
	if e.HistoryLen() != 0 {
		t.Errorf("%d rows with a limit of none", e.HistoryLen())
	}
	e.LimitHistory(20)
	for i := range 100 {
		e.Write(fmt.Appendf(nil, "%d\r\n", i))
	}
	if e.HistoryLen() != 20 {
		t.Errorf("%d rows with a limit of 20", e.HistoryLen())
	}
}

// A line without end, in many rows, is bounded by the memory that it takes.
func TestHistoryOfOneLine(t *testing.T) {
	e := newEngine(emulator.Options{Cols: 2, Rows: 2, History: 100})
	e.hist.maxSize = 1 << 20
	e.Write(bytes.Repeat([]byte("x"), 4<<20))
	if got := e.hist.used; got > 1<<20+100 || e.hist.n < 1000 {
		t.Errorf("%d rows of %d bytes", e.hist.n, got)
	}
	if err := invariants(e); err != nil {
		t.Error(err)
	}
	if size := unsafe.Sizeof(histLine{}); size != indexBytes {
		t.Errorf("a line's index takes %d bytes, not %d", size, indexBytes)
	}
}

func lineText(e *Engine, y int) string {
	var b strings.Builder
	for _, c := range e.Line(y, nil) {
		b.WriteRune(max(c.Rune, ' '))
	}
	return b.String()
}
