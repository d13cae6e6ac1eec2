package pane

import (
	"fmt"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/ui/paint"
)

// view makes a view of w×h cells on a terminal of that size that has printed output.
func view(tb testing.TB, w, h int, output string) *View {
	tb.Helper()
	f := NewFeed("native", nil)
	if err := f.Reset(ahp.TerminalState{Cols: w, Rows: h}); err != nil {
		tb.Fatal(err)
	}
	f.Write(output)
	v := NewView(f)
	draw(v, w, h)
	return v
}

func draw(v *View, w, h int) *paint.Canvas {
	c := &paint.Canvas{}
	c.Resize(w, h)
	v.Redraw()
	v.Draw(c, paint.Rect{W: w, H: h}, Look{
		Selection: emulator.Style{FG: emulator.Indexed(1), BG: emulator.Indexed(2)},
		Match:     emulator.Style{FG: emulator.Indexed(3), BG: emulator.Indexed(4)},
	})
	return c
}

// placeOf is copy mode's cursor: its column, and its line counted from the oldest.
func placeOf(v *View) [2]int {
	oldest, _ := v.bounds()
	return [2]int{v.copy.X, v.copy.Line - oldest}
}

func TestMotions(t *testing.T) {
	text := "foo.bar  baz(qux [1])\r\n\r\nsecond-line 世界 x\r\n  indented\r\n"
	for _, c := range []struct {
		name string
		from [2]int
		move []Motion
		want [2]int
	}{
		{"word", [2]int{0, 0}, []Motion{MoveWordNext}, [2]int{3, 0}},
		{"big word", [2]int{0, 0}, []Motion{MoveBigWordNext}, [2]int{9, 0}},
		{"big word end", [2]int{0, 0}, []Motion{MoveBigWordEnd}, [2]int{6, 0}},
		{"big word back", [2]int{12, 0}, []Motion{MoveBigWordBack}, [2]int{9, 0}},
		{"word end", [2]int{0, 0}, []Motion{MoveWordEnd}, [2]int{2, 0}},
		{"word back over lines", [2]int{0, 2}, []Motion{MoveWordBack}, [2]int{19, 0}},
		{"bracket", [2]int{9, 0}, []Motion{MoveBracket}, [2]int{20, 0}},
		{"bracket back", [2]int{20, 0}, []Motion{MoveBracket}, [2]int{12, 0}},
		{"inner bracket", [2]int{13, 0}, []Motion{MoveBracket}, [2]int{19, 0}},
		{"no bracket", [2]int{0, 2}, []Motion{MoveBracket}, [2]int{0, 2}},
		{"over a wide character", [2]int{12, 2}, []Motion{MoveRight}, [2]int{14, 2}},
		{"back over it", [2]int{14, 2}, []Motion{MoveLeft}, [2]int{12, 2}},
		{"down keeps the column", [2]int{9, 0}, []Motion{MoveDown, MoveDown}, [2]int{0, 2}},
		{"text", [2]int{7, 3}, []Motion{MoveLineText}, [2]int{2, 3}},
		{"paragraph", [2]int{0, 0}, []Motion{MoveParagraphNext}, [2]int{0, 1}},
		{"end", [2]int{0, 0}, []Motion{MoveLineEnd}, [2]int{20, 0}},
		{"top", [2]int{0, 3}, []Motion{MoveHistoryTop}, [2]int{0, 0}},
	} {
		v := view(t, 30, 6, text)
		v.EnterCopy()
		v.copy.X, v.copy.Line, v.copy.want = c.from[0], c.from[1], c.from[0]
		for _, m := range c.move {
			v.Move(m, 1)
		}
		want := c.want
		if c.name == "down keeps the column" {
			want = [2]int{9, 2}
		}
		if got := placeOf(v); got != want {
			t.Errorf("%s: from %v to %v, want %v", c.name, c.from, got, want)
		}
	}
}

