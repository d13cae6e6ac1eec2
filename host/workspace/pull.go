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

// Pulled is what Pull wrote.
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

// part is a tree on its way out.
type part struct {
	prefix  string // in OUT; empty: OUT itself
	from    source
	entries []Entry
}

// Pull writes OUT/workspace/ and the system folders beside it (U108). OUT is absolute;
// nothing outside of it is written. An OUT that is new, or empty, is there as a whole or
// not at all.
func (w *Workspace) Pull(ctx context.Context, out string, o PullOptions) (Pulled, error) {
	parts, p, done, err := w.parts(ctx)
	if err != nil {
		return Pulled{}, err
	}
	defer done()
	if dir := w.Dir(); dir != "" && within(out, dir) {
		return Pulled{}, failf(ErrInvalid, "%s is in the workspace itself", out)
	}
	p.Out = out
	return p, install(ctx, out, o, func(top *folder) error {
		for _, part := range parts {
			if err := part.lay(ctx, top); err != nil {
				return err
			}
		}
		return nil
	})
}

// within says whether an absolute path is dir or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// parts are what of a workspace goes out; done is to be called at the end.
func (w *Workspace) parts(ctx context.Context) (parts []part, p Pulled, done func(), err error) {
	var open []*folder
	closeAll := func() {
		for _, d := range open {
			d.close()
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	r, unlock, err := w.begin()
	if err != nil {
		return nil, p, nil, err
	}
	unlock()
	p.Folders, p.Skipped = []string{}, []string{}
	add := func(prefix, dir string, leave func(string) bool) error {
		top, err := openFolder(dir)
		if err != nil {
			return err
		}
		open = append(open, top)
		part, err := w.part(ctx, prefix, top, leave, &p)
		parts = append(parts, part)
		return err
	}
	files := w.files
	if r.Kind != None {
		top, err := r.open()
		if err != nil {
			return nil, p, nil, err
		}
		top.close()
		files = r.Dir
	}
	if files == "" {
		parts = append(parts, part{prefix: filesName})
	} else {
		err = add(filesName, files, func(path string) bool {
			_, name := parent(path)
			if !isGit(name) {
				return false
			}
			p.Skipped = append(p.Skipped, filesName+"/"+path)
			return true
		})
		if err != nil {
			return nil, p, nil, err
		}
	}
	folders, err := w.SystemFolders()
	if err != nil {
		return nil, p, nil, err
	}
	for _, name := range folders {
		err := add(name, w.path(filepath.Join(systemName, name)), nil)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, p, nil, err
		}
		p.Folders = append(p.Folders, name)
	}
	p.Skipped = p.Skipped[:min(len(p.Skipped), maxListed)]
	return parts, p, closeAll, nil
}

// part scans a directory and counts what of it goes out.
func (w *Workspace) part(ctx context.Context, prefix string, top *folder, leave func(string) bool, p *Pulled) (part, error) {
	out := part{prefix: prefix, from: dirSource{top}}
	seen, err := (&scanner{ctx: ctx, limits: w.store.options.Limits, leave: leave}).scan(top)
	if err != nil {
		return out, err
	}
	for i := range seen.files {
		f := &seen.files[i]
		out.entries = append(out.entries, f.Entry)
		if !f.Mode.IsDir() {
			p.Files++
			p.Bytes += f.Size
		}
	}
	for _, s := range seen.skipped {
		p.Skipped = append(p.Skipped, prefix+"/"+s)
	}
	return out, nil
}

func (p *part) lay(ctx context.Context, top *folder) error {
	d, err := top.grow(p.prefix)
	if err != nil {
		return full(err)
	}
	defer d.close()
	return (&layer{ctx: ctx, from: p.from}).layOut(d, p.entries)
}

// Pull writes the tree into a directory (U109), which is as with Workspace.Pull.
func (t *Tree) Pull(ctx context.Context, out string, o PullOptions) (Pulled, error) {
	v, err := t.view()
	if err != nil {
		return Pulled{}, err
	}
	defer v.close()
	p := Pulled{Out: out, Bytes: v.manifest.bytes, Folders: []string{}, Skipped: []string{}}
	part := part{from: v.shelf}
	for _, e := range v.manifest.entries {
		if isGit(e.Path) {
			if _, name := parent(e.Path); isGit(name) {
				p.Skipped = append(p.Skipped, e.Path)
			}
			p.Bytes -= e.Size
			continue
		}
		if !e.Mode.IsDir() {
			p.Files++
		}
		part.entries = append(part.entries, e)
	}
	p.Skipped = p.Skipped[:min(len(p.Skipped), maxListed)]
	return p, install(ctx, out, o, func(top *folder) error { return part.lay(ctx, top) })
}

// install fills a new directory beside OUT and puts it in OUT's place, or into it.
func install(ctx context.Context, out string, o PullOptions, fill func(*folder) error) error {
	if !filepath.IsAbs(out) {
		return failf(ErrInvalid, "the directory %q is not absolute", clip(out))
	}
	out = filepath.Clean(out)
	list, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return missing(err, "%s", out)
	case len(list) > 0 && !o.Overwrite:
		return failf(ErrConflict, "%s is not empty: choose another directory, or say that its files may be overwritten", out)
	}
	there := err == nil
	if there {
		if out, err = filepath.EvalSymlinks(out); err != nil {
			return err
		}
	}
	dir := filepath.Dir(out)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return full(err)
	}
	beside := filepath.Join(dir, "."+filepath.Base(out)+".cotty-"+strings.ToLower(rand.Text()[:8]))
	if err := os.Mkdir(beside, 0o700); err != nil {
		return full(err)
	}
	defer func() { _ = removeTree(beside) }()
	top, err := openFolder(beside)
	if err != nil {
		return err
	}
	defer top.close()
	if err := fill(top); err != nil {
		return err
	}
	if len(list) > 0 {
		return pour(ctx, top, beside, out)
	}
	mode := fs.FileMode(0o755)
	if st, err := os.Stat(out); err == nil {
		mode = st.Mode().Perm()
	}
	if err := os.Chmod(beside, mode); err != nil {
		return err
	}
	return os.Rename(beside, out) // over an empty directory, too
}

// pour moves files into a directory that has some.
func pour(ctx context.Context, from *folder, beside, out string) error {
	seen, err := (&scanner{ctx: ctx, limits: noLimits}).scan(from)
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
		there, err := standing(to, e.Path)
		if err != nil {
			return err
		}
		changes[i] = change{e.Path, e, there}
	}
	a := &applier{ctx: ctx, top: to, stage: beside + ".stage", from: dirSource{from}}
	return a.apply(changes)
}

// standing gives the type of what is at a path, nil for nothing.
func standing(top *folder, path string) (*Entry, error) {
	dir, name := parent(path)
	d, err := top.walk(dir)
	if absent(err) {
		return nil, nil //nolint:nilnil // nothing
	}
	if err != nil {
		return nil, err
	}
	defer d.close()
	st, err := d.stat(name)
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // nothing
	}
	mode, ok := st.fileMode()
	if !ok {
		mode = fs.ModeIrregular
	}
	return &Entry{Path: path, Mode: mode}, nil
}
