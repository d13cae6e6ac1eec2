package pane

import (
	"fmt"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/emulator"
)

// TestSkim: a feed that was given a screen in place of a flood still knows the commands
// of before, and gets the whole text as soon as a view reads back; while one does, it is
// not to be skimmed.
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
		return emulator.LineText(f.em.Line(v.top-f.lineOff, nil))
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
	if err := f.Skim(state(part("late"))); err != nil || asked != 2 {
		t.Errorf("%v; what came late was asked for %d times", err, asked-1)
	}
	v.Follow()
	draw()
	if !f.Skims() {
		t.Error("after that it is not skimmed")
	}
	if o, err := v.CommandOutput(""); err != nil || !strings.HasPrefix(o.Text, "line 0\nline 1\n") {
		t.Errorf("%v: %q", err, o.Text)
	}
	f.Write("\x1b[?1049h")
	if draw(); f.Skims() {
		t.Error("a program's own screen is skimmed")
	}
}
