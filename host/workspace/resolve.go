package workspace

import (
	"context"
	"fmt"

	"tandemux/host/workspace/filetree"
)

// ResolveOptions say whose change counts where both sides changed a file.
type ResolveOptions struct {
	// Keep is whose: PreferWorkspace or PreferSource.
	Keep Prefer
	// Paths are the files and directories that it is about; empty: all.
	Paths []string
	// Ready says why the files are not whole, once nothing else moves them; nil: they are.
	Ready func() error
}

// Conflict says which files a task and its filesystem have both changed, so that they did
// not arrive there; empty for none, and for a worktree.
func (i Info) Conflict(task string) string {
	if i.Filesystem == "" || len(i.Conflicts) == 0 {
		return ""
	}
	more := ""
	if n := len(i.Conflicts) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%q%s changed both here and in the filesystem, and stayed as they are on both sides: `tandemux ws resolve %s` names them, with --keep task or --keep filesystem it decides", filetree.Clip(i.Conflicts[0]), more, task)
}

// Resolve decides conflicts with a filesystem: one side's files are put in place of the
// other's. What else has changed is synchronised, too.
func (w *Workspace) Resolve(ctx context.Context, o ResolveOptions) (filetree.Synced, error) {
	for _, p := range o.Paths {
		if err := filetree.CheckPath(p); err != nil {
			return filetree.Synced{}, err
		}
	}
	r, unlock, err := w.begin()
	if err != nil {
		return filetree.Synced{}, err
	}
	defer unlock()
	switch {
	case r.Kind == Worktree:
		return filetree.Synced{}, filetree.Failf(filetree.ErrUnsupported, "conflicts of a worktree are resolved in its files: `tandemux ws update %s` has them, and its agent resolve them", r.name())
	case r.Filesystem == "":
		return filetree.Synced{}, filetree.Failf(filetree.ErrUnsupported, "a workspace of kind %s is synchronised with nothing", r.Kind)
	case o.Keep == PreferWorkspace && r.NoUpdate:
		return filetree.Synced{}, filetree.Failf(filetree.ErrUnsupported, "the filesystem %s may only be read by task %s", r.Filesystem, r.ID)
	}
	if o.Ready != nil {
		if err := o.Ready(); err != nil {
			return filetree.Synced{}, err
		}
	}
	if o.Keep == PreferWorkspace {
		return w.syncUp(ctx, r, o.Keep, o.Paths...)
	}
	return w.syncDown(ctx, r, o.Keep, o.Paths...)
}
