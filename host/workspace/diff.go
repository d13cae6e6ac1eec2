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

// diffWorktree compares by git, tree with tree: git looks at no file that the agent
// could change meanwhile.
func (w *Workspace) diffWorktree(ctx context.Context, r *record, o DiffOptions) (Diff, error) {
	if err := w.takeCommits(ctx, r); err != nil {
		return Diff{}, err
	}
	s, err := w.snapshot(ctx, r, false)
	if err != nil {
		return Diff{}, err
	}
	defer s.close()
	base := w.mergedBase(ctx, r, s.git, s.tip)
	if merging, err := w.merging(ctx, r, s.tip); err != nil {
		return Diff{}, err
	} else if merging {
		base = r.Update.Base // what came from there is not the task's
	}
	files, err := s.git.Diff(ctx, base, s.tree, o.Text, o.Paths...)
	d := Diff{Base: base, Files: files, Left: s.left}
	d.sum()
	return d, err
}

// mergedBase is where the worktree began, or what of it the repository's HEAD has
// since.
func (w *Workspace) mergedBase(ctx context.Context, r *record, g git.Git, tip string) string {
	head, err := w.sourceGit(r).Line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return r.Base
	}
	base, err := g.Line(ctx, "merge-base", head, tip)
	if err != nil {
		return r.Base
	}
	if _, err := g.Run(ctx, "merge-base", "--is-ancestor", r.Base, base); err != nil {
		return r.Base
	}
	return base
}

// sourceGit runs where the user's own HEAD is: in the directory that the worktree was
// made from.
func (w *Workspace) sourceGit(r *record) git.Git {
	if r.Source == r.Common {
		return w.store.git(r.Common).With("GIT_DIR=" + r.Common)
	}
	return w.store.git(r.Source)
}
