package filetree

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// MaxListed bounds the paths that a result names; counts go on.
const MaxListed = 1000

// Scanned is a tree as it is on the disk.
type Scanned struct {
	Files   []Entry  // sorted by path; of files whose checksum is not known yet it is zero
	Skipped []string // at most maxListed of unseen
	unseen  map[string]bool
	At      time.Time // before anything was looked at
}

func (s *Scanned) skip(path string) {
	s.Skipped = listed(s.Skipped, path)
	if s.unseen == nil {
		s.unseen = map[string]bool{}
	}
	s.unseen[path] = true
}

// Hidden reports whether a path, or a directory above it, was skipped: it may well be
// there.
func (s *Scanned) Hidden(path string) bool {
	if len(s.unseen) == 0 {
		return false
	}
	for ; path != ""; path, _ = Parent(path) {
		if s.unseen[path] {
			return true
		}
	}
	return false
}

type scanner struct {
	ctx    context.Context
	limits Limits
	known  []Entry
	leave  func(path string) bool
	out    *Scanned
	bytes  int64
}

// Scan lists a tree without reading contents: checksums come from what is known, a sorted
// list that may be nil, where the stamp is the same. Paths of which leave, if not nil, says so are
// left out.
func Scan(ctx context.Context, top *Folder, limits Limits, known []Entry, leave func(path string) bool) (*Scanned, error) {
	s := &scanner{ctx: ctx, limits: limits, known: known, leave: leave, out: &Scanned{At: time.Now()}}
	d, err := top.sub(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := s.directory(d, "", 0); err != nil {
		return nil, err
	}
	slices.SortFunc(s.out.Files, ComparePaths)
	return s.out, nil
}

func (s *scanner) directory(d *Folder, dir string, deep int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if deep > maxDeep {
		return Failf(ErrTooLarge, "%q is deeper than %d directories", Clip(dir), maxDeep)
	}
	list, err := d.list(s.limits.Files - len(s.out.Files))
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

func (s *scanner) file(d *Folder, name, path string, deep int) error {
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
	f := Entry{Path: path, Mode: mode, Modified: st.mtime, Stamp: st}
	switch {
	case mode.IsDir():
		f.Modified = 0
		sub, err := d.sub(name)
		switch {
		case errors.Is(err, fs.ErrPermission):
			s.out.skip(path)
			return nil
		case Absent(err): // it may be a file by now
			return nil
		case err != nil:
			return err
		}
		s.out.Files = append(s.out.Files, f)
		defer sub.Close()
		return s.directory(sub, path, deep+1)
	case mode.IsRegular():
		f.Size = st.Size
		if i, ok := Search(s.known, path); ok && s.known[i].Stamp == st {
			f.Sum = s.known[i].Sum
		}
		if st.Size > s.limits.FileSize {
			return Failf(ErrTooLarge, "%q has %d bytes; a file may have %d", Clip(path), st.Size, s.limits.FileSize)
		}
		if s.bytes += st.Size; s.bytes > s.limits.Bytes {
			return Failf(ErrTooLarge, "the files have more than %d bytes", s.limits.Bytes)
		}
	default:
		target, err := d.readlink(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		f.Link(target)
	}
	if len(s.out.Files) >= s.limits.Files {
		return Failf(ErrTooLarge, "there are more than %d files", s.limits.Files)
	}
	s.out.Files = append(s.out.Files, f)
	return nil
}

// Synced is what a synchronisation did.
type Synced struct {
	Version   string   `json:"version"`       // the filesystem's, afterwards
	Changed   []string `json:"files_changed"` // paths written or removed on the side that was brought up to date; at most 1000
	Count     int      `json:"count"`         // of all that changed
	Conflicts []string `json:"conflicts"`     // changed on both sides, and left as they are on both; at most 1000
	Skipped   []string `json:"skipped"`       // not kept: devices, sockets, FIFOs, unreadable files; at most 1000
}

func (s *Synced) Change(path string) {
	s.Count++
	s.Changed = listed(s.Changed, path)
}

func (s *Synced) Conflict(path string) { s.Conflicts = listed(s.Conflicts, path) }

// listed adds a path to those that a result names.
func listed(all []string, path string) []string {
	if len(all) < MaxListed {
		all = append(all, path)
	}
	return all
}

// Whole replaces nil lists by empty ones, for JSON.
func (s *Synced) Whole() Synced {
	for _, list := range []*[]string{&s.Changed, &s.Conflicts, &s.Skipped} {
		if *list == nil {
			*list = []string{}
		}
	}
	return *s
}

// Take reads the files of a directory that was scanned whose contents are not known, or
// not in packs yet; without packs nothing is stored. What vanishes meanwhile is left out
// of the scan, what can't be read is skipped.
func Take(ctx context.Context, top *Folder, seen *Scanned, to *packs) error {
	var mu sync.Mutex
	var skipped []string
	dropped := map[string]bool{}
	missing := func(i int) (string, bool) {
		f := &seen.Files[i]
		return f.Path, f.Mode.IsRegular() && (f.Sum == Digest{} || to != nil && !to.known(f))
	}
	err := byDirectory(ctx, top, len(seen.Files), missing, func(d *Folder, err error, i int, buf []byte) error {
		f := &seen.Files[i]
		if err == nil {
			err = f.take(d, to, buf)
		}
		if !Absent(err) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, ErrIrregular) {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		dropped[f.Path] = true
		if !Absent(err) {
			skipped = append(skipped, f.Path)
		}
		return nil
	})
	if to != nil {
		err = errors.Join(err, to.close())
	}
	for _, p := range skipped {
		seen.skip(p)
	}
	seen.Files = slices.DeleteFunc(seen.Files, func(f Entry) bool { return dropped[f.Path] })
	return err
}

// take reads a file as it is now.
func (f *Entry) take(d *Folder, to *packs, buf []byte) error {
	_, name := Parent(f.Path)
	file, st, err := d.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	f.Stamp, f.Modified = st, st.mtime
	f.Mode, _ = st.fileMode()
	if to == nil {
		f.Sum, f.Size, err = SumFile(file)
	} else {
		err = to.add(f, file, noLimits.FileSize, buf)
	}
	return err
}

// Absent reports whether an error says that something is not there, or no longer what
// it was: a symlink, a file or a FIFO without a writer is in its place.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EMLINK)
}
