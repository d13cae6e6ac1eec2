package emulator_test

import (
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/native"
)

func TestText(t *testing.T) {
	e := native.New(emulator.Options{Cols: 10, Rows: 4})
	e.Write([]byte("one\r\n0123456789wrapped  \r\n世界 \x1b[3Cx\r\n\r\na  b\x1b[44m   \x1b[m\r\n\r\n"))
	if got, want := emulator.ScreenText(e), "\na  b\n\n"; got != want {
		t.Errorf("the screen is %q, want %q", got, want)
	}
	all := "one\n0123456789wrapped\n世界    x\n\na  b"
	for _, c := range []struct {
		n, max int
		want   string
	}{
		{-1, emulator.MaxText, all},
		{100, emulator.MaxText, all},
		{0, emulator.MaxText, "\na  b"},
		{1, emulator.MaxText, "世界    x\n\na  b"},
		{2, emulator.MaxText, "wrapped\n世界    x\n\na  b"},
		{3, emulator.MaxText, "0123456789wrapped\n世界    x\n\na  b"},
		{-1, 20, "世界    x\n\na  b"},
		{-1, 4, "a  b"},
		{-1, 3, "  b"},
	} {
		if got := emulator.HistoryTail(e, c.n, c.max); got != c.want {
			t.Errorf("HistoryTail(%d, %d) is %q, want %q", c.n, c.max, got, c.want)
		}
	}
	if got := emulator.HistoryText(e, -1); got != all {
		t.Errorf("HistoryText is %q, want %q", got, all)
	}
}

// TestTabs: history is text, with tabs; of the screen every column is where it is.
func TestTabs(t *testing.T) {
	e := native.New(emulator.Options{Cols: 20, Rows: 2})
	e.Write([]byte("all:\r\n\tgo build\tx \x1b[2D\t\r\na\tb \t\r\nc\td"))
	if got, want := emulator.HistoryText(e, -1), "all:\n\tgo build\tx\na\tb\nc\td"; got != want {
		t.Errorf("history %q, want %q", got, want)
	}
	if got, want := emulator.ScreenText(e), "a       b\nc       d"; got != want {
		t.Errorf("screen %q, want %q", got, want)
	}
}

// TestWideWrap: the cell left free before a wide character is not text.
func TestWideWrap(t *testing.T) {
	e := native.New(emulator.Options{Cols: 5, Rows: 3})
	e.Write([]byte("abcd世界"))
	if got, want := emulator.HistoryText(e, -1), "abcd世界"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLongLineCut(t *testing.T) {
	for name, e := range engines(t, emulator.Options{Cols: 10, Rows: 2}) {
		e.Write([]byte(strings.Repeat("é", 100)))
		if got, want := emulator.HistoryTail(e, -1, 9), "éééé"; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
