package emutest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/emulator/vt10x"
	"tandemux/internal/soak"
)

// sizes are the grids that programs run on.
var sizes = [][2]int{{20, 6}, {80, 24}, {1, 1}, {2, 3}, {7, 2}, {33, 11}}

// Whatever a child writes: any split of it is the same, a snapshot rebuilds the
// state, damage covers what changed, and what engines give is well formed.
func TestProperties(t *testing.T) {
	t.Run("native", func(t *testing.T) { properties(t, native.New, All, soak.Size(t, soak.Short(8, 50), 1000), 60) })
	t.Run("vt10x", func(t *testing.T) {
		properties(t, vt10x.New, All&^(Graphics|Repeat), soak.Size(t, soak.Short(12, 40), 1000), 50)
	})
}

// properties holds an engine to every property, on so many random programs of so many
// steps.
func properties(t *testing.T, new New, f Features, programs, steps int) {
	for _, p := range []struct {
		name  string
		check func(new New, o emulator.Options, program []byte, r *rand.Rand) error
	}{
		{"split", splitInvariance},
		{"snapshot", snapshotRebuild},
		{"reset", resetRebuild},
		{"resize", resizeRebuild},
		{"damage", damageCovers},
		{"marks", marksRebuilt},
		{"marks reflow", marksReflow},
		{"sane", sanity},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for i := range programs {
				seed := uint64(1 + i)
				r := rand.New(rand.NewPCG(seed, 1))
				size := sizes[i%len(sizes)]
				eo := emulator.Options{Cols: size[0], Rows: size[1], History: 40}
				program := Program(r, eo.Cols, eo.Rows, steps, f)
				if err := p.check(new, eo, program, r); err != nil {
					small := Shrink(program, func(b []byte) bool {
						return p.check(new, eo, b, rand.New(rand.NewPCG(seed, 2))) != nil
					})
					if err2 := p.check(new, eo, small, rand.New(rand.NewPCG(seed, 2))); err2 != nil {
						err, program = err2, small
					}
					t.Fatalf("seed %d, %dx%d, program %q:\n%v", seed, eo.Cols, eo.Rows, program, err)
				}
			}
		})
	}
}

// feed writes a program into a fresh engine in pieces cut at random.
func feed(e emulator.Emulator, program []byte, r *rand.Rand, piece int) []string {
	var events []string
	take := func() {
		for _, ev := range e.Events() {
			events = append(events, eventLine(ev))
		}
	}
	for len(program) > 0 {
		n := len(program)
		if piece > 0 {
			n = min(n, 1+r.IntN(piece))
		}
		e.Write(slices.Clone(program[:n]))
		program = program[n:]
		if piece == 0 {
			take()
		}
	}
	take()
	return events
}

// splitInvariance: a whole write equals any split of it, in state and events.
func splitInvariance(new New, o emulator.Options, program []byte, r *rand.Rand) error {
	whole := new(o)
	events := feed(whole, program, r, 0)
	want := Dump(whole)
	for _, piece := range []int{1, 3, 17} {
		e := new(o)
		got := feed(e, program, r, piece)
		if d := Diff(Dump(e), want); d != "" {
			return fmt.Errorf("split in pieces of up to %d bytes:\n%s", piece, d)
		}
		if !slices.Equal(got, events) {
			return fmt.Errorf("split in pieces of up to %d bytes: events %q, whole %q", piece, got, events)
		}
	}
	return nil
}

// snapshotRebuild: a snapshot taken anywhere rebuilds the state in a fresh
// engine, and what follows has the same effect on both. Taking it changes
// nothing.
func snapshotRebuild(new New, o emulator.Options, program []byte, r *rand.Rand) error {
	cut := 0
	if len(program) > 0 {
		cut = r.IntN(len(program) + 1)
	}
	for _, at := range []int{len(program), cut} {
		e := new(o)
		e.Write(program[:at])
		before := Dump(e)
		snapshot := e.Snapshot(nil, -1)
		if d := Diff(Dump(e), before); d != "" {
			return fmt.Errorf("taking a snapshot at %d changed the state:\n%s", at, d)
		}
		f := new(o)
		f.Write(snapshot)
		f.Events()
		if d := Diff(Dump(f), before); d != "" {
			return fmt.Errorf("snapshot at %d, %q:\n%s", at, snapshot, d)
		}
		e.Write(program[at:])
		f.Write(program[at:])
		if d := Diff(Dump(f), Dump(e)); d != "" {
			return fmt.Errorf("what follows a snapshot at %d, %q, differs:\n%s", at, snapshot, d)
		}
	}
	return nil
}

// reset has an engine forget all that it was given but its title, whatever it is in the middle of.
const reset = "\x18\x1bc"

// resetRebuild: an engine that was reset, wherever it was, is as good as a new one for a
// snapshot.
func resetRebuild(new New, o emulator.Options, program []byte, r *rand.Rand) error {
	cut := r.IntN(len(program) + 1)
	e := new(o)
	e.Write(program[:cut])
	snapshot := e.Snapshot(nil, -1)
	f := new(o)
	f.Write(program[cut:])
	f.Write([]byte(reset))
	f.Events()
	f.Write(snapshot)
	for _, e := range []emulator.Emulator{e, f} {
		e.Write([]byte("\x18\x1b]2;title\a"))
	}
	if d := Diff(Dump(f), Dump(e)); d != "" {
		return fmt.Errorf("snapshot %q after %q and a reset:\n%s", snapshot, program[cut:], d)
	}
	return nil
}

