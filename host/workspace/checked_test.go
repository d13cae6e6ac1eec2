package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tandemux/host/workspace/filetree"
	"tandemux/internal/soak"
)

// TestCheckOfWhatComesHome: the check sees the task's work with what is new at home, also
// with what came there while it ran; what fails together does not come home, though each
// alone would have passed.
func TestCheckOfWhatComesHome(t *testing.T) {
	soak.Long(t, "checks that run again")
	t.Parallel()
	repo, w := behind(t, map[string]string{"a": "1\n2\n3\n4\nfive\n"}, map[string]string{"lib": "of home\n"})
	var seen []string
	var meanwhile func(n int)
	broken := errors.New("they don't fit")
	w.store.options.Check = func(w *Workspace) func(context.Context) error {
		return func(context.Context) error {
			seen = append(seen, text(t, w.Dir(), "a")+text(t, w.Dir(), "lib"))
			if meanwhile != nil {
				meanwhile(len(seen))
			}
			if strings.Contains(text(t, w.Dir(), "lib"), "broken") {
				return broken
			}
			return nil
		}
	}
	goesOn := func(name, content string) {
		write(t, repo, map[string]string{name: content})
		run(t, repo, "git", "add", "-A")
		run(t, repo, "git", "commit", "-qm", "home "+name)
	}
	if m := must(w.Merge(background, MergeOptions{DryRun: true}))(t); m.Behind != 1 || len(seen) != 0 {
		t.Errorf("looked: %+v, checked %q", m, seen)
	}
	meanwhile = func(n int) {
		if n == 1 {
			goesOn("lib", "of home, later\n")
		}
	}
	m := must(w.Merge(background, MergeOptions{}))(t)
	if want := "1\n2\n3\n4\nfive\nof home, later\n"; len(seen) != 2 || seen[1] != want || m.Behind != 0 {
		t.Errorf("it saw %q: %+v", seen, m)
	}
	tree := strings.TrimSpace(run(t, repo, "git", "rev-parse", "main^{tree}"))
	if got := strings.TrimSpace(run(t, w.Dir(), "git", "rev-parse", "tandemux/n^{tree}")); got != tree {
		t.Errorf("what came home is %s, what was checked %s", tree, got)
	}
	if got := run(t, repo, "git", "log", "--first-parent", "--format=%s", "main"); !strings.HasPrefix(got, "Merge tandemux/n into main\nhome lib\nhome lib\n") {
		t.Errorf("main's own line is\n%s", got)
	}

	// Each alone is good.
	write(t, w.Dir(), map[string]string{"own": "more\n"})
	goesOn("lib", "broken\n")
	was := run(t, repo, "git", "rev-parse", "main")
	if _, err := w.Merge(background, MergeOptions{}); !errors.Is(err, broken) || run(t, repo, "git", "rev-parse", "main") != was {
		t.Errorf("it came home: %v", err)
	}
	if got := text(t, w.Dir(), "lib") + text(t, w.Dir(), "own"); got != "broken\nmore\n" {
		t.Errorf("what failed is not there to be mended: %q", got)
	}
	write(t, w.Dir(), map[string]string{"lib": "mended\n"})
	must(w.Merge(background, MergeOptions{}))(t)
	if got := text(t, repo, "lib") + text(t, repo, "own"); got != "mended\nmore\n" {
		t.Errorf("came home: %q", got)
	}

	// Home that never rests, a task at work, conflicts.
	write(t, w.Dir(), map[string]string{"own": "and more\n"})
	seen, meanwhile = nil, func(n int) { goesOn("n", fmt.Sprint(n)) }
	if _, err := w.Merge(background, MergeOptions{}); !errors.Is(err, filetree.ErrConflict) || !strings.Contains(err.Error(), "each of 3 times") {
		t.Errorf("it never rests: %v", err)
	}
	seen, meanwhile = nil, nil
	if _, err := w.Merge(background, MergeOptions{Ready: func() error { return errors.New("at work") }}); err == nil || len(seen) != 0 {
		t.Errorf("at work: %v, %q", err, seen)
	}
	goesOn("own", "of home\n")
	was = text(t, w.Dir(), "own")
	var c *Conflicts
	if _, err := w.Merge(background, MergeOptions{}); !errors.As(err, &c) || len(seen) != 0 || text(t, w.Dir(), "own") != was {
		t.Errorf("in conflict: %v, %q", err, seen)
	}
}
