package workspace

import (
	"cmp"
	"context"

	"tandemux/host/workspace/filetree"
)

// Committed is where a task's work is.
type Committed struct {
	Source  string `json:"source" doc:"The repository, on the host's machine"`
	Branch  string `json:"branch" doc:"The task's"`
	Commit  string `json:"commit" doc:"What it is at"`
	Commits int    `json:"commits" doc:"How many of them are not in the branch that the worktree was made from"`
	Check   string `json:"check,omitempty" doc:"The command that has passed before"`
}

// Commit commits what a worktree's task has not committed on its branch, after what must
// succeed before (Options.Check).
func (w *Workspace) Commit(ctx context.Context, o MergeOptions) (Committed, error) {
	if check := w.checkFor(o); check != nil {
		o.prepare = true
		c, err := w.commitAll(ctx, o)
		if err != nil || c.Commits == 0 {
			return c, err
		}
		if err := check(ctx); err != nil {
			return Committed{}, err
		}
		o.prepare, o.work = false, c.Commit
	}
	return w.commitAll(ctx, o)
}

func (w *Workspace) commitAll(ctx context.Context, o MergeOptions) (Committed, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return Committed{}, err
	}
	defer unlock()
	if r.Kind != Worktree {
		return Committed{}, filetree.Failf(filetree.ErrUnsupported, "a workspace of kind %s has no branch", r.Kind)
	}
	if err := o.ready(); err != nil {
		return Committed{}, err
	}
	if err := w.takeCommits(ctx, r); err != nil {
		return Committed{}, err
	}
	s, err := w.snapshot(ctx, r, true)
	if err != nil {
		return Committed{}, err
	}
	defer s.close()
	c := Committed{Source: r.Source, Branch: r.Branch}
	if c.Commit, err = w.workOf(ctx, r, s, o); err != nil {
		return c, err
	}
	base := r.Base
	if _, at, err := w.upstream(ctx, r, ""); err == nil {
		base = at
	}
	if c.Commits, err = w.sourceGit(r).Count(ctx, base+".."+c.Commit); err != nil || o.prepare {
		return c, err
	}
	return c, w.adopt(ctx, r, s.tip, c.Commit)
}

// about is what the work since the last merge is about: the first line of a message, and
// what follows it.
func (w *Workspace) about(ctx context.Context, r *record) (subject, body string) {
	if w.store.options.About != nil {
		subject, body = w.store.options.About(ctx, r.ID, r.Merged)
	}
	return cmp.Or(subject, "Work of task "+r.name()), body
}
