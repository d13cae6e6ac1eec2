package workspace

import (
	"context"

	"tandemux/host/git"
)

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
