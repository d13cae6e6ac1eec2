package workspace

import (
	"context"
	"fmt"

	"tandemux/host/workspace/filetree"
	"tandemux/internal/statefile"
)

// takeAlong copies into a new worktree what of the directory that it was made from matches
// the configuration's globs and is ignored by git: dependencies, local settings. What the
// worktree has already stays. Nothing is linked: the agent may write to it.
func takeAlong(ctx context.Context, w *Workspace, r *record) error {
	if w.store.options.Carry == nil || r.Source == r.Common {
		return nil
	}
	globs := w.store.options.Carry(r.Source, statefile.Resolved(r.Common))
	if len(globs) == 0 {
		return nil
	}
	paths, err := w.sourceGit(r).Ignored(ctx, r.Source, globs)
	if err != nil {
		return fmt.Errorf("look for what is carried into the worktree: %w", err)
	}
	from, err := filetree.OpenFolder(r.Source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := filetree.OpenFolder(r.Dir)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, p := range paths {
		if err := filetree.CopyAlong(ctx, w.store.Limits, from, to, p); err != nil {
			return fmt.Errorf("carry %q into the worktree: %w", filetree.Clip(p), err)
		}
	}
	return nil
}
