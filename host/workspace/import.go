package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// importer takes files of a directory into packs.
type importer struct {
	ctx   context.Context
	top   *folder
	packs *packs
	have  known // contents that are in packs already; nil: none
	sync  bool

	mu      sync.Mutex
	skipped []string
	dropped map[string]bool
}

// take gives the entries of what was scanned, with all contents in packs. It completes
// what the scan knows of each file. What vanishes meanwhile is left out, what can't be
// read is skipped.
func (im *importer) take(seen *scanned) ([]Entry, error) {
	if im.have == nil {
		im.have = func(Digest) (place, bool) { return place{}, false }
	}
	im.dropped = map[string]bool{}
	groups, order := im.unread(seen.files)
	err := each(im.ctx, order, func() (func(string) error, func() error) {
		p := newPacker(im.packs, im.sync)
		return func(dir string) error { return im.directory(p, dir, groups[dir]) }, p.close
	})
	if err != nil {
		im.packs.undo()
		return nil, err
	}
	for _, p := range im.skipped {
		seen.skip(p)
	}
	if len(im.dropped) > 0 {
		seen.files = slices.DeleteFunc(seen.files, func(f found) bool { return im.dropped[f.Path] })
	}
	entries := make([]Entry, len(seen.files))
	for i := range seen.files {
		entries[i] = seen.files[i].Entry
	}
	return entries, nil
}

// unread groups files by directory, those whose contents are in packs already left out.
func (im *importer) unread(files []found) (groups map[string][]*found, order []string) {
	groups = map[string][]*found{}
	for i := range files {
		f := &files[i]
		if f.Mode.IsDir() || f.at.pack != 0 {
			continue
		}
		if f.known {
			if at, ok := im.have(f.Sum); ok || f.Size == 0 {
				f.at = at
				continue
			}
		}
		dir, _ := parent(f.Path)
		if groups[dir] == nil {
			order = append(order, dir)
		}
		groups[dir] = append(groups[dir], f)
	}
	return groups, order
}

func (im *importer) directory(p *packer, dir string, files []*found) error {
	d, err := im.top.walk(dir)
	if err != nil {
		if !absent(err) {
			return err
		}
		for _, f := range files {
			im.drop(f, err)
		}
		return nil
	}
	defer d.close()
	for _, f := range files {
		if err := im.file(p, d, f); err != nil {
			return err
		}
	}
	return nil
}

func (im *importer) file(p *packer, d *folder, f *found) error {
	_, name := parent(f.Path)
	if f.Mode&fs.ModeSymlink != 0 {
		target, err := d.readlink(name)
		if err != nil {
			im.drop(f, err)
			return nil
		}
		f.Sum, f.Size, f.at, err = p.addBytes([]byte(target), im.have)
		return err
	}
	file, st, err := d.open(name)
	if err != nil {
		if !absent(err) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, errIrregular) {
			return err
		}
		im.drop(f, err)
		return nil
	}
	defer file.Close()
	f.stamp, f.Modified = st, st.mtime
	f.Mode, _ = st.fileMode()
	if f.Sum, f.Size, f.at, err = p.add(file, st.size, im.have); err != nil {
		return err
	}
	f.known = true
	return nil
}

// absent reports whether an error says that something is not there, or no longer what
// it was.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isSwapped(err)
}

// drop leaves a file out: it vanished, or can't be read.
func (im *importer) drop(f *found, err error) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.dropped[f.Path] = true
	if !absent(err) {
		im.skipped = append(im.skipped, f.Path)
	}
}

// sortEntries puts entries into a manifest's order.
func sortEntries(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

// measure completes what a scan knows of contents, without keeping them.
func (im *importer) measure(seen *scanned) error {
	groups, order := map[string][]*found{}, []string(nil)
	for i := range seen.files {
		f := &seen.files[i]
		if f.known {
			continue
		}
		dir, _ := parent(f.Path)
		if groups[dir] == nil {
			order = append(order, dir)
		}
		groups[dir] = append(groups[dir], f)
	}
	if len(order) == 0 {
		return nil
	}
	im.dropped = map[string]bool{}
	err := each(im.ctx, order, func() (func(string) error, func() error) {
		buf := make([]byte, 256<<10)
		return func(dir string) error { return im.measureDirectory(dir, groups[dir], buf) }, nil
	})
	for _, p := range im.skipped {
		seen.skip(p)
	}
	seen.files = slices.DeleteFunc(seen.files, func(f found) bool { return im.dropped[f.Path] })
	return err
}

func (im *importer) measureDirectory(dir string, files []*found, buf []byte) error {
	d, err := im.top.walk(dir)
	if err != nil {
		if !absent(err) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		for _, f := range files {
			im.drop(f, err)
		}
		return nil
	}
	defer d.close()
	for _, f := range files {
		if err := im.ctx.Err(); err != nil {
			return err
		}
		_, name := parent(f.Path)
		file, st, err := d.open(name)
		if err != nil {
			if !absent(err) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, errIrregular) {
				return err
			}
			im.drop(f, err)
			continue
		}
		f.stamp, f.Modified = st, st.mtime
		f.Mode, _ = st.fileMode()
		f.Sum, f.Size, err = sumFile(file, buf)
		_ = file.Close()
		if err != nil {
			return err
		}
		f.known = true
	}
	return nil
}

// sumFile reads a file to its end.
func sumFile(r io.Reader, buf []byte) (sum Digest, size int64, err error) {
	h := sha256.New()
	size, err = io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{r}, buf)
	h.Sum(sum[:0])
	return sum, size, err
}
