package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/merge"
)

// carry brings files, branch and indexes to the state that an update leads to. If the host dies
// meanwhile it can be repeated.
func (w *Workspace) carry(ctx context.Context, r *record, u *updating) error {
	missed, err := w.shift(ctx, r, u.From, u.To, func() error {
		r.Update = u
		return w.save(r)
	})
	if err != nil && (r.Update == nil || !errors.Is(err, filetree.ErrConflict)) {
		return fmt.Errorf("bring the task's files up to date: %w", err)
	}
	if err != nil || len(missed) > 0 { // a program writes to the files: undo what was written
		if r.Update != nil {
			if _, err := w.shift(ctx, r, u.To, u.From, nil); err != nil && !errors.Is(err, filetree.ErrConflict) {
				return err
			}
			r.Update = nil
			if err := w.save(r); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		return filetree.Failf(filetree.ErrConflict, "%q is in the way of what would come: git ignores it, or it was written just now; nothing was changed", filetree.Clip(missed[0]))
	}
	if len(u.Unmerged) > 0 {
		return leave(ctx, w, r, u)
	}
	g := w.store.git(r.Common).With("GIT_DIR=" + r.Common)
	if tip, err := g.Line(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+r.Branch); err != nil || tip != u.To {
		if err := g.MoveRef(ctx, "tandemux: bring "+git.ShortRef(u.Ref)+" in", "refs/heads/"+r.Branch, u.To, u.From); err != nil {
			return merge.MovedMeanwhile(err, r.Branch)
		}
	}
	if err := w.settle(ctx, r, u.To); err != nil {
		return err
	}
	return updated(ctx, w, r, u)
}

func updated(ctx context.Context, w *Workspace, r *record, u *updating) error {
	showBase(ctx, w, r, u)
	r.Base, r.Update = u.Base, nil
	return w.save(r)
}

// showBase gives the git in the sandbox a reference to the base, unless the agent has its own branch
// of that name.
func showBase(ctx context.Context, w *Workspace, r *record, u *updating) {
	d, err := filetree.OpenFolder(w.path(gitName))
	if err != nil || !strings.HasPrefix(u.Ref, "refs/") {
		return
	}
	defer d.Close()
	if was, err := privateRef(d, u.Ref); err == nil {
		if _, err := w.sourceGit(r).Run(ctx, "merge-base", "--is-ancestor", was, u.Base); err != nil {
			return
		}
	}
	if head, err := readSmall(d, "HEAD", 1<<10); err != nil || strings.TrimSpace(string(head)) == "ref: "+u.Ref {
		return
	}
	_ = put(d, u.Ref, []byte(u.Base+"\n")) // only a convenience
}

// shift changes files from what the tree from has to what the tree to has, and calls begin before it
// changes the first one. If a file has neither state it is missed, and no file is changed; if begin is
// nil, all others are. A file that a program writes meanwhile is missed, too.
func (w *Workspace) shift(ctx context.Context, r *record, from, to string, begin func() error) (missed []string, err error) {
	top, err := r.open()
	if err != nil {
		return nil, err
	}
	defer top.Close()
	s, err := w.snapshot(ctx, r, true)
	if err != nil {
		return nil, err
	}
	defer s.close()
	files, err := s.git.Diff(ctx, from, to, nil)
	if err != nil {
		return nil, err
	}
	var modules []string
	files = slices.DeleteFunc(files, func(f FileDiff) bool {
		old, now := f.Old.Mode == git.ModeModule, f.New.Mode == git.ModeModule
		if now && f.Old.ID == "" {
			modules = append(modules, f.Path) // becomes an empty directory; its contents are not fetched
		}
		return old && (now || f.New.ID == "") || now && f.Old.ID == ""
	})
	all, err := git.SidesOf(files, true)
	if err != nil {
		return nil, err
	}
	also := filepath.Join(s.dir, "also") // files that git ignores may be in the way
	if err := os.Mkdir(also, 0o700); err != nil {
		return nil, err
	}
	if err := s.include(ctx, top, also, all.Paths()); err != nil {
		return nil, err
	}
	if missed, err = all.Pending(ctx, s.git, s.tree); err != nil || len(missed) > 0 && begin != nil {
		return missed, err
	}
	changes, err := all.Standing(top)
	if err != nil {
		return nil, err
	}
	if begin != nil {
		if err := begin(); err != nil {
			return nil, err
		}
	}
	for _, p := range modules {
		if d, err := top.Grow(p); err == nil {
			d.Close()
		}
	}
	return w.write(ctx, s, top, all, changes)
}

// write has git write the new files into a directory of this package, and moves them to their places.
func (w *Workspace) write(ctx context.Context, s *snapshot, top *filetree.Folder, all git.Sides, changes []filetree.Change) (missed []string, err error) {
	at := filepath.Join(s.dir, "out")
	out, err := filetree.NewFolder(at)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	g := s.git.With("GIT_WORK_TREE=" + at)
	g.Dir = at
	if err := all.CheckOut(ctx, g, s.tree); err != nil {
		return nil, err
	}
	for i := range changes {
		if p := changes[i].Path; all.Written(p) {
			if changes[i].To, err = filetree.Standing(out, p); err != nil || changes[i].To == nil {
				return nil, errors.Join(err, fmt.Errorf("git did not write %q", filetree.Clip(p)))
			}
		}
	}
	a := &filetree.Applier{Ctx: ctx, Top: top, Stage: filepath.Join(s.dir, "stage"), From: filetree.Source{Top: out}, Careful: true}
	err = a.Apply(changes)
	return slices.Sorted(maps.Keys(a.Missed)), err
}
