package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"tandemux/host/workspace/filetree"
)

// Sides are what paths have, and are to have when differences are undone, or carried over.
type Sides map[string]side

type side struct{ is, becomes Entry }

// SidesOf are those of differences: from new to old, or with forth from old to new.
func SidesOf(files []FileDiff, forth bool) (all Sides, err error) {
	all = Sides{}
	add := func(path string, was, now Entry) {
		if was.Mode == ModeModule || now.Mode == ModeModule {
			err = filetree.Failf(filetree.ErrUnsupported, "%q is a repository of its own: undo it there", filetree.Clip(path))
		}
		if forth {
			was, now = now, was
		}
		all[path] = side{is: now, becomes: was}
	}
	for _, f := range files {
		if f.From != "" {
			add(f.From, f.Old, Entry{})
			f.Old = Entry{}
		}
		add(f.Path, f.Old, f.New)
	}
	return all, err
}

// Paths are sorted.
func (s Sides) Paths() []string { return slices.Sorted(maps.Keys(s)) }

// Standing is what is at the paths now; an error where something is that git does not
// know. With what goes go the directories that it leaves empty.
func (s Sides) Standing(top *filetree.Folder) (changes []filetree.Change, err error) {
	seen := map[string]bool{}
	for p, f := range s {
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
			if _, listed := s[dir]; above != nil && !above.Mode.IsDir() && !listed {
				return nil, filetree.Failf(filetree.ErrConflict, "%q is in the way of %q: undo that first", filetree.Clip(dir), filetree.Clip(p))
			} else if above != nil && above.Mode.IsDir() && !listed {
				changes = append(changes, filetree.Change{Path: dir, Was: above})
			}
		}
	}
	slices.SortFunc(changes, func(a, b filetree.Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// In refuses a tree that has something else at the paths than they should have.
func (s Sides) In(ctx context.Context, g Git, tree string) error {
	now, err := g.Entries(ctx, tree, s.Paths())
	if err != nil {
		return err
	}
	for p, f := range s {
		if now[p] != f.is {
			return filetree.Failf(filetree.ErrConflict, "%q has changed since: nothing was changed", filetree.Clip(p))
		}
	}
	return nil
}

// Pending leaves the paths of which a tree has what they should have, and gives those of
// which it has neither that nor what they are to have.
func (s Sides) Pending(ctx context.Context, g Git, tree string) (neither []string, err error) {
	now, err := g.Entries(ctx, tree, s.Paths())
	for p, f := range s {
		if now[p] == f.is {
			continue
		}
		delete(s, p)
		if now[p] != f.becomes {
			neither = append(neither, p)
		}
	}
	slices.Sort(neither)
	return neither, err
}

// CheckOut puts what the paths are to have into git's index, and has git write it where it
// works. id is of any object.
func (s Sides) CheckOut(ctx context.Context, g Git, id string, flags ...string) error {
	var gone, info, written strings.Builder
	for p, f := range s {
		if f.becomes.ID == "" {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", id, p)
			continue
		}
		fmt.Fprintf(&info, "%s %s\t%s\x00", f.becomes.Mode, f.becomes.ID, p)
		fmt.Fprintf(&written, "%s\x00", p)
	}
	if _, err := g.From(strings.NewReader(gone.String()+info.String())).Run(ctx, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	_, err := g.From(strings.NewReader(written.String())).Run(ctx, append([]string{"checkout-index", "-z", "--stdin"}, flags...)...)
	return err
}

// Written reports whether a path is to have something.
func (s Sides) Written(path string) bool { return s[path].becomes.ID != "" }

// Entries are those that a tree has at some paths.
func (g Git) Entries(ctx context.Context, tree string, paths []string) (map[string]Entry, error) {
	all := map[string]Entry{}
	for some := range slices.Chunk(paths, 500) { // as arguments
		args := []string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", tree, "--"}
		out, err := g.Run(ctx, append(args, some...)...)
		if err != nil {
			return nil, err
		}
		for _, line := range Words(out) { // MODE TYPE ID\tPATH
			head, path, _ := strings.Cut(line, "\t")
			if f := strings.Fields(head); len(f) == 3 {
				all[path] = Entry{Mode: f[0], ID: f[2]}
			}
		}
	}
	return all, nil
}

// maxFile bounds a file of git's own that is copied, in bytes.
const maxFile = 256 << 20

// CopyFile copies a file of git's own, if there is one, with its time: by that git knows
// which files may have changed in the tick in which an index was written.
func CopyFile(from, to string) error {
	st, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() || st.Size() > maxFile {
		return fmt.Errorf("%s is no file of at most %d bytes", from, maxFile)
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(filetree.Full(os.WriteFile(to, b, 0o600)), os.Chtimes(to, st.ModTime(), st.ModTime()))
}
