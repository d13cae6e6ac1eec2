package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// merging reports whether conflicts of an update still wait for a commit. It notes what the agent has
// committed or given up.
func (w *Workspace) merging(ctx context.Context, r *record, tip string) (bool, error) {
	u := r.Update
	if u == nil {
		return false, nil
	}
	if _, err := w.sourceGit(r).Run(ctx, "merge-base", "--is-ancestor", u.Base, tip); err == nil {
		return false, updated(ctx, w, r, u)
	}
	d, err := w.gitFolder(r)
	if err != nil {
		return false, err
	}
	defer d.Close()
	head, err := readSmall(d, "MERGE_HEAD", 1<<10)
	if err != nil {
		return false, err
	}
	if strings.TrimSpace(string(head)) == u.Base {
		return true, nil
	}
	r.Update = nil
	return false, w.save(r)
}

// gitFolder opens the git directory that the agent's git uses: in a sandbox the task's, else the
// worktree's.
func (w *Workspace) gitFolder(r *record) (*filetree.Folder, error) {
	if _, err := os.Lstat(w.path(gitFileName)); err == nil {
		return filetree.OpenFolder(w.path(gitName))
	}
	return filetree.OpenFolder(r.Admin)
}

// Files of git's that exist while a merge or the like is in progress.
var (
	mergeFiles = []string{"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE"}
	busyFiles  = []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"}
)

// atRest returns an error if the agent is in a merge or rebase, under which the branch must not move.
func atRest(w *Workspace, r *record) error {
	d, err := w.gitFolder(r)
	if err != nil {
		return err
	}
	defer d.Close()
	for _, name := range busyFiles {
		if e, err := filetree.Standing(d, name); err != nil || e != nil {
			return filetree.Failf(filetree.ErrConflict, "the task is in the midst of a merge, a rebase or the like (%s): have it finish or abort that first", name)
		}
	}
	return nil
}

// leave leaves the conflicts of an update to be resolved: as after git merge, the index has both
// sides, and the next commit is the merge.
func leave(ctx context.Context, w *Workspace, r *record, u *updating) error {
	var info strings.Builder
	for _, p := range git.PathsOf(u.Unmerged) {
		fmt.Fprintf(&info, "0 %s\t%s\x00", u.Base, p)
	}
	for _, e := range u.Unmerged {
		fmt.Fprintf(&info, "%s %s %d\t%s\x00", e.Entry.Mode, e.Entry.ID, e.Stage, e.Path)
	}
	err := w.reindex(ctx, r, u.To, func(g git.Git) error {
		_, err := g.From(strings.NewReader(info.String())).Run(ctx, "update-index", "-z", "--index-info")
		_, _ = g.Run(ctx, "update-index", "-q", "--unmerged", "--refresh") // else `git merge --abort` takes files for changed
		return err
	})
	if err != nil {
		return err
	}
	if _, err := os.Lstat(w.path(gitFileName)); err == nil {
		if err := w.writePrivate(r, u.From); err != nil {
			return err
		}
		r.Taken = u.From
	}
	d, err := w.gitFolder(r)
	if err != nil {
		return err
	}
	defer d.Close()
	err = errors.Join(put(d, "MERGE_MSG", []byte("Merge "+git.ShortRef(u.Ref)+" into "+r.Branch+"\n")), put(d, "MERGE_MODE", nil), put(d, "MERGE_HEAD", []byte(u.Base+"\n")))
	if err != nil {
		return err
	}
	showBase(ctx, w, r, u)
	u.Left = true
	return w.save(r)
}

// unresolved returns the conflicts that a snapshot still has: files with git's markers, or as the
// update left them.
func (u *updating) unresolved(ctx context.Context, s *snapshot) ([]string, error) {
	paths := git.PathsOf(u.Unmerged)
	was, err := s.git.Entries(ctx, u.To, paths)
	if err != nil {
		return nil, err
	}
	now, err := s.git.Entries(ctx, s.tree, paths)
	if err != nil {
		return nil, err
	}
	var left []string
	for _, p := range paths {
		same := was[p] == now[p]
		if !same && now[p].ID != "" {
			text, err := s.git.Blob(ctx, now[p].ID, maxText)
			same = err == nil && strings.Contains("\n"+string(text), "\n<<<<<<< ") && strings.Contains("\n"+string(text), "\n>>>>>>> ")
		}
		if same {
			left = append(left, p)
		}
	}
	return left, nil
}

// concluded removes the files of a merge in progress.
func concluded(w *Workspace, r *record) error {
	d, err := w.gitFolder(r)
	if err != nil {
		return err
	}
	defer d.Close()
	changes := make([]filetree.Change, 0, len(mergeFiles))
	for _, name := range mergeFiles {
		if e, err := filetree.Standing(d, name); err == nil && e != nil && !e.Mode.IsDir() {
			changes = append(changes, filetree.Change{Path: name, Was: e})
		}
	}
	a := &filetree.Applier{Ctx: context.Background(), Top: d, Stage: w.path(stageName)}
	return a.Apply(changes)
}

// abort restores files and indexes as before the update, after it has put the current files into a
// commit.
func abort(ctx context.Context, w *Workspace, r *record, s *snapshot) (Updated, error) {
	u := r.Update
	out := Updated{From: git.ShortRef(u.Ref), Commit: s.tip, Conflicts: []string{}}
	var err error
	if out.Kept, err = s.git.Commit(ctx, s.tree, "What was given up", s.tip); err != nil {
		return out, err
	}
	if _, err := s.git.Run(ctx, "update-ref", "-m", "tandemux: give an update up", git.Undone(out.Kept).Ref(), out.Kept); err != nil {
		return out, err
	}
	if _, err := w.shift(ctx, r, out.Kept, s.tip, func() error { return nil }); err != nil {
		return out, err
	}
	if err := errors.Join(concluded(w, r), w.settle(ctx, r, s.tip)); err != nil {
		return out, err
	}
	r.Update = nil
	return out, w.save(r)
}
