package filetree

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// PullOptions say how files are taken out.
type PullOptions struct {
	// Overwrite allows an OUT that has files; those that are not in the workspace stay.
	Overwrite bool
}

// Pulled is what was taken out.
type Pulled struct {
	Out     string   `json:"out"`
	Files   int      `json:"files"`
	Bytes   int64    `json:"bytes"`
	Folders []string `json:"folders"` // system folders
	// Skipped are paths that were not taken along: devices, sockets, FIFOs, what can't
	// be read, and git's own files, of which the user's git would run what an agent put
	// there; at most 1000.
	Skipped []string `json:"skipped"`
}

func NewPulled(out string) Pulled { return Pulled{Out: out, Folders: []string{}, Skipped: []string{}} }

func (p *Pulled) Count(e *Entry) {
	if !e.Mode.IsDir() {
		p.Files++
		p.Bytes += e.Size
	}
}

func (p *Pulled) Skip(path string) {
	if len(p.Skipped) < MaxListed {
		p.Skipped = append(p.Skipped, path)
	}
}

// leavesGit reports whether an entry is git's own, or below such a one.
func (p *Pulled) leavesGit(e *Entry) bool {
	if !IsGit(e.Path) {
		return false
	}
	if _, name := Parent(e.Path); IsGit(name) {
		p.Skip(e.Path)
	}
	return true
}

// Part is a tree on its way out.
type Part struct {
	Prefix  string // in the archive; may be empty
	From    Source
	Entries []Entry
}

// install fills a new directory beside OUT and puts it in OUT's place, or into it. fill
// also gets a directory for what it needs meanwhile.
func install(ctx context.Context, out string, o PullOptions, fill func(top, scratch *Folder) error) error {
	if !filepath.IsAbs(out) {
		return Failf(ErrInvalid, "the directory %q is not absolute", Clip(out))
	}
	out = filepath.Clean(out)
	mode := fs.FileMode(0o755)
	list, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return Missing(err, "%s", out)
	case len(list) > 0 && !o.Overwrite:
		return Failf(ErrConflict, "%s is not empty: choose another directory, or say that its files may be overwritten", out)
	default:
		if out, err = filepath.EvalSymlinks(out); err != nil {
			return err
		}
		if st, err := os.Stat(out); err == nil {
			mode = st.Mode().Perm()
		}
	}
	dir := filepath.Dir(out)
	beside := filepath.Join(dir, "."+filepath.Base(out)+".tandemux-"+strings.ToLower(rand.Text()[:8]))
	tree, scratch := filepath.Join(beside, "tree"), filepath.Join(beside, "scratch")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Full(err)
	}
	defer func() { _ = RemoveTree(beside) }()
	if err := os.Mkdir(beside, 0o700); err != nil {
		return Full(err)
	}
	top, err := NewFolder(tree)
	if err != nil {
		return err
	}
	defer top.Close()
	aside, err := NewFolder(scratch)
	if err != nil {
		return err
	}
	defer aside.Close()
	if err := fill(top, aside); err != nil {
		return err
	}
	if len(list) > 0 {
		return pour(ctx, top, scratch, out)
	}
	return errors.Join(os.Chmod(tree, mode), os.Rename(tree, out)) // over an empty directory, too
}

// pour moves files into a directory that has some.
func pour(ctx context.Context, from *Folder, scratch, out string) error {
	seen, err := Scan(ctx, from, noLimits, nil, nil)
	if err != nil {
		return err
	}
	to, err := OpenFolder(out)
	if err != nil {
		return err
	}
	defer to.Close()
	changes := make([]Change, len(seen.Files))
	for i := range seen.Files {
		e := &seen.Files[i].Entry
		there, _, err := Standing(to, e.Path)
		if err != nil {
			return err
		}
		changes[i] = Change{e.Path, e, there}
	}
	a := &Applier{Ctx: ctx, Top: to, Stage: scratch, From: Source{Top: from}}
	return a.Apply(changes)
}

// Standing gives the type of what is at a path, nil for nothing.
func Standing(top *Folder, path string) (*Entry, Stamp, error) {
	dir, name := Parent(path)
	d, err := top.Walk(dir)
	if Absent(err) {
		return nil, Stamp{}, nil
	}
	if err != nil {
		return nil, Stamp{}, err
	}
	defer d.Close()
	st, err := d.stat(name)
	if Absent(err) {
		return nil, Stamp{}, nil
	}
	if err != nil {
		return nil, Stamp{}, err
	}
	mode, ok := st.fileMode()
	if !ok {
		mode = fs.ModeIrregular
	}
	return &Entry{Path: path, Mode: mode, Modified: st.mtime}, st, nil
}