func TestCountsAndLines(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, "line %d of text\r\n", i)
	}
	v := view(t, 30, 6, b.String())
	v.EnterCopy()
	v.GoLine(1)
	v.Move(MoveDown, 12)
	if got := placeOf(v); got[1] != 12 {
		t.Errorf("12 down is at %v", got)
	}
	v.Move(MoveWordNext, 3)
	if got := placeOf(v); got != [2]int{11, 12} {
		t.Errorf("3 words on is at %v", got)
	}
	v.Move(MoveDown, 1<<30) // it must stop at the end, at once
	if got := placeOf(v); got[1] != 50 {
		t.Errorf("the end is at %v", got)
	}
	v.GoLine(7)
	for where, row := range map[int]int{AtTop: 0, AtMiddle: 3, AtBottom: 5} {
		v.Recentre(where)
		if got := v.copy.Line - v.top; got != row {
			t.Errorf("put at %d the line is in row %d", where, got)
		}
	}
}

func TestFindCharacters(t *testing.T) {
	v := view(t, 30, 6, "a-b-c-d-e")
	v.EnterCopy()
	for i, c := range []struct {
		do   func() bool
		ok   bool
		want int
	}{
		{func() bool { v.copy.X = 0; return v.FindChar(Find{Char: '-'}, 1) }, true, 1},
		{func() bool { return v.FindAgain(2, false) }, true, 5},
		{func() bool { return v.FindAgain(1, true) }, true, 3},
		{func() bool { return v.FindChar(Find{Char: 'x'}, 1) }, false, 3},
		{func() bool { return v.FindChar(Find{Char: 'e', Till: true}, 1) }, true, 7},
		{func() bool { return v.FindChar(Find{Char: '-', Back: true, Till: true}, 1) }, true, 6},
		{func() bool { return v.FindAgain(1, false) }, true, 4}, // it skips the character beside the cursor
		{func() bool { return v.FindChar(Find{Char: '-'}, 9) }, false, 4},
	} {
		if ok := c.do(); ok != c.ok || v.copy.X != c.want {
			t.Errorf("step %d: %v at %d, want %v at %d", i, ok, v.copy.X, c.ok, c.want)
		}
	}
}

func TestMarks(t *testing.T) {
	v := view(t, 30, 6, "one\r\ntwo\r\nthree")
	v.EnterCopy()
	v.GoLine(2)
	v.SetMark('a')
	v.GoLine(1)
	if !v.GoMark('a') || placeOf(v)[1] != 1 {
		t.Errorf("mark a is at %v", placeOf(v))
	}
	if !v.GoMark('\'') || placeOf(v)[1] != 0 {
		t.Errorf("back is at %v", placeOf(v))
	}
	if v.GoMark('z') {
		t.Error("a mark that was never set is there")
	}
	for range 40 {
		v.Feed.Write("\r\nmore")
	}
	if !v.GoMark('a') || string(v.at(v.copy.Line)[0].Rune) != "t" {
		t.Error("the mark does not stay with its text")
	}
	v.Feed.Resize(20, 6)
	if v.GoMark('a') {
		t.Error("the mark outlives the lines' numbers")
	}
}

// A tab is copied as a tab, from the screen and from history, if the selection has all of its
// columns and they are still blank.
func TestSelectedTabs(t *testing.T) {
	text := "all:\n\r\tgo\tx\r\n1\t2\x1b[5D!\r\n12345678\t123\t\t9 wrapped"
	for _, c := range []struct {
		name     string
		shape    Shape
		from, to [2]int // column, line
		want     string
	}{
		{"characters", Chars, [2]int{0, 0}, [2]int{16, 1}, "all:\n\tgo\tx"},
		{"a line", Lines, [2]int{0, 1}, [2]int{0, 1}, "\tgo\tx\n"},
		{"from within a tab", Chars, [2]int{4, 1}, [2]int{16, 1}, "    go\tx"},
		{"half a tab in a block", Block, [2]int{6, 1}, [2]int{9, 1}, "  go"},
		{"a tab in a block", Block, [2]int{0, 1}, [2]int{9, 1}, "\tgo"},
		{"printed over", Lines, [2]int{0, 2}, [2]int{0, 2}, "1   !   2\n"},
		{"a line that wraps", Lines, [2]int{0, 3}, [2]int{0, 3}, "12345678\t123\t\t9 wrapped\n"},
	} {
		for _, h := range []int{6, 2} {
			v := view(t, 30, h, text)
			first, _ := v.bounds()
			v.selection = &Selection{AnchorX: c.from[0], AnchorLine: first + c.from[1], X: c.to[0], Line: first + c.to[1], Shape: c.shape}
			if got := v.SelectedText(); got != c.want {
				t.Errorf("%s, %d rows: %q, want %q", c.name, h, got, c.want)
			}
		}
	}
}

