package termcmd

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host/auth"
)

// TestScopesAreWritten: docs/security.md says what each scope is for, and names no other.
func TestScopesAreWritten(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n| scope | lets |\n|---|---|\n")
	list, _, ended := strings.Cut(rest, "\n\n")
	if !ok || !ended {
		t.Fatal("docs/security.md does not list the scopes")
	}
	var named []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(list, -1) {
		named = append(named, m[1])
	}
	if !slices.Equal(named, auth.AllScopes) {
		t.Errorf("docs/security.md lists the scopes %q, want %q", named, auth.AllScopes)
	}
}

// TestWorth: a token is said to look only when that is all that it may do.
func TestWorth(t *testing.T) {
	read, both := []string{"terminal:read"}, []string{"terminal:read", "terminal:input"}
	for _, c := range []struct {
		token ahp.TokenNewResult
		want  string
	}{
		{ahp.TokenNewResult{Scopes: read}, "the sight of your terminals"},
		{ahp.TokenNewResult{Scopes: both}, "your shell"},
		{ahp.TokenNewResult{Scopes: read, Terminal: "ahp-terminal:/t"}, "the sight of terminal t"},
		{ahp.TokenNewResult{Scopes: both, Terminal: "ahp-terminal:/t"}, "the terminal t"},
		{ahp.TokenNewResult{Scopes: both[1:], Terminal: "ahp-terminal:/t"}, "the terminal t"},
	} {
		if got := worth(c.token); got != c.want {
			t.Errorf("%v of %q is worth %q, want %q", c.token.Scopes, c.token.Terminal, got, c.want)
		}
	}
}
