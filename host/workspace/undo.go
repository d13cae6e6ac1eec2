package workspace

import (
	"context"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// Undo gives files what they were where the worktree began, once all files are kept in a
// commit. Branch and index stay, so what the agent has committed is undone, too.
func (c *Changes) Undo(ctx context.Context, files []git.FileDiff) (u git.Undone, err error) {
	u.Files = files
	err = c.swap(ctx, files, false, func(s *snapshot) error {
		if u.Commit, err = s.git.Commit(ctx, s.tree, "What was undone", s.tip); err != nil {
			return err
		}
		_, err = s.git.Run(ctx, "update-ref", "-m", "tandemux: undo", u.Ref(), u.Commit)
		return err
	})
	return u, err
}

// Redo brings back what was undone.
func (c *Changes) Redo(ctx context.Context, u git.Undone) error {
	return c.swap(ctx, u.Files, true, func(*snapshot) error { return nil })
}

// swap gives files the other side of their differences, if they have this one. Between,
// it lets something be done with a snapshot of them.
func (c *Changes) swap(ctx context.Context, files []git.FileDiff, forth bool, keep func(*snapshot) error) error {
	all, err := git.SidesOf(files, forth)
	if err != nil {
		return err
	}
	r, unlock, err := c.w.begin()
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.w.takeCommits(ctx, r); err != nil {
		return err
	}
	top, err := r.open()
	if err != nil {
		return err
	}
	defer top.Close()
	changes, err := all.Standing(top) // before they are kept: what is written later is not overwritten
	if err != nil {
		return err
	}
	s, err := c.w.snapshot(ctx, r, true)
	if err != nil {
		return err
	}
	defer s.close()
	if err := all.In(ctx, s.git, s.tree); err != nil {
		return err
	}
	if err := keep(s); err != nil {
		return err
	}
	missed, err := c.w.write(ctx, s, top, all, changes)
	if err != nil {
		return err
	}
	if len(missed) > 0 {
		return filetree.Failf(filetree.ErrConflict, "files were changed meanwhile: %d were left as they are", len(missed))
	}
	return nil
}
