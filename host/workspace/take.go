package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"tandemux/host/workspace/filetree"
)

// WriteArchive writes workspace/ and the system folders beside it as tar.zst (U108), and
// gives an account of it, without Out.
func (w *Workspace) WriteArchive(ctx context.Context, to io.Writer) (filetree.Pulled, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return filetree.Pulled{}, err
	}
	unlock()
	p := filetree.NewPulled("")
	files := w.files
	if r.Kind != None {
		top, err := r.open()
		if err != nil {
			return filetree.Pulled{}, err
		}
		top.Close()
		files = r.Dir
	}
	folders, err := w.SystemFolders()
	if err != nil {
		return filetree.Pulled{}, err
	}
	parts := []filetree.Part{{Prefix: filesName}}
	for i, name := range append([]string{filesName}, folders...) {
		dir, leave := w.path(filepath.Join(systemName, name)), func(string) bool { return false }
		if i == 0 {
			dir = files
			leave = func(path string) bool {
				_, name := filetree.Parent(path)
				if filetree.IsGit(name) {
					p.Skip(filesName + "/" + path)
				}
				return filetree.IsGit(name)
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
			return filetree.Pulled{}, err
		}
		defer one.From.Top.Close()
		if i == 0 {
			parts[0] = one
			continue
		}
		parts = append(parts, one)
		p.Folders = append(p.Folders, name)
	}
	return p, filetree.WriteArchive(ctx, to, parts...)
}

// part scans a directory and counts what of it goes out.
func (w *Workspace) part(ctx context.Context, prefix, dir string, p *filetree.Pulled, leave func(string) bool) (filetree.Part, error) {
	top, err := filetree.OpenFolder(dir)
	if err != nil {
		return filetree.Part{}, err
	}
	seen, err := filetree.Scan(ctx, top, w.store.Limits, nil, leave)
	if err != nil {
		top.Close()
		return filetree.Part{}, err
	}
	out := filetree.Part{Prefix: prefix, From: filetree.Source{Top: top}, Entries: seen.Files}
	for i := range out.Entries {
		p.Count(&out.Entries[i])
	}
	for _, s := range seen.Skipped {
		p.Skip(prefix + "/" + s)
	}
	return out, nil
}
