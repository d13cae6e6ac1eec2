package workspace

import (
	"path/filepath"
	"slices"
	"testing"

	"tandemux/internal/soak"
)

// TestDeleteNames: what goes with a workspace and is nowhere else is named, and what its
// diff can't have is named there, too.
func TestDeleteNames(t *testing.T) {
	t.Parallel()
	inner := repository(t, map[string]string{"x": "1\n"})
	repo := repository(t, map[string]string{"a": "1\n"})
	run(t, repo, "git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "vendor/sub")
	run(t, repo, "git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "vendor/empty")
	run(t, repo, "git", "commit", "-qm", "submodules")
	s := newStore(t)
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	if d := must(w.Diff(background, DiffOptions{}))(t); len(d.Left) != 0 || len(d.Files) != 0 {
		t.Errorf("at first %+v", d)
	}
	write(t, w.Dir(), map[string]string{"a": "2\n", "vendor/sub/made": "by the agent\n"})
	run(t, w.Dir(), "git", "init", "-q", "nested")
	write(t, filepath.Join(w.Dir(), "nested"), map[string]string{"y": "1\n"})
	want := []string{"nested/", "vendor/sub/"}
	if d := must(w.Diff(background, DiffOptions{}))(t); !slices.Equal(d.Left, want) {
		t.Errorf("left %q", d.Left)
	}
	gone := must(w.Delete(background, false))(t)
	if gone.Branch != "tandemux/n" || !slices.Equal(gone.Dropped, []string{"nested/"}) || len(gone.Modules) != 1 {
		t.Errorf("%+v", gone)
	}
	src := t.TempDir()
	write(t, src, map[string]string{"a": "1\n"})
	c := create(t, s, "t2", Spec{Kind: Copy, Dir: src})
	write(t, c.Dir(), map[string]string{"a": "2\n", "b": "1\n"})
	must(c.Merge(background, MergeOptions{}))(t)
	write(t, c.Dir(), map[string]string{"b": "2\n"})
	if gone := must(c.Delete(background, false))(t); !slices.Equal(gone.Dropped, []string{"b"}) {
		t.Errorf("%+v", gone)
	}
}

// TestUpdateSubmodule: a submodule that comes with an update is an empty directory, and no
// change of the task's.
func TestUpdateSubmodule(t *testing.T) {
	soak.Long(t, "git makes submodules slowly")
	t.Parallel()
	inner := repository(t, map[string]string{"x": "1\n"})
	repo, w := behind(t, map[string]string{"b": "bb\n"}, nil)
	run(t, repo, "git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub")
	run(t, repo, "git", "commit", "-qm", "submodule")
	if u := must(w.Update(background, UpdateOptions{}))(t); u.Commits != 1 {
		t.Errorf("%+v", u)
	}
	if d := must(w.Diff(background, DiffOptions{}))(t); len(d.Files) != 2 || len(d.Left) != 0 {
		t.Errorf("%+v", d)
	}
	write(t, inner, map[string]string{"x": "2\n"})
	run(t, inner, "git", "commit", "-qam", "second")
	run(t, filepath.Join(repo, "sub"), "git", "pull", "-q")
	run(t, repo, "git", "commit", "-qam", "later")
	must(w.Update(background, UpdateOptions{}))(t)
	at := run(t, repo, "git", "rev-parse", "HEAD:sub")
	m := must(w.Merge(background, MergeOptions{}))(t)
	if got := run(t, repo, "git", "rev-parse", "HEAD:sub"); len(m.Files) != 2 || got != at {
		t.Errorf("%+v, the submodule at %s, not %s", m, got, at)
	}
}
