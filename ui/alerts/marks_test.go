package alerts

import (
	"os"
	"strings"
	"testing"

	"tandemux/themes"
	"tandemux/ui/attention"
	"tandemux/ui/look"
	"tandemux/ui/outer"
)

// TestMarksAreWritten: docs/daily.md has the marks of commands and of alerts, as they
// are shown.
func TestMarksAreWritten(t *testing.T) {
	page, err := os.ReadFile("../../docs/daily.md")
	if err != nil {
		t.Fatal(err)
	}
	l := look.New(themes.Theme{}, true, true)
	al := &Alerts{outer: &outer.Terminal{Look: l}}
	commands, alerts := "", ""
	for _, mark := range []rune{l.Running, l.Passed, l.Failed, l.Ended, l.Folded} {
		commands += string(mark)
	}
	for k := attention.Waiting; k <= attention.Printed; k++ {
		mark, _ := al.Mark(k)
		alerts += mark
	}
	for head, want := range map[string]string{"mark | the command\n---|---\n": commands, "mark | of\n---|---\n": alerts} {
		_, table, _ := strings.Cut(string(page), head)
		table, _, _ = strings.Cut(table, "\n\n")
		got := ""
		for line := range strings.Lines(table) {
			mark, _, _ := strings.Cut(line, " | ")
			got += strings.Trim(mark, "`")
		}
		if got != want {
			t.Errorf("the marks are %q, docs/daily.md says %q", want, got)
		}
	}
}
