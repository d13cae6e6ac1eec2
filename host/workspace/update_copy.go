package workspace

import (
	"context"

	"tandemux/host/workspace/filetree"
)

// updateCopy brings what is new in the directory that a copy was made of into the copy, by whole
// files. Where both sides changed one nothing is changed (Conflicts). A death in the midst
// leaves files that are home's: the next update, and a merge, find them the same on both sides.
func updateCopy(ctx context.Context, w *Workspace, r *record, o UpdateOptions) (Updated, error) {
	out := Updated{From: r.Source, Conflicts: []string{}}
	if o.From != "" || o.Rebase || o.Leave || o.Abort {
		return out, filetree.Failf(filetree.ErrUnsupported, "task %s works on a copy, which has no branches and no conflicts to leave: its update takes nothing but running", r.name())
	}
	c, err := w.against(ctx, r)
	if err != nil {
		return out, err
	}
	defer c.close()
	home, err := filetree.OpenFolder(r.Source)
	if err != nil {
		return out, filetree.Missing(err, "the directory %s that the copy was made of", r.Source)
	}
	defer home.Close()
	there, err := w.contents(ctx, home, nil)
	if err != nil {
		return out, err
	}
	both := &Conflicts{Into: "the directory " + r.Source}
	var changes, all []filetree.Change // all: those that the task made, too
	filetree.WalkThree(c.base.Entries, c.local.Files, there.Files, func(path string, was, now, next *filetree.Entry) {
		change := filetree.Change{Path: path, To: next, Was: now}
		switch {
		case filetree.IsGit(path) || filetree.Equal(was, next) || next == nil && there.Hidden(path):
			return
		case filetree.Equal(now, next):
		case !filetree.Equal(was, now):
			both.Paths = append(both.Paths, path)
			return
		default:
			changes = append(changes, change)
		}
		all = append(all, change)
	})
	if len(both.Paths) > 0 {
		both.Paths = both.Paths[:min(len(both.Paths), filetree.MaxListed)]
		return out, both
	}
	a := &filetree.Applier{Ctx: ctx, Top: c.top, Stage: w.path(stageName), From: filetree.Source{Top: home}, Careful: true}
	if err := a.Apply(changes); err != nil {
		return out, err
	}
	out.Files = len(changes) - len(a.Missed)
	if err := w.merged(ctx, r, home, all, a.Missed); err != nil {
		return out, err
	}
	if len(a.Missed) > 0 {
		return out, filetree.Failf(filetree.ErrConflict, "%d files of task %s, or of %s, were changed while the update was under way, and left as they are: update again", len(a.Missed), r.name(), r.Source)
	}
	return out, nil
}
