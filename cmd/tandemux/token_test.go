package main

import (
	"testing"

	"tandemux/ahp"
)

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
