package pane

import (
	"fmt"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/emulator"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "line %d\r\n", i)
	}
	return b.String()
}

// TestStands: a scrolled-back view keeps its text, whatever removes that from the history, until
// the view follows the output again.
func TestStands(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(f *Feed)
	}{
		{"a flood", func(f *Feed) { f.Write(numbered(200, 5000)) }},
		{"line by line", func(f *Feed) {
			for i := 200; i < 300; i++ {
				f.Write(numbered(i, i+1))
			}
		}},
		{"ED 3", func(f *Feed) { f.Write("\x1b[3J\x1b[2J") }},
		{"RIS", func(f *Feed) { f.Write("\x1bc") }},
		{"a clear", (*Feed).Clear},
		{"another state", func(f *Feed) { f.Reset(ahp.TerminalState{Cols: 20, Rows: 6}) }}, //nolint:errcheck // seen below
		{"a screen alone", func(f *Feed) { f.Skim(ahp.TerminalState{Cols: 20, Rows: 6, Content: []ahp.Part{{Value: "no more"}}}) }}, //nolint:errcheck // seen below
	} {
		v := view(t, 20, 6, "")
		f := v.Feed
		f.LimitHistory(100)
		f.Write(numbered(0, 200))
		draw(v, 20, 6)
		v.Scroll(-90)
		v.EnterCopy()
		v.Mark(Lines)
		v.Move(MoveDown, 2)
		draw(v, 20, 6)
		top, chosen := emulator.LineText(v.at(v.top)), v.SelectedText()
		c.do(f)
		draw(v, 20, 6)
		if got := emulator.LineText(v.at(v.top)); got != top || v.SelectedText() != chosen {
			t.Errorf("%s: the top is %q, of %q; selected is %q, of %q", c.name, got, top, v.SelectedText(), chosen)
		}
		if c.name == "a flood" {
			if says := v.position(v.rect); says != " frozen 88/100 " {
				t.Errorf("%s: it says %q", c.name, says)
			}
		}
		f.Write("\r\nthe newest")
		v.Follow()
		draw(v, 20, 6)
		if got := string(v.Feed.em.Snapshot(nil, 0)); v.seen != f || v.top != f.lineOff || !strings.Contains(got, "the newest") {
			t.Errorf("%s: then the top is %d of %d: %q", c.name, v.top, f.lineOff, got)
		}
	}
}

// TestFlowsWhileThere: as long as the history has the view's text, the view also gets new output.
func TestFlowsWhileThere(t *testing.T) {
	v := view(t, 20, 6, "")
	v.Feed.LimitHistory(1000)
	v.Feed.Write(numbered(0, 900))
	draw(v, 20, 6)
	v.Scroll(-50)
	for i := 900; i < 1100; i++ {
		v.Feed.Write(numbered(i, i+1))
	}
	draw(v, 20, 6)
	if got := emulator.LineText(v.at(v.top)); v.seen != v.Feed || got != "line 845" || v.Back() != 250 {
		t.Errorf("the top is %q, %d lines back", got, v.Back())
	}
}

// TestResizeKeepsPlace: a scrolled-back view shows the same text after a resize rewraps the
// lines, and copy mode's cursor stays on its character, also in a frozen view.
func TestResizeKeepsPlace(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		v := view(t, 20, 6, "")
		v.Feed.LimitHistory(200)
		var b strings.Builder
		for i := range 150 {
			fmt.Fprintf(&b, "line %d %s\r\n", i, strings.Repeat("x", 5+i%30))
		}
		v.Feed.Write(b.String() + "$ ")
		draw(v, 20, 6)
		v.EnterCopy()
		v.GoLine(1)
		v.Search("line 57", false)
		v.Recentre(AtTop)
		draw(v, 20, 6)
		if frozen {
			v.Feed.Write(strings.Repeat("flood\r\n", 1000))
		}
		for _, size := range [][2]int{{10, 6}, {40, 6}, {13, 9}, {13, 4}, {80, 24}, {20, 6}} {
			v.Feed.Resize(size[0], size[1])
			draw(v, size[0], size[1])
			at := v.stretch(v.copy.Line)
			text, _ := at.text(false)
			if !strings.HasPrefix(string(text), "line 57 ") || v.copy.X != 0 || v.row(v.copy.Line) != 0 || v.seen != v.Feed != frozen {
				t.Errorf("frozen %v, at %v the cursor is in row %d and column %d of %q", frozen, size, v.row(v.copy.Line), v.copy.X, text)
			}
		}
	}
}
