package workspace

import (
	"context"
	"io"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// FileDiff is one changed file.
type FileDiff = git.FileDiff

// Diff is what changed in a workspace since it was made, or last merged.
type Diff struct {
	Base    string     `json:"base"` // commit or manifest version
	Files   []FileDiff `json:"files"`
	Added   int        `json:"added"` // lines, of all files
	Deleted int        `json:"deleted"`
	// Left are paths that can't come home: repositories in it, sockets, FIFOs, what
	// can't be read; at most 1000.
	Left []string `json:"left"`
}

// DiffOptions say what is wanted.
type DiffOptions struct {
	// Text gets the unified diff; nil: only Diff is wanted.
	Text io.Writer
	// Paths restrict it to files and directories; empty: all.
	Paths []string
}

// Diff says what changed, committed or not. Files that .gitignore names are left out
// of a worktree's.
func (w *Workspace) Diff(ctx context.Context, o DiffOptions) (Diff, error) {
	for _, p := range o.Paths {
		if err := filetree.CheckPath(p); err != nil {
			return Diff{}, err
		}
	}
	r, unlock, err := w.begin()
	if err != nil {
		return Diff{}, err
	}
	defer unlock()
	return w.diff(ctx, r, o)
}

func (w *Workspace) diff(ctx context.Context, r *record, o DiffOptions) (Diff, error) {
	switch r.Kind {
	case Worktree:
		return w.diffWorktree(ctx, r, o)
	case Copy, Filesystem:
		c, err := w.against(ctx, r)
		if err != nil {
			return Diff{}, err
		}
		defer c.close()
		return c.diff(ctx, o)
	}
	return Diff{}, filetree.Failf(filetree.ErrUnsupported, "a workspace of kind %s has nothing that it could be compared with", r.Kind)
}

// sum adds the files' lines up.
func (d *Diff) sum() {
	d.Files = append([]FileDiff{}, d.Files...)
	d.Left = append([]string{}, d.Left[:min(len(d.Left), filetree.MaxListed)]...)
	for _, f := range d.Files {
		d.Added += f.Added
		d.Deleted += f.Deleted
	}
}
