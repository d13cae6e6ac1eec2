package workspace

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"
)

// found is a file that a scan saw. Its Sum is known if known is set.
type found struct {
	Entry
	stamp stamp
	known bool
}

// maxListed bounds the paths that a result names; counts go on.
const maxListed = 1000

// scanned is a tree as it is on the disk.
type scanned struct {
	files   []found  // sorted by path
	skipped []string // at most maxListed of unseen
	unseen  map[string]bool
	at      time.Time // before anything was looked at
}

// entries are what of it belongs in a manifest.
func (s *scanned) entries() []Entry {
	entries := make([]Entry, len(s.files))
	for i := range s.files {
		entries[i] = s.files[i].Entry
	}
	return entries
}

func (s *scanned) skip(path string) {
	if len(s.skipped) < maxListed {
		s.skipped = append(s.skipped, path)
	}
	if s.unseen == nil {
		s.unseen = map[string]bool{}
	}
	s.unseen[path] = true
}

// hidden reports whether a path, or a directory above it, was skipped: it may well be
// there.
func (s *scanned) hidden(path string) bool {
	if len(s.unseen) == 0 {
		return false
	}
	for ; path != ""; path, _ = parent(path) {
		if s.unseen[path] {
			return true
		}
	}
	return false
}

// scanner looks at a tree.
type scanner struct {
	ctx    context.Context
	limits Limits
	known  index
	leave  func(path string) bool
	out    *scanned
	bytes  int64
}

// scan lists a tree without reading contents: checksums come from what is known, which
// may be nil, where the stamp is the same. Paths of which leave, if not nil, says so are
// left out.
func scan(ctx context.Context, top *folder, limits Limits, known index, leave func(path string) bool) (*scanned, error) {
	s := &scanner{ctx: ctx, limits: limits, known: known, leave: leave, out: &scanned{at: time.Now()}}
	d, err := top.sub(".")
	if err != nil {
		return nil, err
	}
	defer d.close()
	if err := s.directory(d, "", 0); err != nil {
		return nil, err
	}
	slices.SortFunc(s.out.files, func(a, b found) int { return comparePaths(a.Entry, b.Entry) })
	return s.out, nil
}

func (s *scanner) directory(d *folder, dir string, deep int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if deep > maxDeep {
		return failf(ErrTooLarge, "%q is deeper than %d directories", clip(dir), maxDeep)
	}
	list, err := d.list(s.limits.Files - len(s.out.files))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed meanwhile
	}
	if err != nil {
		return err
	}
	prefix := dir
	if prefix != "" {
		prefix += "/"
	}
	for _, e := range list {
		path := prefix + e.Name()
		if s.leave != nil && s.leave(path) {
			continue
		}
		if err := s.file(d, e.Name(), path, deep); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) file(d *folder, name, path string, deep int) error {
	st, err := d.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed meanwhile
	}
	if err != nil {
		return err
	}
	mode, ok := st.fileMode()
	if !ok || len(path) > maxPath {
		s.out.skip(path)
		return nil
	}
	f := found{Entry: Entry{Path: path, Mode: mode, Modified: st.mtime}, stamp: st}
	switch {
	case mode.IsDir():
		f.Modified, f.known = 0, true
		sub, err := d.sub(name)
		switch {
		case errors.Is(err, fs.ErrPermission):
			s.out.skip(path)
			return nil
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		s.out.files = append(s.out.files, f)
		defer sub.close()
		return s.directory(sub, path, deep+1)
	case mode.IsRegular():
		f.Size = st.size
		f.Sum, f.known = s.known.sum(path, st)
		if st.size > s.limits.FileSize {
			return failf(ErrTooLarge, "%q has %d bytes; a file may have %d", clip(path), st.size, s.limits.FileSize)
		}
		if s.bytes += st.size; s.bytes > s.limits.Bytes {
			return failf(ErrTooLarge, "the files have more than %d bytes", s.limits.Bytes)
		}
	default:
		target, err := d.readlink(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		f.link(target)
		f.known = true
	}
	if len(s.out.files) >= s.limits.Files {
		return failf(ErrTooLarge, "there are more than %d files", s.limits.Files)
	}
	s.out.files = append(s.out.files, f)
	return nil
}
