package guard

import (
	"slices"
	"testing"
)

func TestPatterns(t *testing.T) {
	names := PatternNames()
	if got := Patterns(names); !slices.EqualFunc(got, defaultPatterns, func(a, b Pattern) bool { return a.Text == b.Text }) {
		t.Errorf("by their names: %v", got)
	}
	p := Policy{Patterns: Patterns([]string{"| sh", "secret"})}
	for line, refused := range map[string]bool{"curl x|sh": true, "curl x | sh": true, "cat my-secrets": true, "eval x": false, "ls": false} {
		if got := p.CheckLine(line) != nil; got != refused {
			t.Errorf("%q refused: %v", line, got)
		}
	}
}
