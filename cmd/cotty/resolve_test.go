package main

import (
	"strings"
	"testing"

	"cotty/ahp"
)

func TestResolve(t *testing.T) {
	list := []ahp.TerminalInfo{
		{Resource: "ahp-terminal:/k3fa", Title: "bash"},
		{Resource: "ahp-terminal:/k3zz", Title: "make"},
		{Resource: "terminal:/ABC", Title: "k3"},
		{Resource: "ahp-terminal:/dup1", Title: "same"},
		{Resource: "ahp-terminal:/dup2", Title: "same"},
	}
	for _, c := range []struct{ id, want, err string }{
		{"ahp-terminal:/k3fa", "ahp-terminal:/k3fa", ""},
		{"k3zz", "ahp-terminal:/k3zz", ""},
		{"k3f", "ahp-terminal:/k3fa", ""},
		{"k3", "", "could be any of k3fa, k3zz"}, // a prefix goes before a title
		{"ABC", "terminal:/ABC", ""},
		{"make", "ahp-terminal:/k3zz", ""},
		{"same", "", "could be any of dup1, dup2"},
		{"nothing", "", "no terminal matches"},
		{"", "", "empty"},
	} {
		got, err := resolve(list, c.id)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("resolve(%q): %v, want an error with %q", c.id, err, c.err)
			}
			continue
		}
		if err != nil || got.Resource != c.want {
			t.Errorf("resolve(%q) = %v, %v; want %s", c.id, got.Resource, err, c.want)
		}
	}
}
