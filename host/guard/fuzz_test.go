package guard

import (
	"strings"
	"testing"
)

// FuzzCheckLine: whatever the line, judging it ends, doesn't panic, gives the
// same twice, and a blocked command that is put behind it as a command of its own
// is found.
func FuzzCheckLine(f *testing.F) {
	for _, c := range blockedLines {
		f.Add(c.line)
	}
	for _, l := range allowedLines {
		f.Add(l)
	}
	p := Default()
	f.Fuzz(func(t *testing.T, line string) {
		a, b := p.CheckLine(line), p.CheckLine(line)
		if (a == nil) != (b == nil) || a != nil && *a != *b {
			t.Fatalf("%q: judged %v, then %v", line, a, b)
		}
		p.Check(strings.Fields(line))
		p.Check([]string{line})
		if a != nil {
			return
		}
		if r := p.CheckLine("sudo x\n" + line); r == nil {
			t.Fatalf("a blocked command before %q is allowed", line)
		}
	})
}
