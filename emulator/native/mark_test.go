package native

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
)

// where gives the marks and the text at each.
func where(e *Engine) (out []string) {
	for _, m := range e.Marks(nil) {
		cells := e.Line(m.Line, nil)
		text := emulator.LineText(cells[min(m.Col, len(cells)):])
		out = append(out, fmt.Sprintf("%d %s", m.ID, strings.Fields(text + " .")[0]))
	}
	return out
}

// A mark stays with its text through scrolling, history, line editing and
// reflow, and goes when its line does.
func TestMarks(t *testing.T) {
	e := newEngine(emulator.Options{Cols: 20, Rows: 4, History: 6})
	check := func(when string, want ...string) {
		t.Helper()
		if got := where(e); !slices.Equal(got, want) {
			t.Errorf("%s: marks %q, want %q", when, got, want)
		}
	}
	for i, s := range []string{"$ ", "ls\r\n", "one two three four five\r\n", "$ "} {
		e.Mark(uint64(i + 1))
		e.Write([]byte(s))
	}
	check("written", "1 $", "2 ls", "3 one", "4 $")
	e.Write([]byte("\x1b[2;1H\x1b[L"))
	check("line inserted", "1 $", "2 ls", "3 one")
	e.Write([]byte("\x1b[M\x1b[4;1Hend"))
	check("line deleted", "1 $", "2 ls", "3 one")
	e.Write([]byte("\x1b[2;1Hsix"))
	check("printed over", "1 $", "2 ls", "3 six")
	for _, size := range [][2]int{{9, 3}, {30, 10}, {4, 2}, {20, 4}} {
		e.Resize(size[0], size[1])
		check("resized", "1 $", "2 ls", "3 six")
	}
	e.Write([]byte("\x1b[?1049hvim\x1b[2J"))
	e.Mark(9)
	check("under the alternate screen", "1 .", "2 .", "3 .")
	e.Write([]byte("\x1b[?1049l\x1b[1;1H\x1b[K"))
	check("erased beside", "1 .", "2 .", "3 six")
	e.Write([]byte("\x1b[4;1H\n\x1b[2J"))
	check("cleared", "1 .", "2 .")
	e.Mark(10)
	e.Write([]byte("\x1b[3J"))
	check("history cleared", "10 .")
	e.Write([]byte(strings.Repeat("\n", 9)))
	check("in history", "10 .")
	e.Write([]byte("\n"))
	check("trimmed")
}

// There are never more marks than the bound, and the first go.
func TestMarksBounded(t *testing.T) {
	for _, sep := range []string{"", "x\r\n"} {
		e := newEngine(emulator.Options{Cols: 80, Rows: 24, History: 1 << 20})
		const n = emulator.MaxMarks + 500
		for i := range uint64(n) {
			e.Mark(i)
			e.Write([]byte(sep))
		}
		m := e.Marks(nil)
		if len(m) != emulator.MaxMarks || m[0].ID != 500 || m[len(m)-1].ID != n-1 {
			t.Errorf("%q: %d marks, from %+v to %+v", sep, len(m), m[0], m[len(m)-1])
		}
		e.Write([]byte("\x1b[2J\x1b[3J"))
		e.Mark(n)
		if m := e.Marks(nil); len(m) != 1 {
			t.Errorf("%q: %d marks after clearing", sep, len(m))
		}
	}
}

// A golden of the rules for odd places: behind a full line, where a wide
// character was put, past the text, and between the side margins.
func TestMarksOddPlaces(t *testing.T) {
	for _, c := range []struct {
		input string
		want  []emulator.Mark
	}{
		{"abcdef@", []emulator.Mark{{ID: 1, Line: 0, Col: 6}}},
		{"abcdef@gh@", []emulator.Mark{{ID: 1, Line: 0, Col: 6}, {ID: 2, Line: 1, Col: 2}}},
		{"ab\x1b[1;4H@\x1b[1;3H日本", []emulator.Mark{{ID: 1, Line: 0, Col: 2}}},
		{"ab\x1b[5C@", []emulator.Mark{{ID: 1, Line: 0, Col: 5}}},
		{"ab\x1b[3C@\x1b[2D@", []emulator.Mark{{ID: 2, Line: 0, Col: 3}, {ID: 1, Line: 0, Col: 5}}},
		{"\r\n\r\nx@y\x1b[?69h\x1b[2;4s\x1b[1;3r\x1b[1;1H\x1b[1S", []emulator.Mark{{ID: 1, Line: 1, Col: 1}}},
		{"\x1b[?1047h@\x1b[?1047l", nil},
	} {
		e := newEngine(emulator.Options{Cols: 6, Rows: 3})
		id := uint64(0)
		for i, s := range strings.Split(c.input, "@") {
			if i > 0 {
				id++
				e.Mark(id)
			}
			e.Write([]byte(s))
		}
		if got := e.Marks(nil); !slices.Equal(got, c.want) {
			t.Errorf("%q: marks %+v, want %+v", c.input, got, c.want)
		}
		if d := emutest.Diff(rebuilt(e), ""); d != "" {
			t.Errorf("%q: %s", c.input, d)
		}
	}
}

// The outer terminal's colours are what a child is told, unless it set its own;
// a change of theme is reported to one that asked.
func TestSetColors(t *testing.T) {
	e := newEngine(emulator.Options{Cols: 5, Rows: 1})
	replies := func(input string) string {
		e.Write([]byte(input))
		var out string
		for _, ev := range e.Events() {
			out += ev.Text
		}
		return out
	}
	if got, want := replies("\x1b]10;?;?\a\x1b[?996n"), "\x1b]10;rgb:e5e5/e5e5/e5e5\a\x1b]11;rgb:0000/0000/0000\a\x1b[?997;1n"; got != want {
		t.Errorf("unknown colours: %q, want %q", got, want)
	}
	e.Write([]byte("\x1b[?2031h"))
	c := emulator.Colors{FG: emulator.RGB(1, 2, 3), BG: emulator.RGB(250, 250, 240), Cursor: emulator.RGB(9, 9, 9)}
	c.Indexed[1] = emulator.RGB(200, 10, 10)
	e.SetColors(c)
	if got, want := replies(""), "\x1b[?997;2n"; got != want {
		t.Errorf("turned light: %q, want %q", got, want)
	}
	if got, want := replies("\x1b]11;?\x1b\\\x1b]11;#123\x1b\\\x1b]11;?\x1b\\\x1b]111\a\x1b]11;?\a"),
		"\x1b]11;rgb:fafa/fafa/f0f0\x1b\\\x1b]11;rgb:1010/2020/3030\x1b\\\x1b]11;rgb:fafa/fafa/f0f0\a"; got != want {
		t.Errorf("asked: %q, want %q", got, want)
	}
	if got, want := replies("\x1b]4;1;?;2;?\a\x1b]4;1;#abc\a\x1b]4;1;?\a\x1b]104;1\a\x1b]4;1;?\a\x1bc\x1b]12;?\a"),
		"\x1b]4;1;rgb:c8c8/0a0a/0a0a\a\x1b]4;2;rgb:0000/cdcd/0000\a\x1b]4;1;rgb:a0a0/b0b0/c0c0\a\x1b]4;1;rgb:c8c8/0a0a/0a0a\a"+
			"\x1b]12;rgb:0909/0909/0909\a"; got != want {
		t.Errorf("asked for the palette: %q, want %q", got, want)
	}
}
