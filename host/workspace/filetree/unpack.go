package filetree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
)

// ReadArchive replaces the tree by a tar.zst (or plain tar, or tar.gz), as one change.
// Base may be empty; an archive with a path that climbs, a device, or a hard link that
// leads out is refused as a whole (ErrInvalid). Symlinks are kept as they are: nothing
// here follows them.
func (t *Tree) ReadArchive(ctx context.Context, r io.Reader, base string) (Synced, error) {
	c, err := t.Prepare()
	if err != nil {
		return Synced{}, err
	}
	defer c.End()
	limits := t.store.Limits
	u, err := openArchive(ctx, &limited{ctx: ctx, r: r, left: limits.Bytes, limit: limits.Bytes}, limits)
	if err != nil {
		return Synced{}, err
	}
	defer u.close()
	entries, err := u.receive(c.Packs, func(*Entry) bool { return false })
	if err != nil {
		return Synced{}, err
	}
	if err := c.Begin(base); err != nil {
		return Synced{}, err
	}
	var out Synced
	WalkThree(c.Entries, entries, nil, func(path string, old, now, _ *Entry) {
		if !Equal(old, now) {
			out.Change(path)
		}
	})
	m, err := c.Commit(entries)
	if err != nil {
		return Synced{}, err
	}
	out.Version = m.version
	return out.Whole(), nil
}

// receive stores an archive's contents and gives its entries, sorted and with all
// directories that they are in. Those that leave names are left out.
func (u *unarchiver) receive(to *packs, leave func(*Entry) bool) ([]Entry, error) {
	all := map[string]Entry{}
	buf := make([]byte, Small)
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
		case leave(&e):
			continue
		case it.link != "":
			first, ok := all[it.link]
			if !ok || !first.Mode.IsRegular() {
				return nil, Failf(ErrInvalid, "the archive has a hard link at %q to a file that is not before it, so nothing of it was taken", Clip(e.Path))
			}
			first.Path = e.Path
			e = first
		case it.body != nil:
			if err := to.add(&e, it.body, u.limits.FileSize, buf); err != nil {
				return nil, err
			}
		}
		all[e.Path] = e
	}
	entries := slices.Collect(maps.Values(all))
	for _, e := range slices.Clone(entries) {
		for dir, _ := Parent(e.Path); dir != ""; dir, _ = Parent(dir) {
			d, ok := all[dir]
			if ok && !d.Mode.IsDir() {
				return nil, Failf(ErrInvalid, "the archive has %q in %q, which is no directory, so nothing of it was taken", Clip(e.Path), Clip(dir))
			}
			if ok {
				break
			}
			d = Entry{Path: dir, Mode: fs.ModeDir | 0o755}
			all[dir] = d
			entries = append(entries, d)
		}
	}
	slices.SortFunc(entries, ComparePaths)
	return entries, nil
}
