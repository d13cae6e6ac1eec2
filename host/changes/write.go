package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/git"
	"tandemux/host/params"
)

// underWay are the files in a git directory that say that git is in the midst of something.
var underWay = []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_START", "rebase-merge", "rebase-apply", "sequencer"}

// change has do work on a guest whose index becomes the repository's, which nobody else
// changes meanwhile.
func (r *repository) change(ctx context.Context, do func(g *guest) error) error {
	for _, name := range underWay {
		if _, err := os.Lstat(filepath.Join(r.admin, name)); err == nil {
			return fmt.Errorf("git is in the midst of a merge, a rebase or the like in %s (%s): finish or abort it, and try again", r.top, name)
		}
	}
	index := filepath.Join(r.admin, "index")
	lock, err := os.OpenFile(index+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("git is at work in %s (its index is locked): try again when it is done", r.top)
	}
	if err != nil {
		return err
	}
	done := false
	defer func() {
		_ = lock.Close()
		if !done {
			_ = os.Remove(lock.Name())
		}
	}()
	g, err := r.visit(ctx, true)
	if err != nil {
		return err
	}
	defer g.close()
	if err := do(g); err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(g.dir, "index"))
	if err != nil {
		return err
	}
	if _, err := lock.Write(b); err != nil {
		return err
	}
	if err := os.Rename(lock.Name(), index); err != nil {
		return err
	}
	done = true
	return nil
}

func firstLine(s string) string { line, _, _ := strings.Cut(s, "\n"); return params.ClipTo(line, 200) }

// Commit implements Tree: all that differs from HEAD.
func (r *repository) Commit(ctx context.Context, message string) (commit string, err error) {
	err = r.change(ctx, func(g *guest) error {
		paths, large, err := g.touched(ctx, false)
		if err != nil {
			return err
		}
		if len(large) > 0 {
			return fmt.Errorf("%q can't be read: nothing was committed", large[0])
		}
		if err := g.stage(ctx, paths); err != nil {
			return err
		}
		tree, err := g.git.Line(ctx, "write-tree")
		if err != nil {
			return err
		}
		head, err := r.head(ctx)
		if err != nil {
			return err
		}
		var parents []string
		if head != "" {
			parents = []string{head}
		}
		if commit, err = r.own().Commit(ctx, tree, message, parents...); err != nil {
			return err
		}
		if head == "" {
			head = r.zero()
		}
		_, err = r.own().Run(ctx, "update-ref", "-m", "commit: "+firstLine(message), "HEAD", commit, head)
		return err
	})
	return commit, err
}

// zero stands for no object.
func (r *repository) zero() string {
	if r.format == "sha256" {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}

// Undo gives files the contents that HEAD has, in the index as well, once those that they
// have are kept.
func (r *repository) Undo(ctx context.Context, files []git.FileDiff) (u git.Undone, err error) {
	err = r.change(ctx, func(g *guest) error {
		stamps, err := r.removable(files)
		if err != nil {
			return err
		}
		if u, err = g.keep(ctx, files); err != nil {
			return err
		}
		if now, err := r.removable(files); err != nil || !slices.Equal(now, stamps) {
			return errors.Join(err, errors.New("files were changed meanwhile: nothing was undone"))
		}
		var back []placed
		for _, f := range files {
			if f.From != "" {
				back = append(back, placed{f.From, f.Old}, placed{f.Path, git.Entry{}})
			} else {
				back = append(back, placed{f.Path, f.Old})
			}
		}
		return g.put(ctx, back)
	})
	return u, err
}

// Redo gives files what they had before they were undone. The index stays.
func (r *repository) Redo(ctx context.Context, u git.Undone) error {
	return r.change(ctx, func(g *guest) error {
		var again []placed
		var paths []string
		for _, f := range u.Files {
			paths = append(paths, f.Path)
		}
		tree, err := g.tree(ctx, u.Commit)
		if err != nil {
			return err
		}
		had, err := g.entries(ctx, tree, paths)
		if err != nil {
			return err
		}
		for _, f := range u.Files {
			if _, err := os.Lstat(filepath.Join(r.top, f.Path)); err == nil && f.Old.ID == "" {
				return fmt.Errorf("%q is there again: nothing was redone; git has it as %s", f.Path, u.Ref())
			}
			if f.From != "" {
				again = append(again, placed{f.From, git.Entry{}})
			}
			again = append(again, placed{f.Path, had[f.Path]})
		}
		// What has been written since is not overwritten.
		files, err := r.Diff(ctx)
		if err != nil {
			return err
		}
		for _, f := range files {
			if slices.ContainsFunc(again, func(p placed) bool { return p.path == f.Path || p.path == f.From }) {
				return fmt.Errorf("%q has changed since: nothing was redone; git has it as %s", f.Path, u.Ref())
			}
		}
		index, err := os.ReadFile(filepath.Join(g.dir, "index"))
		if err != nil {
			return err
		}
		if err := g.put(ctx, again); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(g.dir, "index"), index, 0o600)
	})
}

