package engine

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
	"tandemux/emulator/vt10x"
)

// agreed is what vt10x does right: on programs of these features the engines
// must not differ in what they show, but for colours and attributes.
const agreed = emutest.Styles | emutest.NoWrap | emutest.Private | emutest.Strings | emutest.Reports

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
		program := slices.DeleteFunc(emutest.Steps(r, o.Cols, o.Rows, 30, agreed), disputed.Match)
		if d := differ(o, program); d != "" {
			small := emutest.Shrink(program, func(p [][]byte) bool { return differ(o, p) != "" })
			t.Fatalf("program %d, %dx%d, %q: native (got) and vt10x (want) differ:\n%s", i, o.Cols, o.Rows, small, differ(o, small))
		}
	}
}

// disputed matches steps that only native does as terminals do: vt10x leaves the cursor's
// column at IL and DL, forgets a row at ED 1, and erases where it waits to wrap. It has no page in its
// DECXCPR, no settings to tell and no box for pictures.
var disputed = regexp.MustCompile(`^\x1b(\[\d*[LM]|\[[01]J|\[0K|\[\?6n|\[4\$p|P.*|_.*)$`)

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
		s += fmt.Sprintf("%d|%s|\n", y, strings.TrimRight(emulator.LineText(cells), " "))
	}
	p := e.Palette()
	s += fmt.Sprintf("title %q colours %x %x %x %x\n", e.Title(), p.FG, p.BG, p.Cursor, p.Indexed)
	return s + emutest.Modes(e.Modes()) + happened(e)
}
