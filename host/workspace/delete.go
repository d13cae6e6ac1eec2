package workspace

import (
	"context"
	"errors"
	"fmt"

	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/modules"
)

// Removed is the result of removing a workspace.
type Removed struct {
	// Branch was kept, because it has commits that are nowhere else.
	Branch string
	// Dropped are paths that were deleted and existed nowhere else, at most 1000: of a worktree
	// repositories in it, changes in submodules, and what can't be read; of a copy what was not
	// merged. Files that git ignores are not listed, and by force nothing is.
	Dropped []string
	// Modules are submodules whose work is on branches of their own repositories.
	Modules []modules.Kept
}

// Delete removes the workspace: its directory (never that of ro: and rw:), its system folders, and the
// worktree. The branch is kept if it has commits that are nowhere else, unless force is set.
// Filesystems are kept.
func (w *Workspace) Delete(ctx context.Context, force bool) (Removed, error) {
	unlock := w.store.moving.Lock(w.id)
	defer unlock()
	r, err := w.load()
	if errors.Is(err, filetree.ErrNotFound) {
		return Removed{}, w.removeFiles()
	}
	if err != nil {
		return Removed{}, err
	}
	if !r.Done {
		return Removed{}, w.unmake(ctx, r)
	}
	return w.drop(ctx, r, force)
}

// drop deletes a workspace that was complete. It commits uncommitted changes first.
func (w *Workspace) drop(ctx context.Context, r *record, force bool) (gone Removed, err error) {
	if r.Kind == Worktree && !force && !r.Deleting {
		if gone.Dropped, gone.Modules, err = w.keepWork(ctx, r); err != nil {
			return gone, fmt.Errorf("keep what is not committed (deleting by force gives it up): %w", err)
		}
	}
	if r.Kind == Copy && !force && !r.Deleting {
		if d, err := w.diff(ctx, r, DiffOptions{}); err == nil { // else what is lost is unknown
			for _, f := range d.Files {
				gone.Dropped = append(gone.Dropped, f.Path)
			}
		}
	}
	gone.Dropped = gone.Dropped[:min(len(gone.Dropped), filetree.MaxListed)]
	r.Deleting = true
	if err := w.save(r); err != nil && !errors.Is(err, filetree.ErrFull) { // deleting frees space
		return gone, err
	}
	gone.Branch, err = w.release(ctx, r, force, false)
	return gone, err
}
