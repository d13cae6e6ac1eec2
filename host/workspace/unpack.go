package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
)

// ReadArchive replaces the tree by a tar.zst (or plain tar, or tar.gz), as one change.
// Base may be empty; an archive with a path that climbs, a device, or a hard link that
// leads out is refused as a whole (ErrInvalid). Symlinks are kept as they are: nothing
// here follows them.
func (t *Tree) ReadArchive(ctx context.Context, r io.Reader, base string) (Synced, error) {
	// Nobody waits for an archive that comes slowly, but for the change.
	body, err := t.store.receive(ctx, r, t.store.options.Limits.Bytes)
	if err != nil {
		return Synced{}, err
	}
	defer body.close()
	u, err := openArchive(ctx, body.reader(), t.store.options.Limits)
	if err != nil {
		return Synced{}, err
	}
	defer u.close()
	c, err := t.begin()
	if err != nil {
		return Synced{}, err
	}
	defer c.end()
	if base != "" && base != c.manifest.version {
		return Synced{}, failf(ErrConflict, "the filesystem is at version %s, not at baseVersion; read it again", c.manifest.version)
	}
	entries, err := c.receive(u)
	if err != nil {
		return Synced{}, err
	}
	var out Synced
	walkThree(c.manifest.entries, entries, nil, func(path string, old, now, _ *Entry) {
		if !equal(old, now) {
			out.change(path)
		}
	})
	m, err := c.commit(entries, c.answers)
	if err != nil {
		return Synced{}, err
	}
	out.Version = m.version
	return out.whole(), nil
}

// receive brings an archive's contents into packs and gives its entries.
func (c *changing) receive(u *unarchiver) ([]Entry, error) {
	p := newPacker(c.packs, true)
	have := c.manifest.sums()
	all := map[string]Entry{}
	for {
		it, err := u.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		e := it.Entry
		switch {
		case it.link != "":
			to, ok := all[it.link]
			if !ok || !to.Mode.IsRegular() {
				return nil, noLink(e.Path)
			}
			to.Path = e.Path
			e = to
		case it.body != nil:
			if e.Sum, e.Size, e.at, err = p.addStream(it.body, u.limits.FileSize, have); err != nil {
				return nil, err
			}
		case e.Mode&fs.ModeSymlink != 0:
			if e.Sum, e.Size, e.at, err = p.addBytes([]byte(it.text), have); err != nil {
				return nil, err
			}
		}
		all[e.Path] = e
	}
	if err := p.close(); err != nil {
		return nil, err
	}
	return orderly(all)
}

func noLink(path string) error {
	return failf(ErrInvalid, "the archive has a hard link at %q to a file that is not before it, so nothing of it was taken", clip(path))
}

// orderly sorts entries, with all directories that they are in.
func orderly(all map[string]Entry) ([]Entry, error) {
	entries := make([]Entry, 0, len(all))
	for _, e := range all {
		entries = append(entries, e)
	}
	for _, e := range slices.Clone(entries) {
		for dir, _ := parent(e.Path); dir != ""; dir, _ = parent(dir) {
			d, ok := all[dir]
			if ok && !d.Mode.IsDir() {
				return nil, failf(ErrInvalid, "the archive has %q in %q, which is no directory, so nothing of it was taken", clip(e.Path), clip(dir))
			}
			if ok {
				break
			}
			d = Entry{Path: dir, Mode: fs.ModeDir | 0o755}
			all[dir] = d
			entries = append(entries, d)
		}
	}
	sortEntries(entries)
	return entries, nil
}

// Unpack writes an archive into a directory, as Pull would, git's own files left out:
// tar.zst, tar.gz or tar. It needs no Store; clients use it, on archives that they need
// not trust.
func Unpack(ctx context.Context, r io.Reader, out string, o PullOptions) (Pulled, error) {
	u, err := openArchive(ctx, r, noLimits)
	if err != nil {
		return Pulled{}, err
	}
	defer u.close()
	p := Pulled{Out: out, Folders: []string{}, Skipped: []string{}}
	return p, install(ctx, out, o, func(top *folder) error { return u.extract(top, &p) })
}

// extract writes the files into a directory that nobody else knows.
func (u *unarchiver) extract(top *folder, p *Pulled) error {
	var dirs []Entry
	for {
		it, err := u.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if isGit(it.Path) {
			if _, name := parent(it.Path); isGit(name) && len(p.Skipped) < maxListed {
				p.Skipped = append(p.Skipped, it.Path)
			}
			continue
		}
		if it.Mode.IsDir() {
			dirs = append(dirs, it.Entry)
		}
		if err := it.write(top); err != nil {
			return err
		}
		if !it.Mode.IsDir() {
			p.Files++
			p.Bytes += it.Size
		}
	}
	sortEntries(dirs)
	return (&layer{ctx: u.ctx}).closeDirs(top, dirs)
}

// write makes the file; one of the same name goes, as with tar.
func (it *item) write(top *folder) error {
	if it.Mode.IsDir() {
		d, err := top.grow(it.Path)
		if err != nil {
			return failOrFull(err, it.Path)
		}
		d.close()
		return nil
	}
	dir, name := parent(it.Path)
	d, err := top.grow(dir)
	if err != nil {
		return failOrFull(err, it.Path)
	}
	defer d.close()
	if err := d.remove(name, false); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failOrFull(err, it.Path)
	}
	switch {
	case it.link != "":
		e := Entry{Path: it.link}
		if _, err := (dirSource{top}).copyTo(d, name, &e, nil); err != nil {
			return noLink(it.Path)
		}
		return nil
	case it.Mode&fs.ModeSymlink != 0:
		return full(d.symlink(it.text, name))
	}
	f, err := d.create(name)
	if err != nil {
		return failOrFull(err, it.Path)
	}
	defer f.Close()
	if _, err := io.Copy(f, it.body); err != nil {
		return full(err)
	}
	if err := f.Chmod(it.Mode.Perm()); err != nil {
		return err
	}
	return setTime(d, name, it.Modified)
}

// failOrFull words what stood in the way of an archive's file.
func failOrFull(err error, path string) error {
	if err := full(err); errors.Is(err, ErrFull) {
		return err
	}
	f := failf(ErrInvalid, "the archive's file %q has no place among the others, so nothing of it was taken", clip(path)).(*Failure)
	f.err = err
	return f
}
