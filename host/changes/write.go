package changes

import (
	"cmp"
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
	"tandemux/host/workspace/filetree"
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
	st, err := os.Stat(filepath.Join(g.dir, "index"))
	if err != nil {
		return err
	}
	if _, err := lock.Write(b); err != nil {
		return err
	}
	// By its time git knows which files may have changed since they were looked at: within
	// a second they look the same.
	if err := os.Chtimes(lock.Name(), st.ModTime(), st.ModTime()); err != nil {
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
		tree, err := g.line(ctx, "write-tree")
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
		head = cmp.Or(head, r.zero())
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
		all, err := git.SidesOf(files, false)
		if err != nil {
			return err
		}
		top, err := filetree.OpenFolder(r.top)
		if err != nil {
			return err
		}
		defer top.Close()
		was, err := all.Standing(top)
		if err != nil {
			return err
		}
		if u, err = g.keep(ctx, files); err != nil {
			return err
		}
		now, err := all.Standing(top)
		if err != nil || !slices.EqualFunc(was, now, unchanged) {
			return errors.Join(err, errors.New("files were changed meanwhile: nothing was undone"))
		}
		return g.put(ctx, all, string(u))
	})
	return u, err
}

// unchanged reports whether the same is at a path.
func unchanged(a, b filetree.Change) bool {
	return a.Path == b.Path && (a.Was == b.Was || a.Was != nil && b.Was != nil && (*a.Was == *b.Was || a.Was.Mode.IsDir() && b.Was.Mode.IsDir()))
}

// keep stores what files are, staged and not, under a reference.
func (g *guest) keep(ctx context.Context, files []git.FileDiff) (git.Undone, error) {
	head, err := g.head(ctx)
	if err != nil {
		return "", err
	}
	staged, err := g.line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	own := g.own()
	var parents []string
	if head != "" {
		parents = []string{head}
	}
	index, err := own.Commit(ctx, staged, "What was staged before an undo", parents...)
	if err != nil {
		return "", err
	}
	var paths []string
	for _, f := range files {
		if paths = append(paths, f.Path); f.From != "" {
			paths = append(paths, f.From)
		}
	}
	if err := g.stage(ctx, paths); err != nil {
		return "", err
	}
	tree, err := g.line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	commit, err := own.Commit(ctx, tree, "What was undone", append(parents, index)...)
	if err != nil {
		return "", err
	}
	u := git.Undone(commit)
	_, err = own.Run(ctx, "update-ref", "-m", "tandemux: undo", u.Ref(), commit)
	return u, err
}

// put gives paths of the work tree, and of the guest's index, what they are to have. id is
// of any object.
func (g *guest) put(ctx context.Context, all git.Sides, id string) error {
	top, err := os.OpenRoot(g.top)
	if err != nil {
		return err
	}
	defer top.Close()
	for p := range all {
		if all.Written(p) {
			continue
		}
		if err := top.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) { // as git does
			if top.Remove(dir) != nil {
				break
			}
		}
	}
	return all.CheckOut(ctx, g.git, id, "-f", "-u")
}
