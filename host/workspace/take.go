package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
)

// WriteArchive writes workspace/ and the system folders beside it as tar.zst (U108), and
// gives an account of it, without Out.
func (w *Workspace) WriteArchive(ctx context.Context, to io.Writer) (Pulled, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return Pulled{}, err
	}
	unlock()
	p := newPulled("")
	files := w.files
	if r.Kind != None {
		top, err := r.open()
		if err != nil {
			return Pulled{}, err
		}
		top.close()
		files = r.Dir
	}
	folders, err := w.SystemFolders()
	if err != nil {
		return Pulled{}, err
	}
	parts := []part{{prefix: filesName}}
	for i, name := range append([]string{filesName}, folders...) {
		dir, leave := w.path(filepath.Join(systemName, name)), func(string) bool { return false }
		if i == 0 {
			dir = files
			leave = func(path string) bool {
				_, name := parent(path)
				if isGit(name) {
					p.skip(filesName + "/" + path)
				}
				return isGit(name)
			}
		}
		if dir == "" {
			continue
		}
		one, err := w.part(ctx, name, dir, &p, leave)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Pulled{}, err
		}
		defer one.from.top.close()
		if i == 0 {
			parts[0] = one
			continue
		}
		parts = append(parts, one)
		p.Folders = append(p.Folders, name)
	}
	return p, writeArchive(ctx, to, parts...)
}

// part scans a directory and counts what of it goes out.
func (w *Workspace) part(ctx context.Context, prefix, dir string, p *Pulled, leave func(string) bool) (part, error) {
	top, err := openFolder(dir)
	if err != nil {
		return part{}, err
	}
	seen, err := scan(ctx, top, w.store.limits, nil, leave)
	if err != nil {
		top.close()
		return part{}, err
	}
	out := part{prefix: prefix, from: source{top: top}, entries: seen.entries()}
	for i := range out.entries {
		p.count(&out.entries[i])
	}
	for _, s := range seen.skipped {
		p.skip(prefix + "/" + s)
	}
	return out, nil
}
