package native

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"cotty/emulator"
	"cotty/emulator/emutest"
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
	for seed := range uint64(50) {
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
	for seed := range uint64(150) {
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
