package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tandemux/host/workspace/filetree"
)

// TestUpdateCopy: what changed in the directory that a copy was made of comes into the copy,
// what the task did stays, and its changes are still its own; a file that both changed changes
// nothing.
func TestUpdateCopy(t *testing.T) {
	needGit(t) // compares files
	t.Parallel()
	home := t.TempDir()
	write(t, home, map[string]string{"a": "a\n", "b": "b\n", "gone": "x\n", "dir/c": "c\n", "both": "1\n", ".git/config": "[core]\n"})
	w := create(t, newStore(t), "t1", Spec{Kind: Copy, Dir: home, Name: "n"})
	write(t, w.Dir(), map[string]string{"a": "the task's\n", "own": "own\n", "both": "2\n"})
	write(t, home, map[string]string{"b": "of home\n", "dir/new": "new\n", "both": "2\n", ".git/config!": "[other]\n"})
	if err := os.Remove(filepath.Join(home, "gone")); err != nil {
		t.Fatal(err)
	}
	u := must(w.Update(background, UpdateOptions{}))(t)
	if u.Files != 3 || u.From != home {
		t.Errorf("updated %+v", u)
	}
	for name, want := range map[string]string{"a": "the task's\n", "own": "own\n", "b": "of home\n", "dir/new": "new\n", "both": "2\n"} {
		if got := text(t, w.Dir(), name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := os.Lstat(filepath.Join(w.Dir(), "gone")); err == nil {
		t.Error("what was removed at home is still there")
	}
	if d := must(w.Diff(background, DiffOptions{}))(t); len(d.Files) != 2 {
		t.Errorf("the task's changes: %+v", d)
	}
	if u := must(w.Update(background, UpdateOptions{}))(t); u.Files != 0 {
		t.Errorf("again: %+v", u)
	}
	write(t, home, map[string]string{"a": "of home\n", "b": "of home, again\n"})
	var c *Conflicts
	if _, err := w.Update(background, UpdateOptions{}); !errors.As(err, &c) || len(c.Paths) != 1 || c.Paths[0] != "a" || text(t, w.Dir(), "b") != "of home\n" {
		t.Errorf("both changed a: %v", err)
	}
	write(t, home, map[string]string{"a": "a\n"})
	_, err := w.Update(background, UpdateOptions{Leave: true})
	wantIs(t, err, filetree.ErrUnsupported, "no conflicts to leave")
	must(w.Update(background, UpdateOptions{}))(t)
	if m := must(w.Merge(background, MergeOptions{}))(t); len(m.Files) != 2 || text(t, home, "a") != "the task's\n" || text(t, home, "b") != "of home, again\n" {
		t.Errorf("merged %+v", m)
	}
}