// resizeRebuild: resizes between writes do not keep a snapshot from rebuilding
// the state.
func resizeRebuild(new New, o emulator.Options, program []byte, r *rand.Rand) error {
	e := new(o)
	for at := 0; at < len(program); {
		n := min(len(program)-at, 1+r.IntN(200))
		e.Write(program[at : at+n])
		at += n
		o.Cols, o.Rows = 1+r.IntN(40), 1+r.IntN(12)
		e.Resize(o.Cols, o.Rows)
		snapshot := e.Snapshot(nil, -1)
		f := new(o)
		f.Write(snapshot)
		if d := Diff(Dump(f), Dump(e)); d != "" {
			return fmt.Errorf("snapshot at %d, resized to %dx%d, %q:\n%s", at, o.Cols, o.Rows, snapshot, d)
		}
	}
	return nil
}

// damageCovers: every cell that changed between two calls lies in a reported
// span, and Scrolled counts what went into history.
func damageCovers(new New, o emulator.Options, program []byte, r *rand.Rand) error {
	e := new(o)
	if !e.Damage().All {
		return fmt.Errorf("the first Damage is not of everything")
	}
	old := screenCells(e)
	for at := 0; at < len(program); {
		n := min(len(program)-at, 1+r.IntN(40))
		e.Write(program[at : at+n])
		at += n
		d := e.Damage()
		now := screenCells(e)
		if !d.All {
			if len(d.Lines) != len(now) {
				return fmt.Errorf("after byte %d: Damage has %d lines on %d rows", at, len(d.Lines), len(now))
			}
			for y := range now {
				for x := range now[y] {
					if s := d.Lines[y]; now[y][x] != old[y][x] && (x < s.From || x >= s.To) {
						return fmt.Errorf("after byte %d: cell %d,%d changed from %+v to %+v outside of damage %v",
							at, x, y, old[y][x], now[y][x], s)
					}
				}
			}
		}
		old = now
	}
	e.Damage()
	if d := e.Damage(); d.Any() || d.Scrolled != 0 {
		return fmt.Errorf("a second Damage is %+v", d)
	}
	return nil
}

func screenCells(e emulator.Emulator) [][]emulator.Cell {
	_, rows := e.Size()
	lines := make([][]emulator.Cell, rows)
	for y := range lines {
		lines[y] = e.Line(y, nil)
	}
	return lines
}

// sanity: the shape of what an engine gives is as the interface says.
func sanity(new New, o emulator.Options, program []byte, r *rand.Rand) error {
	e := new(o)
	for at := 0; ; {
		if err := sane(e); err != nil {
			return fmt.Errorf("after byte %d: %w", at, err)
		}
		if at == len(program) {
			return nil
		}
		n := min(len(program)-at, 1+r.IntN(200))
		e.Write(program[at : at+n])
		at += n
		if r.IntN(4) == 0 {
			cols, rows := 1+r.IntN(40), 1+r.IntN(12)
			e.Resize(cols, rows)
			if c, r := e.Size(); c != cols || r != rows {
				return fmt.Errorf("after byte %d: size %dx%d after Resize to %dx%d", at, c, r, cols, rows)
			}
		}
	}
}

func sane(e emulator.Emulator) error {
	cols, rows := e.Size()
	if c := e.Cursor(); c.X < 0 || c.X >= cols || c.Y < 0 || c.Y >= rows {
		return fmt.Errorf("cursor %d,%d outside of %dx%d", c.X, c.Y, cols, rows)
	}
	h := e.HistoryLen()
	for y := -h; y < rows; y++ {
		cells := e.Line(y, nil)
		if len(cells) > cols || y >= 0 && len(cells) != cols {
			return fmt.Errorf("line %d has %d cells of %d", y, len(cells), cols)
		}
		if err := saneLine(cells); err != nil {
			return fmt.Errorf("line %d: %w", y, err)
		}
		e.Wrapped(y)
	}
	if n := len(e.Line(rows, nil)) + len(e.Line(-h-1, nil)); n != 0 {
		return fmt.Errorf("lines out of range have %d cells", n)
	}
	return nil
}

func saneLine(cells []emulator.Cell) error {
	for x, c := range cells {
		switch {
		case c.Width > 2:
			return fmt.Errorf("cell %d has width %d", x, c.Width)
		case c.Width == 2 && (x+1 == len(cells) || cells[x+1].Width != 0):
			return fmt.Errorf("cell %d is wide without a second half", x)
		case c.Width == 0 && (x == 0 || cells[x-1].Width != 2):
			return fmt.Errorf("cell %d is a second half without a first", x)
		case c.Width == 0 && c.Rune != 0:
			return fmt.Errorf("cell %d, a second half, has %q", x, c.Rune)
		case c.Rune != 0 && c.Rune < 0x20 || c.Rune >= 0x7f && c.Rune < 0xa0:
			return fmt.Errorf("cell %d has the control %q", x, c.Rune)
		case c.Rune == 0 && c.Combining != "":
			return fmt.Errorf("cell %d is empty but has combining marks", x)
		case c.Tab > 0 && (c.Rune != 0 || c.Style != emulator.Style{}):
			return fmt.Errorf("cell %d has a tab and is not an empty one in the default style", x)
		}
	}
	return nil
}
