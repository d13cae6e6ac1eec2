package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// takeAlong copies into a new worktree what of the directory that it was made from matches
// the configuration's globs and is ignored by git: dependencies, local settings. What the
// worktree has already stays. Nothing is linked: the agent may write to it.
func takeAlong(ctx context.Context, w *Workspace, r *record) error {
	if w.store.options.Carry == nil || r.Source == r.Common {
		return nil
	}
	globs := w.store.options.Carry(r.Source, resolved(r.Common))
	if len(globs) == 0 {
		return nil
	}
	paths, err := ignored(ctx, w.sourceGit(r), r.Source, globs)
	if err != nil {
		return fmt.Errorf("look for what is carried into the worktree: %w", err)
	}
	from, err := filetree.OpenFolder(r.Source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := filetree.OpenFolder(r.Dir)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, p := range paths {
		if err := copyAlong(ctx, w, from, to, p); err != nil {
			return fmt.Errorf("carry %q into the worktree: %w", filetree.Clip(p), err)
		}
	}
	return nil
}

func resolved(path string) string {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		return at
	}
	return path
}

// ignored are the paths that match globs and that git ignores, without what is below others.
func ignored(ctx context.Context, g git.Git, dir string, globs []string) ([]string, error) {
	var all []string
	for _, glob := range globs {
		found, err := fs.Glob(os.DirFS(dir), glob)
		if err != nil {
			return nil, filetree.Failf(filetree.ErrInvalid, "the pattern %q: %w", filetree.Clip(glob), err)
		}
		for _, p := range found {
			if filetree.CheckPath(p) == nil && !filetree.IsGit(p) {
				all = append(all, p)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 {
		return nil, nil
	}
	out, err := g.From(strings.NewReader(strings.Join(all, "\x00")+"\x00")).Run(ctx, "check-ignore", "-z", "--stdin")
	if err != nil && git.ExitCode(err) != 1 { // 1: none of them
		return nil, err
	}
	var top []string
	for _, p := range git.Words(out) {
		if !slices.ContainsFunc(top, func(dir string) bool { return filetree.Under(p, dir) }) {
			top = append(top, p)
		}
	}
	return top, nil
}

// copyAlong copies a file, or a directory with all in it, where nothing is yet.
func copyAlong(ctx context.Context, w *Workspace, from, to *filetree.Folder, path string) error {
	if there, err := filetree.Standing(to, path); err != nil || there != nil {
		return err
	}
	e, err := filetree.Standing(from, path)
	if err != nil || e == nil || e.Mode == fs.ModeIrregular {
		return err
	}
	dir, name := filetree.Parent(path)
	d, err := to.Grow(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if !e.Mode.IsDir() {
		_, err := filetree.Source{Top: from}.CopyTo(d, name, e, make([]byte, filetree.Small))
		return err
	}
	into, err := d.Grow(name)
	if err != nil {
		return filetree.Full(err)
	}
	defer into.Close()
	at, err := from.Walk(path)
	if err != nil {
		return err
	}
	defer at.Close()
	seen, err := filetree.Scan(ctx, at, w.store.Limits, nil, nil)
	if err != nil {
		return err
	}
	return filetree.LayOut(ctx, filetree.Source{Top: at}, into, seen.Files)
}
