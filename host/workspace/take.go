package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/folders"
)

// WriteArchive writes system folders as tar.zst, or without names workspace/ and all of them (U108).
// The result lacks Out.
func (w *Workspace) WriteArchive(ctx context.Context, to io.Writer, o folders.Selection) (filetree.Pulled, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return filetree.Pulled{}, err
	}
	unlock()
	p := filetree.NewPulled("")
	parts := []filetree.Part{}
	add := func(name, dir string, leave func(string) bool) error {
		one, err := w.part(ctx, name, dir, &p, leave)
		if err == nil {
			parts = append(parts, one)
		}
		return err
	}
	defer func() {
		for _, one := range parts {
			if one.From.Top != nil {
				one.From.Top.Close()
			}
		}
	}()
	system := w.SystemFolders()
	if len(o.Names) == 0 {
		if o.Names, err = system.Names(); err != nil {
			return filetree.Pulled{}, err
		}
		if err := w.filesInto(add, r, &p); err != nil {
			return filetree.Pulled{}, err
		}
		if len(parts) == 0 {
			parts = append(parts, filetree.Part{Prefix: filesName}) // no files exist
		}
	}
	for _, name := range o.Names {
		err := add(name, filepath.Join(system.Dir, name), func(path string) bool { return o.Leaves(name + "/" + path) })
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return filetree.Pulled{}, err
		default:
			p.Folders = append(p.Folders, name)
		}
	}
	return p, filetree.WriteArchive(ctx, to, parts...)
}

// filesInto adds workspace/, without git's own files.
func (w *Workspace) filesInto(add func(name, dir string, leave func(string) bool) error, r *record, p *filetree.Pulled) error {
	dir := w.files
	if r.Kind != None {
		top, err := r.open()
		if err != nil {
			return err
		}
		top.Close()
		dir = r.Dir
	}
	if dir == "" {
		return nil
	}
	return add(filesName, dir, func(path string) bool {
		_, name := filetree.Parent(path)
		if filetree.IsGit(name) {
			p.Skip(filesName + "/" + path)
		}
		return filetree.IsGit(name)
	})
}

// part scans a directory and counts what of it is written.
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
