package endpoint

import (
	"strings"
	"testing"

	"tandemux/ahp"
)

func TestResolve(t *testing.T) {
	named := func(name, title string) *ahp.TerminalMeta { return &ahp.TerminalMeta{Name: name, Title: title} }
	list := []ahp.TerminalInfo{
		{Resource: "ahp-terminal:/k3fa", Title: "bash"},
		{Resource: "ahp-terminal:/k3zz", Title: "build", Meta: named("build", "make")},
		{Resource: "terminal:/ABC", Title: "k3f", Meta: named("k3f", "sh")},
		{Resource: "ahp-terminal:/dup1", Title: "same"},
		{Resource: "ahp-terminal:/dup2", Title: "build"}, // which its program says
	}
	for _, c := range []struct{ id, want, err string }{
		{"ahp-terminal:/k3fa", "ahp-terminal:/k3fa", ""},
		{"k3zz", "ahp-terminal:/k3zz", ""},
		{"k3fa", "ahp-terminal:/k3fa", ""},
		{"k3f", "terminal:/ABC", ""}, // a name goes before a prefix
		{"k3z", "ahp-terminal:/k3zz", ""},
		{"k3", "", "could be any of k3fa, k3zz"},
		{"ABC", "terminal:/ABC", ""},
		{"build", "ahp-terminal:/k3zz", ""},
		{"make", "", "is the title of k3zz, and a title is no address"},
		{"same", "", "use the id dup1, or give the terminal a name with `tandemux rename dup1 NAME`"},
		{"nothing", "", "no terminal matches"},
		{"", "", "empty"},
	} {
		got, err := Resolve(list, c.id)
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
