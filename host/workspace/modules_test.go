package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/modules"
	"tandemux/internal/soak"
)

// withModules is a repository with the submodule vendor/sub at its first commit, of which
// there is a second one, and one whose repository is not in the clone.
func withModules(t *testing.T) (repo string) {
	t.Helper()
	inner := repository(t, map[string]string{"x": "1\n", "deep/y": "1\n", ".gitignore": "*.o\n", "link -> x": ""})
	repo = repository(t, map[string]string{"a": "1\n"})
	for _, at := range []string{"vendor/sub", "vendor/absent"} {
		run(t, repo, "git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", "--name", "named "+at, inner, at)
	}
	run(t, repo, "git", "commit", "-qm", "submodules")
	run(t, repo, "git", "submodule", "deinit", "-q", "-f", "vendor/absent")
	if err := filetree.RemoveTree(filepath.Join(repo, ".git/modules/named vendor/absent")); err != nil {
		t.Fatal(err)
	}
	return repo
}

// TestSubmodulesFilled: a worktree has its submodules' files, of the clone's own repositories,
// and nothing of them is a change before somebody makes one. What is made there is on a
// branch of the submodule's when the task is deleted, and named.
func TestSubmodulesFilled(t *testing.T) {
	soak.Long(t, "git makes submodules slowly")
	t.Parallel()
	repo := withModules(t)
	s := newStore(t)
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	for name, want := range map[string]string{"vendor/sub/x": "1\n", "vendor/sub/deep/y": "1\n", "vendor/sub/link": "1\n"} {
		if got := text(t, w.Dir(), name); got != want {
			t.Errorf("%s has %q", name, got)
		}
	}
	if list, err := os.ReadDir(filepath.Join(w.Dir(), "vendor/absent")); err != nil || len(list) != 0 {
		t.Errorf("what is not in the clone has %v: %v", list, err)
	}
	if d := must(w.Diff(background, DiffOptions{}))(t); len(d.Left)+len(d.Files) != 0 {
		t.Errorf("at first %+v", d)
	}
	if got := run(t, w.Dir(), "git", "status", "--porcelain"); got != "" {
		t.Errorf("git says %s", got)
	}
	write(t, w.Dir(), map[string]string{"a": "2\n", "vendor/sub/x": "2\n", "vendor/sub/made": "made\n", "vendor/sub/y.o": "ignored\n", "vendor/sub/.git/config": "[core]\n\tfsmonitor = touch " + filepath.Join(s.options.State, "ran") + "\n"})
	if d := must(w.Diff(background, DiffOptions{}))(t); !slices.Equal(d.Left, []string{"vendor/sub/"}) {
		t.Errorf("left %q", d.Left)
	}
	if m := must(w.Merge(background, MergeOptions{}))(t); len(m.Files) != 1 || !slices.Equal(m.Left, []string{"vendor/sub/"}) {
		t.Errorf("merged %+v", m)
	}
	gone := must(w.Delete(background, false))(t)
	if len(gone.Dropped) != 0 || !slices.Equal(gone.Modules, []modules.Kept{{Path: "vendor/sub", Branch: "tandemux/n"}}) {
		t.Errorf("%+v", gone)
	}
	sub := filepath.Join(repo, "vendor/sub")
	if got := run(t, sub, "git", "diff", "--name-status", "HEAD", "tandemux/n"); strings.TrimSpace(got) != "A\tmade\nM\tx" {
		t.Errorf("the branch has %s", got)
	}
	if got := run(t, repo, "git", "submodule", "status", "vendor/sub") + run(t, sub, "git", "status", "--porcelain"); !strings.HasPrefix(got, " ") || strings.Count(got, "\n") != 1 {
		t.Errorf("the person's submodule is %s", got)
	}
	if _, err := os.Stat(filepath.Join(s.options.State, "ran")); err == nil {
		t.Error("git believed what is in the submodule's .git")
	}
}

// TestSubmodulesKept: what is as it was is kept nowhere, by force nothing is, and a task of
// the same name takes no other's branch.
func TestSubmodulesKept(t *testing.T) {
	soak.Long(t, "git makes submodules slowly")
	t.Parallel()
	repo := withModules(t)
	s := newStore(t)
	sub := filepath.Join(repo, "vendor/sub")
	for i, c := range []struct {
		files map[string]string
		force bool
		want  []modules.Kept
	}{
		{nil, false, nil},
		{map[string]string{"vendor/sub/y.o": "ignored\n"}, false, nil},
		{map[string]string{"vendor/sub/x": "2\n"}, true, nil},
		{map[string]string{"vendor/sub/x": "2\n"}, false, []modules.Kept{{Path: "vendor/sub", Branch: "tandemux/n"}}},
		{map[string]string{"vendor/sub/x": "3\n"}, false, []modules.Kept{{Path: "vendor/sub", Branch: "tandemux/n-2"}}},
	} {
		w := create(t, s, "t"+string(rune('1'+i)), Spec{Kind: Worktree, Dir: repo, Name: "n"})
		write(t, w.Dir(), c.files)
		if gone := must(w.Delete(background, c.force))(t); !slices.Equal(gone.Modules, c.want) || len(gone.Dropped) != 0 {
			t.Errorf("%v: %+v", c.files, gone)
		}
	}
	if got := run(t, sub, "git", "branch", "--list", "tandemux/*"); strings.Count(got, "\n") != 2 {
		t.Errorf("the submodule has\n%s", got)
	}
	// What is a directory no more is no work, and nothing outside is followed to.
	w := create(t, s, "t9", Spec{Kind: Worktree, Dir: repo, Name: "m"})
	at := filepath.Join(w.Dir(), "vendor/sub")
	if err := filetree.RemoveTree(at); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(repo, at); err != nil {
		t.Fatal(err)
	}
	if gone := must(w.Delete(background, false))(t); len(gone.Modules) != 0 {
		t.Errorf("%+v", gone)
	}
}