func TestSelectedText(t *testing.T) {
	text := "abcdefgh\r\n一二三四\r\n12345678  \r\nthis is a long line that wraps"
	for _, c := range []struct {
		name     string
		shape    Shape
		from, to [2]int // column, line
		want     string
	}{
		{"characters", Chars, [2]int{2, 0}, [2]int{1, 1}, "cdefgh\n一"},
		{"backwards", Chars, [2]int{1, 1}, [2]int{2, 0}, "cdefgh\n一"},
		{"lines", Lines, [2]int{3, 0}, [2]int{2, 1}, "abcdefgh\n一二三四\n"},
		{"a block takes wide characters whole", Block, [2]int{1, 0}, [2]int{2, 2}, "bc\n一二\n23"},
		{"a block from its other corners", Block, [2]int{2, 0}, [2]int{1, 2}, "bc\n一二\n23"},
		{"a block beyond the text", Block, [2]int{6, 0}, [2]int{12, 2}, "gh\n四\n78"},
		{"blanks at the end", Chars, [2]int{0, 2}, [2]int{15, 2}, "12345678"},
		{"wrapped lines", Lines, [2]int{0, 3}, [2]int{0, 4}, "this is a long line that wraps\n"},
		{"the start of a wrapped line", Lines, [2]int{5, 3}, [2]int{5, 3}, "this is a long line that wraps\n"},
		{"the end of a wrapped line", Lines, [2]int{2, 4}, [2]int{2, 4}, "this is a long line that wraps\n"},
		{"up into a wrapped line", Lines, [2]int{2, 4}, [2]int{0, 2}, "12345678\nthis is a long line that wraps\n"},
	} {
		v := view(t, 20, 6, text)
		v.selection = &Selection{AnchorX: c.from[0], AnchorLine: c.from[1], X: c.to[0], Line: c.to[1], Shape: c.shape}
		if got := v.SelectedText(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestClicks(t *testing.T) {
	text := "see /usr/lib/x.so, it's\r\nhttps://example.org/a_(b)?q=1. 世界!\r\nwrapped-word-over-the-edge and\r\n"
	for _, c := range []struct {
		x, y int
		unit Unit
		sep  string
		want string
	}{
		{5, 0, ByWord, "", "/usr/lib/x.so"},
		{17, 0, ByWord, "", ","},
		{5, 0, ByWord, "/", "usr"},
		{3, 1, ByWord, "", "https://example.org/a_(b)?q=1"},
		{8, 2, ByWord, "", "世界"},
		{1, 2, ByLine, "", "https://example.org/a_(b)?q=1. 世界!"},
		{1, 4, ByWord, "", "wrapped-word-over-the-edge"},
		{2, 0, ByLine, "", "see /usr/lib/x.so, it's"},
	} {
		v := view(t, 24, 8, text)
		v.Separators = c.sep
		v.StartDrag(c.x, c.y, c.unit, false)
		if got := v.SelectedText(); got != c.want {
			t.Errorf("at %d,%d by %d: %q, want %q", c.x, c.y, c.unit, got, c.want)
		}
	}
	v := view(t, 24, 8, "one two three four")
	v.StartDrag(5, 0, ByWord, false)
	v.Drag(9, 0)
	if got := v.SelectedText(); got != "two three" {
		t.Errorf("dragged on by words: %q", got)
	}
	v.Drag(1, 0)
	if got := v.SelectedText(); got != "one two" {
		t.Errorf("dragged back by words: %q", got)
	}
	v.StartDrag(1, 0, ByChar, true)
	v.Drag(2, 0)
	if got := v.SelectedText(); got != "ne" {
		t.Errorf("a block: %q", got)
	}
}

func TestLinks(t *testing.T) {
	text := "go to (https://a.example/x), or mailto:me@b.example! http://\r\n" +
		"\x1b]8;id=1;https://hidden.example/\x1b\\shown text\x1b]8;;\x1b\\ and javascript://x"
	v := view(t, 30, 6, text)
	for _, c := range []struct {
		x, y int
		want string
	}{
		{8, 0, "https://a.example/x"},
		{6, 0, ""},
		{26, 0, ""},
		{4, 1, "mailto:me@b.example"},
		{3, 2, "https://hidden.example/"},
		{12, 2, ""},
		{18, 2, ""},
	} {
		if got, _ := v.LinkAt(c.x, c.y); got != c.want {
			t.Errorf("at %d,%d: %q, want %q\n", c.x, c.y, got, c.want)
		}
	}
	if uri, _ := v.LinkHere(); uri != "https://hidden.example/" {
		t.Errorf("the last link is %q", uri)
	}
	if _, changed := v.Hover(8, 0, true); !changed {
		t.Error("pointing at a link changes nothing")
	}
	if uri, changed := v.Hover(9, 0, true); changed || uri != "https://a.example/x" {
		t.Errorf("moving on it: %q, %v", uri, changed)
	}
	if _, changed := v.Hover(9, 0, false); !changed {
		t.Error("without ctrl it stays")
	}
	long := view(t, 80, 3, "\x1b]8;;https://x/"+strings.Repeat("a", MaxLink)+"\x1b\\x\x1b]8;;\x1b\\")
	if uri, ok := long.LinkAt(0, 0); ok {
		t.Errorf("a link of %d bytes", len(uri))
	}
}

func TestText(t *testing.T) {
	v := view(t, 10, 4, "first line is wrapped\r\nsecond\r\nthird\r\n4\r\n5\r\n6")
	text, at, cut := v.Text(1 << 20)
	if want := "first line is wrapped\nsecond\nthird\n4\n5\n6\n"; text != want || cut {
		t.Errorf("%q, cut %v", text, cut)
	}
	if lines := strings.Split(text, "\n"); lines[at-1] != "third" {
		t.Errorf("the view begins with line %d", at)
	}
	if text, _, cut = v.Text(10); text != "4\n5\n6\n" && text != "third\n4\n5\n6\n" || !cut {
		t.Errorf("the end is %q, cut %v", text, cut)
	}
}

func TestScrollBar(t *testing.T) {
	v := view(t, 20, 6, strings.Repeat("line\r\n", 94)+"end")
	if v.OnBar(19, 0) {
		t.Error("a bar where nothing is scrolled")
	}
	v.Scroll(-1)
	draw(v, 20, 6)
	if v.thumb != (span{4, 5}) || !v.OnBar(19, 0) || v.OnBar(18, 0) {
		t.Errorf("the thumb is %v", v.thumb)
	}
	v.DragBar(0)
	if draw(v, 20, 6); v.Back() != v.Feed.History() || v.thumb != (span{0, 1}) {
		t.Errorf("at the top: %d of %d back, thumb %v", v.Back(), v.Feed.History(), v.thumb)
	}
	v.DragBar(100)
	if v.Back() != 0 {
		t.Errorf("at the bottom: %d back", v.Back())
	}
	v.Feed.Write("\x1b[3J")
	v.DragBar(3) // nothing to scroll
	draw(v, 20, 6)
}

// TestBroken: an emulator that panics, of the feed or of its frozen copy, doesn't end the
// interface.
func TestBroken(t *testing.T) {
	broken := func(f *Feed) { f.guard(func() { panic("broken") }) }
	v := view(t, 20, 6, "")
	broken(v.Feed)
	if Hold(v); v.Copying() {
		t.Error("copy mode without a screen")
	}
	v = view(t, 20, 6, numbered(0, 20))
	v.Scroll(-5)
	draw(v, 20, 6)
	v.Feed.Clear()
	broken(v.reader.frozen)
	draw(v, 20, 6)
	if v.Follow(); v.Scroll(-1) {
		t.Error("there is history after a clear")
	}
}
