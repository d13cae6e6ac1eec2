package workspace

import (
	"context"
	"path/filepath"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// Changes is a worktree compared with where it began, in the form that package changes uses.
type Changes struct{ w *Workspace }

// ChangesAt returns the Changes of the worktree whose directory is dir, or nil if dir is not a task's
// worktree.
func (s *Store) ChangesAt(dir string) *Changes {
	task := filepath.Base(filepath.Dir(dir))
	if filetree.CheckID("task", task) != nil || dir != filepath.Join(s.taskDir(task), filesName) {
		return nil
	}
	w, err := s.Workspace(task)
	if err != nil || w.info.Kind != Worktree {
		return nil
	}
	return &Changes{w}
}

func (c *Changes) Top() string { return c.w.Dir() }

// Diff returns what was changed, committed or not.
func (c *Changes) Diff(ctx context.Context) ([]git.FileDiff, error) {
	d, err := c.w.Diff(ctx, DiffOptions{})
	return d.Files, err
}

// Blob returns an object of the repository.
func (c *Changes) Blob(ctx context.Context, id string, most int) ([]byte, error) {
	r, err := c.w.load()
	if err != nil {
		return nil, err
	}
	return c.w.store.git(r.Common).With("GIT_DIR="+r.Common).Blob(ctx, id, most)
}

// Commit commits uncommitted changes on the workspace's branch.
func (c *Changes) Commit(ctx context.Context, message string) (string, error) {
	r, unlock, err := c.w.begin()
	if err != nil {
		return "", err
	}
	defer unlock()
	s, err := c.w.work(ctx, r, true)
	if err != nil {
		return "", err
	}
	defer s.close()
	commit, err := c.w.workCommit(ctx, r, s, message)
	if err != nil {
		return "", err
	}
	return commit, c.w.adopt(ctx, r, s.tip, commit)
}

// Merge merges the work into the branch that is checked out in the repository.
func (c *Changes) Merge(ctx context.Context, message string) (into string, err error) {
	o := MergeOptions{Message: message}
	if resting := c.w.store.options.Resting; resting != nil {
		o.Ready = func() error { return resting(ctx, c.w.id) }
	}
	m, err := c.w.Merge(ctx, o)
	return m.Into, err
}

// Undo restores files as they were where the worktree began, after it has put all files into a commit.
// Branch and index do not move, so what the agent has committed is undone, too.
func (c *Changes) Undo(ctx context.Context, files []git.FileDiff) (u git.Undone, err error) {
	all, err := git.SidesOf(files, false)
	if err != nil {
		return u, err
	}
	r, unlock, err := c.w.begin()
	if err != nil {
		return u, err
	}
	defer unlock()
	if err := c.w.takeCommits(ctx, r); err != nil {
		return u, err
	}
	top, err := r.open()
	if err != nil {
		return u, err
	}
	defer top.Close()
	changes, err := all.Standing(top) // read before the commit, so that later writes are not overwritten
	if err != nil {
		return u, err
	}
	s, err := c.w.snapshot(ctx, r, true)
	if err != nil {
		return u, err
	}
	defer s.close()
	if err := all.In(ctx, s.git, s.tree); err != nil {
		return u, err
	}
	commit, err := s.git.Commit(ctx, s.tree, "What was undone", s.tip)
	if err != nil {
		return u, err
	}
	u = git.Undone(commit)
	if _, err := s.git.Run(ctx, "update-ref", "-m", "tandemux: undo", u.Ref(), commit); err != nil {
		return u, err
	}
	missed, err := c.w.write(ctx, s, top, all, changes)
	if err == nil && len(missed) > 0 {
		err = filetree.Failf(filetree.ErrConflict, "files were changed meanwhile: %d were left as they are", len(missed))
	}
	return u, err
}
