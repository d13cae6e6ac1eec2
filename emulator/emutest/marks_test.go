package emutest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/native"
)

// marksRebuilt: a snapshot fed piece by piece, with a mark at each of its cuts,
// gives the same marks, and the same state as one without; marks change nothing
// else. Programs without resizes and with them.
func marksRebuilt(new New, o emulator.Options, program []byte, r *rand.Rand) error {
	e, plain := new(o), new(o)
	id := uint64(0)
	for at := 0; at < len(program); {
		n := min(len(program)-at, 1+r.IntN(30))
		e.Write(program[at : at+n])
		plain.Write(program[at : at+n])
		at += n
		for range r.IntN(3) {
			id++
			e.Mark(id)
		}
		if r.IntN(12) == 0 {
			o.Cols, o.Rows = 1+r.IntN(40), 1+r.IntN(12)
			e.Resize(o.Cols, o.Rows)
			plain.Resize(o.Cols, o.Rows)
		}
		if r.IntN(4) > 0 && at < len(program) {
			continue
		}
		if d := Diff(Dump(e), Dump(plain)); d != "" {
			return fmt.Errorf("after byte %d: with marks (got) and without (want):\n%s", at, d)
		}
		if err := marksRebuild(new(o), e); err != nil {
			return fmt.Errorf("after byte %d at %dx%d: %w", at, o.Cols, o.Rows, err)
		}
	}
	return nil
}

// marksRebuild rebuilds e in the fresh f.
func marksRebuild(f, e emulator.Emulator) error {
	want := e.Marks(nil)
	if err := saneMarks(e, want); err != nil {
		return err
	}
	head := "kept"
	s, cuts := e.SnapshotMarks([]byte(head), -1)
	last := len(head)
	for _, c := range cuts {
		if c.At < last || c.At > len(s) {
			return fmt.Errorf("cut at %d of %d after one at %d", c.At, len(s), last)
		}
		f.Write(s[last:c.At])
		f.Mark(c.ID)
		last = c.At
	}
	f.Write(s[last:])
	if got := f.Marks(nil); !slices.Equal(got, want) {
		return fmt.Errorf("rebuilt from %q cut at %v: marks %v, want %v", s, cuts, got, want)
	}
	if d := Diff(Dump(f), Dump(e)); d != "" {
		return fmt.Errorf("rebuilt from %q:\n%s", s, d)
	}
	return nil
}

// saneMarks: marks lie in the text, in its order.
func saneMarks(e emulator.Emulator, marks []emulator.Mark) error {
	cols, rows := e.Size()
	for i, m := range marks {
		if m.Line < -e.HistoryLen() || m.Line >= rows || m.Col < 0 || m.Col > cols {
			return fmt.Errorf("mark %d at %d,%d of %dx%d with %d lines of history", m.ID, m.Col, m.Line, cols, rows, e.HistoryLen())
		}
		if i > 0 && (marks[i-1].Line > m.Line || marks[i-1].Line == m.Line && marks[i-1].Col > m.Col) {
			return fmt.Errorf("marks out of order: %+v", marks)
		}
	}
	return nil
}

// marksReflow: text that is only ever appended keeps its marks where they are
// in it through any resizes. Engines that do not reflow, or have no marks, pass
// by having none left.
func marksReflow(new New, o emulator.Options, _ []byte, r *rand.Rand) error {
	o.History = 1 << 16
	e := new(o)
	want := map[uint64]string{}
	words := []string{"a", "lorem", "ipsum dolor", "日本語", "é", "\x1b[31mred\x1b[m", " ", "  ", "0123456789012345678901234567890", "\r\n", "\r\n"}
	for id := range uint64(25) {
		e.Write([]byte(words[r.IntN(len(words))]))
		if r.IntN(2) == 0 {
			e.Mark(id)
			want[id] = textTo(e, e.Cursor().Y, -1)
		}
	}
	marks := e.Marks(nil)
	for range 4 {
		for _, m := range marks {
			if got := textTo(e, m.Line, m.Col); got != want[m.ID] && len(marks) == len(want) {
				cols, rows := e.Size()
				return fmt.Errorf("at %dx%d mark %d lies behind %q, want %q", cols, rows, m.ID, got, want[m.ID])
			}
		}
		e.Resize(2+r.IntN(60), 1+r.IntN(20))
		after := e.Marks(nil)
		if err := saneMarks(e, after); err != nil {
			return err
		}
		if len(after) != len(marks) {
			return fmt.Errorf("%d marks are left of %d", len(after), len(marks))
		}
		marks = after
	}
	return nil
}

// textTo gives the text before a place, lines joined where they wrap; a
// negative column is the end of the text.
func textTo(e emulator.Emulator, line, col int) string {
	var b strings.Builder
	for y := -e.HistoryLen(); y <= line; y++ {
		cells := e.Line(y, nil)
		if y == line && col >= 0 {
			cells = cells[:min(col, len(cells))]
		}
		for _, c := range cells {
			if c.Rune != 0 {
				b.WriteRune(c.Rune)
				b.WriteString(c.Combining)
			}
		}
		if !e.Wrapped(y) && y < line {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Marks put anywhere into any bytes, with resizes between them, are rebuilt by
// a snapshot fed in pieces.
func FuzzMarks(f *testing.F) {
	for i := range uint64(8) {
		f.Add(Program(rand.New(rand.NewPCG(i, 77)), 20, 6, 40, All), i*7)
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint64) {
		if len(data) > 4<<10 {
			return // Each piece is compared with all that came before it.
		}
		o := emulator.Options{Cols: 1 + int(n%41), Rows: 1 + int(n/41%13), History: 30}
		if err := marksRebuilt(native.New, o, data, rand.New(rand.NewPCG(n, 7))); err != nil {
			t.Fatal(err)
		}
	})
}
