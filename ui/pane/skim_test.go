package pane

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/engine"
)

// TestSkim: a skimmed feed still knows earlier commands, and gets the whole text as soon as a
// view scrolls back; while one is scrolled back, the feed must not be skimmed.
func TestSkim(t *testing.T) {
	f := NewFeed("native", nil)
	part := func(text string) ahp.Part {
		return ahp.Part{Type: ahp.PartCommand, CommandID: "c2", CommandLine: "flood", Output: text}
	}
	state := func(parts ...ahp.Part) ahp.TerminalState {
		return ahp.TerminalState{Cols: 20, Rows: 4, Content: parts, SupportsCommandDetection: true}
	}
	var lines strings.Builder
	for i := range 50 {
		fmt.Fprintf(&lines, "line %d\r\n", i)
	}
	asked := 0
	f.Whole = func() {
		asked++
		f.Reset(state(part(lines.String()))) //nolint:errcheck // seen below
	}
	if f.Skims() {
		t.Error("a feed without a screen is skimmed")
	}
	f.Reset(state()) //nolint:errcheck // seen below
	f.Executed(ahp.TerminalCommandExecuted{CommandID: "c1", CommandLine: "ls"})
	f.Finished(ahp.TerminalCommandFinished{CommandID: "c1"})
	f.Executed(ahp.TerminalCommandExecuted{CommandID: "c2", CommandLine: "flood"})
	v := NewView(f)
	draw := func() string {
		draw(v, 20, 4)
		return emulator.LineText(v.at(v.top))
	}
	draw()
	if !f.Skims() {
		t.Fatal("a feed that shows its newest output is not skimmed")
	}
	if err := f.Skim(state(part("line 47\r\nline 48\r\nline 49\r\n"))); err != nil {
		t.Fatal(err)
	}
	if top := draw(); top != "line 47" || f.History() == 0 || asked > 0 {
		t.Errorf("the top is %q, of %d lines, asked %d times", top, f.History(), asked)
	}
	names := ""
	for _, c := range f.Commands() {
		names += c.Line + " "
	}
	if names != "flood ls " {
		t.Errorf("the commands are %s", names)
	}
	v.Scroll(-10)
	if top := draw(); top != "line 37" || asked != 1 {
		t.Errorf("scrolled back the top is %q, asked %d times", top, asked)
	}
	if f.Skims() {
		t.Error("what a view is scrolled back in is skimmed")
	}
	if err := f.Skim(state(part("late"))); err != nil || draw() != "line 37" || asked != 1 {
		t.Errorf("%v; after what came late the top is %q, asked %d times", err, draw(), asked)
	}
	v.Follow()
	draw()
	if !f.Skims() {
		t.Error("after that it is not skimmed")
	}
	if o, err := v.CommandOutput(""); err != nil || !strings.HasPrefix(o.Text, "line 0\nline 1\n") {
		t.Errorf("%v: %q", err, o.Text)
	}
	v.Scroll(-10)
	if f.Drop(v); !f.Skims() {
		t.Error("for a view that goes while scrolled back it is not skimmed")
	}
	v.Follow()
	f.Write("\x1b[?1049h")
	if draw(); f.Skims() {
		t.Error("a program's own screen is skimmed")
	}
}

// TestSkimInPlace: Skim reuses the emulator, whatever sequence it is in the middle of, except if
// the size differs.
func TestSkimInPlace(t *testing.T) {
	for _, name := range engine.Names() {
		f := NewFeed(name, nil)
		screen := func(cols int) emulator.Emulator {
			f.Skim(ahp.TerminalState{Cols: cols, Rows: 4, Content: []ahp.Part{{Value: "text"}}}) //nolint:errcheck // seen below
			if line := f.em.Line(0, nil); emulator.LineText(line) != "text" || line[0].Style.FG != 0 || len(line) != cols {
				t.Errorf("%s shows %+v", name, line)
			}
			return f.em
		}
		first := screen(20)
		f.Write("\x1b[2;3r\x1b[31mred\x1b]2;a tit")
		if screen(20) != first || screen(30) == first {
			t.Errorf("%s: a screen of the same size came with a new emulator, or one of another did not", name)
		}
	}
}

// TestSkimLosesNothing: events survive a skimmed screen; a frame that a program never ends is
// drawn in time however many screens arrive; and after a resize the whole state is requested, as
// the resize may bring lines back.
func TestSkimLosesNothing(t *testing.T) {
	f := NewFeed("native", nil)
	asked := 0
	f.Whole = func() { asked++ }
	state := func(text string) ahp.TerminalState {
		return ahp.TerminalState{Cols: 20, Rows: 4, Content: []ahp.Part{{Type: ahp.PartUnclassified, Value: text}}}
	}
	skim := func(text string) {
		t.Helper()
		if err := f.Skim(state(text)); err != nil {
			t.Fatal(err)
		}
	}
	f.Reset(state("$ ")) //nolint:errcheck // seen below
	if f.Resize(20, 5); asked > 0 {
		t.Error("with all lines there, a new size asked for them")
	}
	f.Print([]byte("\x1b]52;c;dGV4dA==\a\a"))
	skim("shown")
	f.Print([]byte("\a"))
	f.Reset(state("shown")) //nolint:errcheck // seen below
	if got := f.Events(); len(got) != 3 || got[0].Text != "text" {
		t.Errorf("of a text for the clipboard and two bells there is %+v", got)
	}
	now := time.Now()
	drawn := 0
	for range 5 {
		skim("\x1b[?2026h")
		if _, hold := f.Hold(now); !hold {
			drawn++
		}
		now = now.Add(SyncTimeout / 2)
	}
	if drawn != 2 {
		t.Errorf("in twice its time, a frame that does not end was drawn %d times", drawn)
	}
	if f.Resize(20, 10); asked != 1 {
		t.Errorf("a new size asked for the lines %d times", asked)
	}
	f.Executed(ahp.TerminalCommandExecuted{CommandID: "c", CommandLine: "flood"})
	out := state("")
	out.Content = []ahp.Part{{Type: ahp.PartCommand, CommandID: "c", CommandLine: "flood", Output: "a\r\nb\r\nc"}}
	if err := f.Skim(out); err != nil {
		t.Fatal(err)
	}
	v := NewView(f)
	draw(v, 20, 4)
	if p, ok := v.sticking(StickyAlways); !ok || p.ID != "c" {
		t.Errorf("the line of %q stays on top, %v, where a screen begins within the output of c", p.ID, ok)
	}
	f.Write(strings.Repeat("line\r\n", 100))
	draw(v, 20, 4)
	v.StartDrag(1, 1, ByChar, false)
	skim("one\r\ntwo\r\nthree")
	if v.Drag(2, 2); v.SelectedText() != "wo\nthr" {
		t.Errorf("dragged from the second line to the third, %q is selected", v.SelectedText())
	}
	v.Unselect()
	f.Whole = func() {
		f.Reset(state(strings.Repeat("line\r\n", 10))) //nolint:errcheck // seen below
	}
	if _, changed := v.Hover(19, 1, false); !changed || f.History() != 7 {
		t.Errorf("where the pointer is on its column the scroll bar has %d lines, %v", f.History(), changed)
	}
	if draw(v, 20, 4); f.Skims() {
		t.Error("what the scroll bar shows is skimmed")
	}
}
