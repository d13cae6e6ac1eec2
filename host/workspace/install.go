package workspace

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

func newPulled(out string) Pulled { return Pulled{Out: out, Folders: []string{}, Skipped: []string{}} }

func (p *Pulled) count(e *Entry) {
	if !e.Mode.IsDir() {
		p.Files++
		p.Bytes += e.Size
	}
}

func (p *Pulled) skip(path string) {
	if len(p.Skipped) < maxListed {
		p.Skipped = append(p.Skipped, path)
	}
}

// leavesGit reports whether an entry is git's own, or below such a one.
func (p *Pulled) leavesGit(e *Entry) bool {
	if !isGit(e.Path) {
		return false
	}
	if _, name := parent(e.Path); isGit(name) {
		p.skip(e.Path)
	}
	return true
}

// part is a tree on its way out.
type part struct {
	prefix  string // in the archive; may be empty
	from    source
	entries []Entry
}

// install fills a new directory beside OUT and puts it in OUT's place, or into it. fill
// also gets a directory for what it needs meanwhile.
func install(ctx context.Context, out string, o PullOptions, fill func(top, scratch *folder) error) error {
	if !filepath.IsAbs(out) {
		return failf(ErrInvalid, "the directory %q is not absolute", clip(out))
	}
	out = filepath.Clean(out)
	mode := fs.FileMode(0o755)
	list, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return missing(err, "%s", out)
	case len(list) > 0 && !o.Overwrite:
		return failf(ErrConflict, "%s is not empty: choose another directory, or say that its files may be overwritten", out)
	default:
		if out, err = filepath.EvalSymlinks(out); err != nil {
			return err
		}
		if st, err := os.Stat(out); err == nil {
			mode = st.Mode().Perm()
		}
	}
	dir := filepath.Dir(out)
	beside := filepath.Join(dir, "."+filepath.Base(out)+".cotty-"+strings.ToLower(rand.Text()[:8]))
	tree, scratch := filepath.Join(beside, "tree"), filepath.Join(beside, "scratch")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return full(err)
	}
	defer func() { _ = removeTree(beside) }()
	for _, dir := range []string{beside, tree, scratch} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return full(err)
		}
	}
	top, err := openFolder(tree)
	if err != nil {
		return err
	}
	defer top.close()
	aside, err := openFolder(scratch)
	if err != nil {
		return err
	}
	defer aside.close()
	if err := fill(top, aside); err != nil {
		return err
	}
	if len(list) > 0 {
		return pour(ctx, top, scratch, out)
	}
	return errors.Join(os.Chmod(tree, mode), os.Rename(tree, out)) // over an empty directory, too
}

// pour moves files into a directory that has some.
func pour(ctx context.Context, from *folder, scratch, out string) error {
	seen, err := scan(ctx, from, noLimits, nil, nil)
	if err != nil {
		return err
	}
	to, err := openFolder(out)
	if err != nil {
		return err
	}
	defer to.close()
	changes := make([]change, len(seen.files))
	for i := range seen.files {
		e := &seen.files[i].Entry
		there, _, err := standing(to, e.Path)
		if err != nil {
			return err
		}
		changes[i] = change{e.Path, e, there}
	}
	a := &applier{ctx: ctx, top: to, stage: scratch, from: source{top: from}}
	return a.apply(changes)
}

// standing gives the type of what is at a path, nil for nothing.
func standing(top *folder, path string) (*Entry, stamp, error) {
	dir, name := parent(path)
	d, err := top.walk(dir)
	if absent(err) {
		return nil, stamp{}, nil
	}
	if err != nil {
		return nil, stamp{}, err
	}
	defer d.close()
	st, err := d.stat(name)
	if absent(err) {
		return nil, stamp{}, nil
	}
	if err != nil {
		return nil, stamp{}, err
	}
	mode, ok := st.fileMode()
	if !ok {
		mode = fs.ModeIrregular
	}
	return &Entry{Path: path, Mode: mode, Modified: st.mtime}, st, nil
}
