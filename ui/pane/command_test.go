package pane

import (
	"testing"

	"tandemux/ahp"
)

// TestTypedAhead: a command's mark is on its own line even if text was typed between Enter and
// the shell's mark that it runs, or if the shell sends that mark before the line break.
func TestTypedAhead(t *testing.T) {
	for _, tt := range []struct {
		name, line, printed string
		first, pick         int // first and last line of the command line
	}{
		{"typed at once", "make", "$ make\r\n", 0, 0},
		{"ahead", "make", "$ make\r\nls", 0, 0},
		{"ahead, several rows", "for i in 1\ndo make\ndone", "$ for i in 1\r\n> do make\r\n> done\r\nls", 0, 2},
		{"before the line break", "make", "$ make", 0, 0},
		{"before the line break, wrapped", "make a-rather-long-target", "$ make a-rather-long-target", 0, 1},
		{"ahead of a wrapped one", "make a-rather-long-target", "$ make a-rather-long-target\r\nls", 0, 1},
		{"line unknown", "", "$ make", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := NewFeed("native", nil)
			if err := f.Reset(ahp.TerminalState{Cols: 20, Rows: 8, SupportsCommandDetection: true}); err != nil {
				t.Fatal(err)
			}
			v := NewView(f)
			f.Write(tt.printed)
			f.Executed(ahp.TerminalCommandExecuted{CommandID: "c1", CommandLine: tt.line})
			f.Write("\r\nbuilt\r\n")
			code := 0
			f.Finished(ahp.TerminalCommandFinished{CommandID: "c1", ExitCode: &code})
			draw(v, 20, 8)
			if !v.GoCommand(false) {
				t.Fatal("no command is found")
			}
			draw(v, 20, 8)
			if v.pick.first != tt.first || v.pick.last != tt.pick {
				t.Errorf("the command's line is %d to %d; want %d to %d", v.pick.first, v.pick.last, tt.first, tt.pick)
			}
		})
	}
}
