package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tandemux/host/changes"
	"tandemux/host/task"
	"tandemux/host/workspace"
	"tandemux/internal/daemon"
	"tandemux/internal/local"
)

// TestTasksChanges: a task's worktree has changes that can be merged, and no other
// directory has, for which tasks are not opened either.
func TestTasksChanges(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	ctx, dir := context.Background(), t.TempDir()
	d := local.Dirs{Dirs: daemon.Dirs{State: filepath.Join(dir, "state"), Runtime: filepath.Join(dir, "run")}}
	repo := filepath.Join(dir, "repo")
	for _, made := range []string{d.State, d.Runtime, repo} {
		if err := os.Mkdir(made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("sh", "-c", `cd "$1" && git init -q && echo a > a && git add a && git -c user.name=u -c user.email=u@x commit -qm a`, "-", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	work := newTasks(d, nil, nil) // it would hang if it were opened: there is no host
	if c, err := work.changes(repo); c != nil || err != nil {
		t.Errorf("a repository: %v, %v", c, err)
	}
	s, err := task.Open(ctx, task.Options{State: d.State, Runtime: d.Runtime})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	work.s = s
	w, err := s.Files.Create(ctx, "t1", workspace.Spec{Kind: workspace.Worktree, Dir: repo})
	if err != nil {
		t.Fatal(err)
	}
	c, err := work.changes(w.Dir())
	if _, home := c.(changes.Home); err != nil || !home || c.Top() != w.Dir() {
		t.Errorf("a worktree: %v, %v", c, err)
	}
	if c, err := work.changes(filepath.Dir(w.Dir())); c != nil || err != nil {
		t.Errorf("the directory above: %v, %v", c, err)
	}
}
