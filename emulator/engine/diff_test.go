package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
	"tandemux/emulator/vt10x"
)

// agreed is what vt10x does right: on programs of these features the engines
// must not differ.
const agreed = emutest.Wide | emutest.Styles | emutest.Links | emutest.AltScreen | emutest.Origin |
	emutest.NoWrap | emutest.Region | emutest.Tabs | emutest.Charsets | emutest.Repeat | emutest.Private |
	emutest.Insert | emutest.Saved | emutest.Strings | emutest.Resets | emutest.Reports

// TestDifferential runs both engines on the same random programs.
func TestDifferential(t *testing.T) {
	programs := 2000
	if testing.Short() {
		programs = 200
	}
	sizes := [][2]int{{20, 6}, {80, 24}, {7, 3}, {33, 11}}
	for i := range programs {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		size := sizes[i%len(sizes)]
		o := emulator.Options{Cols: size[0], Rows: size[1], History: 5000} // where vt10x counts rows
		program := slices.DeleteFunc(emutest.Steps(r, o.Cols, o.Rows, 30, agreed), disputed)
		if d := differ(o, program); d != "" {
			small := emutest.Shrink(program, func(p [][]byte) bool { return differ(o, p) != "" })
			t.Fatalf("program %d, %dx%d, %q: native (got) and vt10x (want) differ:\n%s", i, o.Cols, o.Rows, small, differ(o, small))
		}
	}
}

// disputed are steps that only native does: it has G2 and G3; its DECXCPR has a page,
// as a VT420's; it tells settings; a box stands in for pictures.
func disputed(step []byte) bool {
	return string(step) == "\x1bn" || string(step) == "\x1b[?6n" || bytes.HasPrefix(step, []byte("\x1bP"))
}

// differ compares what both engines show, except which lines are marked as
// wrapped.
func differ(o emulator.Options, program [][]byte) string {
	n, v := native.New(o), vt10x.New(o)
	for _, step := range program {
		n.Write(step)
		v.Write(step)
	}
	return emutest.Diff(show(n), show(v))
}

// happened gives the events.
func happened(e emulator.Emulator) string {
	var s string
	for _, ev := range e.Events() {
		s += fmt.Sprintf("event %d %q %q\n", ev.Kind, ev.Name, ev.Text)
	}
	return s
}

func show(e emulator.Emulator) string {
	c := e.Cursor()
	s := fmt.Sprintf("cursor %d,%d %v %v\n", c.X, c.Y, c.Visible, c.Shape)
	_, rows := e.Size()
	for y := -e.HistoryLen(); y < rows; y++ {
		cells := e.Line(y, nil)
		for i := range cells {
			cells[i].Tab = 0 // vt10x doesn't keep them
		}
		s += fmt.Sprintf("%d|%s|\n", y, emulator.LineText(cells))
	}
	p := e.Palette()
	s += fmt.Sprintf("title %q colours %x %x %x %x\n", e.Title(), p.FG, p.BG, p.Cursor, p.Indexed)
	return s + emutest.Attrs(e) + emutest.Modes(e.Modes()) + happened(e)
}
