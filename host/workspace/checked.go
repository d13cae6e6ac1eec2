package workspace

import (
	"context"
	"errors"

	"tandemux/host/workspace/filetree"
)

// checkFor is what must succeed first; nil for nothing.
func (w *Workspace) checkFor(o MergeOptions) func(context.Context) error {
	if w.store.options.Check == nil || o.NoCheck || o.DryRun {
		return nil
	}
	return w.store.options.Check(w)
}

// maxChecks bounds how often a check is run because home has gone on meanwhile.
const maxChecks = 3

// mergeChecked merges what a check has passed: what is new at home is brought into the task
// before, so that the files that are checked are those that come home. The check may take
// long: the workspace is locked before, to say what is to come home, and after.
func mergeChecked(ctx context.Context, w *Workspace, o MergeOptions, check func(context.Context) error) (Merged, error) {
	for range maxChecks {
		first, then := o, o
		first.prepare = true
		m, err := w.merge(ctx, first)
		if err == nil && (m.Behind > 0 || w.info.Kind == Copy) && !m.Nothing {
			if err = catchUp(ctx, w, m.Into, o); err == nil {
				m, err = w.merge(ctx, first)
			}
		}
		if err != nil || m.Nothing {
			return m, err
		}
		if err := check(ctx); err != nil {
			return Merged{}, err
		}
		then.work = m.work
		if m, err = w.merge(ctx, then); !errors.Is(err, errMovedOn) {
			return m, err
		}
	}
	return Merged{}, filetree.Failf(filetree.ErrConflict, "%w, each of %d times: merge again, or without the check", errMovedOn, maxChecks)
}

// errMovedOn is the error of a merge of what was checked without what is new at home.
var errMovedOn = errors.New("the branch to merge into has moved on while the check ran")

// catchUp brings what is new in a branch into a task's, whose work is committed before.
func catchUp(ctx context.Context, w *Workspace, branch string, o MergeOptions) error {
	if w.info.Kind == Copy {
		_, err := w.Update(ctx, UpdateOptions{Ready: o.Ready})
		return err
	}
	if _, err := (&Changes{w}).Commit(ctx, ""); err != nil {
		return err
	}
	_, err := w.Update(ctx, UpdateOptions{From: "refs/heads/" + branch, Ready: o.Ready})
	return err
}
