package native

import (
	"testing"

	"cotty/emulator"
)

// A shell's marks stay with their lines through scrolling, history and reflow.
func TestMarksStayWithLines(t *testing.T) {
	e := newEngine(emulator.Options{Cols: 20, Rows: 3})
	e.Write([]byte("\x1b]133;A\a$ \x1b]133;B\als\r\n\x1b]133;C\aone two three four five\r\n\x1b]133;D;0\a\x1b]133;A\a$ \r\nx\r\ny"))
	want := map[string]Mark{"$ l": MarkPrompt | MarkInput, "one": MarkOutput, "$": MarkPrompt}
	check := func(when string) {
		t.Helper()
		found := 0
		for y := -e.HistoryLen(); y < e.rows; y++ {
			text := emulator.LineText(e.Line(y, nil))
			if m := e.Mark(y); m != 0 {
				found++
				if w := want[text[:min(3, len(text))]]; w != m {
					t.Errorf("%s: line %d, %q, has marks %b, want %b", when, y, text, m, w)
				}
			}
		}
		if found != len(want) {
			t.Errorf("%s: %d lines have marks, want %d", when, found, len(want))
		}
	}
	check("written")
	for _, size := range [][2]int{{9, 3}, {30, 10}, {4, 2}, {20, 3}} {
		e.Resize(size[0], size[1])
		check("resized")
	}
	if e.Mark(e.rows) != 0 || e.Mark(-e.HistoryLen()-1) != 0 {
		t.Error("lines that aren't there have marks")
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
	e.SetColors(emulator.RGB(1, 2, 3), emulator.RGB(250, 250, 240), emulator.RGB(9, 9, 9))
	if got, want := replies(""), "\x1b[?997;2n"; got != want {
		t.Errorf("turned light: %q, want %q", got, want)
	}
	if got, want := replies("\x1b]11;?\x1b\\\x1b]11;#123\x1b\\\x1b]11;?\x1b\\\x1b]111\a\x1b]11;?\a"),
		"\x1b]11;rgb:fafa/fafa/f0f0\x1b\\\x1b]11;rgb:1010/2020/3030\x1b\\\x1b]11;rgb:fafa/fafa/f0f0\a"; got != want {
		t.Errorf("asked: %q, want %q", got, want)
	}
}
