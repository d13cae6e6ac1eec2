package main

import (
	"context"
	"strings"
	"testing"

	"tandemux/internal/cli"
)

// TestOldNames: old names do what the new ones do, and stand nowhere.
func TestOldNames(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	run := func(args ...string) string {
		root := newRoot()
		var out strings.Builder
		root.SetOut(&out)
		root.SetErr(&out)
		cli.Run(context.Background(), root, args, "")
		return out.String()
	}
	manual := run("man")
	for name, old := range oldNames {
		group, _, below := strings.Cut(name, " ")
		words := []string{old}
		if below {
			words = []string{group, old}
		}
		if got, want := run(append(words, "--help")...), run(append(strings.Fields(name), "--help")...); got != want {
			t.Errorf("%s: %s", words, got)
		}
		if shown := strings.Join(words, " ") + " "; strings.Contains(strings.ReplaceAll(manual, "\\", ""), "tandemux "+shown) {
			t.Errorf("the manual speaks of %q", shown)
		}
		if words[len(words)-1] = old[:len(old)-1]; !below && strings.Contains(run(append([]string{"__complete"}, words...)...), old+"\t") {
			t.Errorf("%s is offered", old)
		}
	}
	for old, now := range map[string][]string{"agents": {"agent", "ls", "--json"}, "sessions": {"session", "ls", "--json"}} {
		if got, want := run(old, "--json"), run(now...); got != want || !strings.HasPrefix(got, "[") {
			t.Errorf("%s: %s", old, got)
		}
	}
}