// keep stores what files are, staged and not, under a reference.
func (g *guest) keep(ctx context.Context, files []git.FileDiff) (git.Undone, error) {
	head, err := g.head(ctx)
	if err != nil {
		return git.Undone{}, err
	}
	staged, err := g.git.Line(ctx, "write-tree")
	if err != nil {
		return git.Undone{}, err
	}
	own := g.own()
	var parents []string
	if head != "" {
		parents = []string{head}
	}
	index, err := own.Commit(ctx, staged, "What was staged before an undo", parents...)
	if err != nil {
		return git.Undone{}, err
	}
	var paths []string
	for _, f := range files {
		if paths = append(paths, f.Path); f.From != "" {
			paths = append(paths, f.From)
		}
	}
	if err := g.stage(ctx, paths); err != nil {
		return git.Undone{}, err
	}
	tree, err := g.git.Line(ctx, "write-tree")
	if err != nil {
		return git.Undone{}, err
	}
	u := git.Undone{Files: files}
	if u.Commit, err = own.Commit(ctx, tree, "What was undone", append(parents, index)...); err != nil {
		return git.Undone{}, err
	}
	_, err = own.Run(ctx, "update-ref", "-m", "tandemux: undo", u.Ref(), u.Commit)
	return u, err
}

// removable gives the stamps of files, in so far as nothing is lost when they are replaced
// by what git has.
func (r *repository) removable(files []git.FileDiff) (stamps []string, err error) {
	top, err := os.OpenRoot(r.top)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	for _, f := range files {
		if f.Old.Mode == git.ModeModule || f.New.Mode == git.ModeModule {
			return nil, fmt.Errorf("%q is a repository of its own: undo it there", f.Path)
		}
		gone := []string{f.From}
		if f.Status == "deleted" {
			gone = append(gone, f.Path)
		}
		for _, p := range gone {
			if p == "" {
				continue
			}
			if _, err := top.Lstat(p); err == nil {
				return nil, fmt.Errorf("%q is there, though git ignores it: move it away to have the file back", p)
			}
			for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
				if st, err := top.Lstat(dir); err == nil && !st.IsDir() {
					return nil, fmt.Errorf("%q is in the way of %q: undo that first", dir, p)
				}
			}
		}
		st, err := top.Lstat(f.Path)
		switch {
		case f.Status == "deleted":
		case err != nil || st.IsDir():
			return nil, fmt.Errorf("%q is not the file any more that it was: look again", f.Path)
		default:
			stamps = append(stamps, fmt.Sprint(st.ModTime().UnixNano(), st.Size(), st.Mode()))
		}
	}
	return stamps, nil
}

// placed is what is to be at a path; nothing if it has no ID.
type placed struct {
	path string
	git.Entry
}

// put gives paths of the work tree, and of the guest's index, other contents.
func (g *guest) put(ctx context.Context, all []placed) error {
	top, err := os.OpenRoot(g.top)
	if err != nil {
		return err
	}
	defer top.Close()
	var info, written strings.Builder
	for _, p := range all {
		if p.ID != "" {
			fmt.Fprintf(&info, "%s %s 0\t%s\x00", p.Mode, p.ID, p.path)
			fmt.Fprintf(&written, "%s\x00", p.path)
			continue
		}
		fmt.Fprintf(&info, "0 %s 0\t%s\x00", g.zero(), p.path)
		if err := top.Remove(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := path.Dir(p.path); dir != "."; dir = path.Dir(dir) { // as git does
			if top.Remove(dir) != nil {
				break
			}
		}
	}
	if _, err := g.git.From(strings.NewReader(info.String())).Run(ctx, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	_, err = g.git.From(strings.NewReader(written.String())).Run(ctx, "checkout-index", "-f", "-u", "-z", "--stdin")
	return err
}
