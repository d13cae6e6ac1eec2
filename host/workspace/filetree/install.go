package filetree

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// PullOptions say how files are written out.
type PullOptions struct {
	// Overwrite allows an OUT that has files; those that are not in the workspace stay.
	Overwrite bool
	// Limits bound it; nil: no limits.
	Limits *Limits
}

// Pulled is what was written out.
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

func (p *Pulled) Skip(path string) { p.Skipped = listed(p.Skipped, path) }

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

// Part is a tree to be archived.
type Part struct {
	Prefix  string // in the archive; may be empty
	From    Source
	Entries []Entry
}

// Unpack writes an archive into a directory, git's own files left out: tar.zst, tar.gz
// or tar. It needs no Store; clients use it, on archives that they need not trust. OUT is
// absolute; nothing outside of it is written. One that is new, or empty, is there as a
// whole or not at all.
func Unpack(ctx context.Context, r io.Reader, out string, o PullOptions) (Pulled, error) {
	limits := noLimits
	if o.Limits != nil {
		limits = *o.Limits
	}
	u, err := openArchive(ctx, r, limits)
	if err != nil {
		return Pulled{}, err
	}
	defer u.close()
	p := NewPulled(out)
	out, mode, occupied, err := o.place(out)
	if err != nil {
		return p, err
	}
	dir := filepath.Dir(out)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return p, Full(err)
	}
	beside := filepath.Join(dir, "."+filepath.Base(out)+".tandemux-"+strings.ToLower(rand.Text()[:8]))
	defer func() { _ = RemoveTree(beside) }()
	in, err := NewFolder(beside)
	if err != nil {
		return p, err
	}
	defer in.Close()
	entries, from, err := u.into(in, p.leavesGit)
	if err != nil {
		return p, err
	}
	for i := range entries {
		p.Count(&entries[i])
	}
	tree := filepath.Join(beside, "tree")
	if occupied {
		return p, pour(ctx, from, entries, tree, out)
	}
	top, err := NewFolder(tree)
	if err != nil {
		return p, err
	}
	defer top.Close()
	if err := LayOut(ctx, from, top, entries); err != nil {
		return p, err
	}
	return p, errors.Join(os.Chmod(tree, mode), unix.Rename(tree, out)) // over an empty directory, too, unlike os.Rename
}

// Receive keeps an archive's contents in a directory of the caller's, and lists its files; those
// that leave names are left out.
func Receive(ctx context.Context, r io.Reader, in *Folder, limits Limits, leave func(*Entry) bool) ([]Entry, Source, error) {
	u, err := openArchive(ctx, &limited{ctx: ctx, r: r, left: limits.Bytes, limit: limits.Bytes}, limits)
	if err != nil {
		return nil, Source{}, err
	}
	defer u.close()
	return u.into(in, leave)
}

func (u *unarchiver) into(in *Folder, leave func(*Entry) bool) ([]Entry, Source, error) {
	packs := newPacks(in, false, nil)
	entries, err := u.receive(packs, leave)
	if err := errors.Join(err, packs.close()); err != nil {
		return nil, Source{}, err
	}
	from := Source{Top: in, Stored: true, uses: map[uint64]int{}}
	for i := range entries {
		if entries[i].Mode.IsRegular() {
			from.uses[entries[i].at.pack]++
		}
	}
	return entries, from, nil
}

// place checks where files are to go, and gives its path, its permissions, and whether
// there is anything in it.
func (o PullOptions) place(out string) (at string, mode fs.FileMode, occupied bool, err error) {
	if !filepath.IsAbs(out) {
		return "", 0, false, Failf(ErrInvalid, "the directory %q is not absolute", Clip(out))
	}
	list, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return filepath.Clean(out), 0o755, false, nil
	case err != nil:
		return "", 0, false, Missing(err, "%s", out)
	case len(list) > 0 && !o.Overwrite:
		return "", 0, false, Failf(ErrConflict, "%s is not empty: choose another directory, or replace its files by --overwrite", out)
	}
	if at, err = filepath.EvalSymlinks(out); err != nil {
		return "", 0, false, err
	}
	st, err := os.Stat(at)
	if err != nil {
		return "", 0, false, err
	}
	return at, st.Mode().Perm(), len(list) > 0, nil
}

// pour puts files into a directory that has some.
func pour(ctx context.Context, from Source, entries []Entry, stage, out string) error {
	to, err := OpenFolder(out)
	if err != nil {
		return err
	}
	defer to.Close()
	changes := make([]Change, len(entries))
	for i := range entries {
		there, err := Standing(to, entries[i].Path)
		if err != nil {
			return err
		}
		changes[i] = Change{entries[i].Path, &entries[i], there}
	}
	return (&Applier{Ctx: ctx, Top: to, Stage: stage, From: from}).Apply(changes)
}

// Standing gives the type of what is at a path, nil for nothing.
func Standing(top *Folder, path string) (*Entry, error) {
	dir, name := Parent(path)
	d, err := top.Walk(dir)
	if Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	st, err := d.stat(name)
	if Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	mode, ok := st.fileMode()
	if !ok {
		mode = fs.ModeIrregular
	}
	return &Entry{Path: path, Mode: mode, Modified: st.mtime, Stamp: st}, nil
}
