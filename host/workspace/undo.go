package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// Undo gives files what they were where the worktree began, once all files are kept in a
// commit. Branch and index stay, so what the agent has committed is undone, too.
func (c *Changes) Undo(ctx context.Context, files []git.FileDiff) (u git.Undone, err error) {
	u.Files = files
	err = c.swap(ctx, files, false, func(s *snapshot) error {
		if u.Commit, err = s.git.Commit(ctx, s.tree, "What was undone", s.tip); err != nil {
			return err
		}
		_, err = s.git.Run(ctx, "update-ref", "-m", "tandemux: undo", u.Ref(), u.Commit)
		return err
	})
	return u, err
}

// Redo brings back what was undone.
func (c *Changes) Redo(ctx context.Context, u git.Undone) error {
	return c.swap(ctx, u.Files, true, func(*snapshot) error { return nil })
}

// side is what a path has, and is to have.
type side struct{ is, becomes git.Entry }

// sides are those of differences, from new to old, or from old to new.
func sides(files []git.FileDiff, forth bool) (all map[string]side, err error) {
	all = map[string]side{}
	add := func(path string, was, now git.Entry) {
		if was.Mode == git.ModeModule || now.Mode == git.ModeModule {
			err = filetree.Failf(filetree.ErrUnsupported, "%q is a repository of its own: undo it there", filetree.Clip(path))
		}
		if forth {
			was, now = now, was
		}
		all[path] = side{is: now, becomes: was}
	}
	for _, f := range files {
		if f.From != "" {
			add(f.From, f.Old, git.Entry{})
			f.Old = git.Entry{}
		}
		add(f.Path, f.Old, f.New)
	}
	return all, err
}

// swap gives files the other side of their differences, if they have this one. Between,
// it lets something be done with a snapshot of them.
func (c *Changes) swap(ctx context.Context, files []git.FileDiff, forth bool, keep func(*snapshot) error) error {
	all, err := sides(files, forth)
	if err != nil {
		return err
	}
	r, unlock, err := c.w.begin()
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.w.takeCommits(ctx, r); err != nil {
		return err
	}
	top, err := r.open()
	if err != nil {
		return err
	}
	defer top.Close()
	changes, err := standing(top, all) // before they are kept: what is written later is not overwritten
	if err != nil {
		return err
	}
	s, err := c.w.snapshot(ctx, r, true)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.has(ctx, all); err != nil {
		return err
	}
	if err := keep(s); err != nil {
		return err
	}
	out, err := s.checkOut(ctx, all)
	if err != nil {
		return err
	}
	defer out.Close()
	for i := range changes {
		if p := changes[i].Path; all[p].becomes.ID != "" {
			if changes[i].To, err = filetree.Standing(out, p); err != nil || changes[i].To == nil {
				return errors.Join(err, fmt.Errorf("git did not write %q", filetree.Clip(p)))
			}
		}
	}
	a := &filetree.Applier{Ctx: ctx, Top: top, Stage: filepath.Join(s.dir, "stage"), From: filetree.Source{Top: out}, Careful: true}
	if err := a.Apply(changes); err != nil {
		return err
	}
	if len(a.Missed) > 0 {
		return filetree.Failf(filetree.ErrConflict, "files were changed meanwhile: %d were left as they are", len(a.Missed))
	}
	return nil
}

// standing is what is at paths now; an error where something is that git does not know.
// With what goes go the directories that it leaves empty.
func standing(top *filetree.Folder, all map[string]side) (changes []filetree.Change, err error) {
	seen := map[string]bool{}
	for p, f := range all {
		if err := filetree.CheckPath(p); err != nil {
			return nil, err
		}
		there, err := filetree.Standing(top, p)
		switch {
		case err != nil:
			return nil, err
		case (there != nil) != (f.is.ID != "") || there != nil && there.Mode.IsDir():
			return nil, filetree.Failf(filetree.ErrConflict, "%q is not what it was, or git ignores what is there: nothing was changed", filetree.Clip(p))
		}
		changes = append(changes, filetree.Change{Path: p, Was: there})
		for dir, _ := filetree.Parent(p); dir != "" && !seen[dir]; dir, _ = filetree.Parent(dir) {
			seen[dir] = true
			above, err := filetree.Standing(top, dir)
			if err != nil {
				return nil, err
			}
			if _, listed := all[dir]; above != nil && !above.Mode.IsDir() && !listed {
				return nil, filetree.Failf(filetree.ErrConflict, "%q is in the way of %q: undo that first", filetree.Clip(dir), filetree.Clip(p))
			} else if above != nil && above.Mode.IsDir() && !listed {
				changes = append(changes, filetree.Change{Path: dir, Was: above})
			}
		}
	}
	slices.SortFunc(changes, func(a, b filetree.Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// has refuses what differs from what paths should be.
func (s *snapshot) has(ctx context.Context, all map[string]side) error {
	list, err := s.git.Run(ctx, "ls-tree", "-r", "-z", s.tree) // MODE TYPE ID\tPATH
	if err != nil {
		return err
	}
	now := map[string]git.Entry{}
	for _, line := range git.Words(list) {
		head, path, _ := strings.Cut(line, "\t")
		if f := strings.Fields(head); len(f) == 3 {
			now[path] = git.Entry{Mode: f[0], ID: f[2]}
		}
	}
	for p, f := range all {
		if now[p] != f.is {
			return filetree.Failf(filetree.ErrConflict, "%q has changed since: nothing was changed", filetree.Clip(p))
		}
	}
	return nil
}

// checkOut has git write what paths are to be into a directory of ours.
func (s *snapshot) checkOut(ctx context.Context, all map[string]side) (*filetree.Folder, error) {
	dir := filepath.Join(s.dir, "out")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, filetree.Full(err)
	}
	var gone, info, written strings.Builder
	for p, f := range all {
		if f.becomes.ID == "" {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", strings.Repeat("0", len(f.is.ID)), p)
			continue
		}
		fmt.Fprintf(&info, "%s %s\t%s\x00", f.becomes.Mode, f.becomes.ID, p)
		fmt.Fprintf(&written, "%s\x00", p)
	}
	g := s.git.With("GIT_WORK_TREE=" + dir)
	g.Dir = dir
	if _, err := g.From(strings.NewReader(gone.String()+info.String())).Run(ctx, "update-index", "-z", "--index-info"); err != nil {
		return nil, err
	}
	if _, err := g.From(strings.NewReader(written.String())).Run(ctx, "checkout-index", "-z", "--stdin"); err != nil {
		return nil, err
	}
	return filetree.OpenFolder(dir)
}
