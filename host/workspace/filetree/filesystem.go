package filetree

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"tandemux/internal/statefile"
)

type Limits struct {
	Files    int   // entries; 0: 1,000,000
	Bytes    int64 // of all contents; 0: 64 GiB
	FileSize int64 // of one file; 0: 16 GiB
}

// Trees keeps filesystems, each in a directory named by its id.
type Trees struct {
	dir    string
	Limits Limits
	making Keyed // filesystems that are being made

	mu   sync.Mutex
	open map[string]*Tree
}

// NewTrees gives the filesystems below a directory; limits that are zero get their
// defaults.
func NewTrees(dir string, limits Limits) *Trees {
	limits.Files = cmp.Or(limits.Files, 1_000_000)
	limits.Bytes, limits.FileSize = cmp.Or(limits.Bytes, 64<<30), cmp.Or(limits.FileSize, 16<<30)
	return &Trees{dir: dir, Limits: limits, open: map[string]*Tree{}}
}

// Names that no id has: what is being made, and what is being removed.
const (
	newPrefix = ".new-"
	oldPrefix = ".old-"
)

type Tree struct {
	store *Trees
	id    string
	dir   string

	change sync.Mutex // held by the one who makes the next manifest

	mu      sync.RWMutex // guards the manifest's file and the following
	readers int          // views that need the contents
	gone    bool         // removed
}

// NewTree makes a filesystem of a directory's files; dir empty: an empty one. One of
// this id that is there already is an error (ErrConflict).
func (s *Trees) NewTree(ctx context.Context, id, dir string) (*Tree, error) {
	if err := CheckID("filesystem", id); err != nil {
		return nil, err
	}
	at := filepath.Join(s.dir, id)
	fresh := filepath.Join(s.dir, newPrefix+id)
	unlock := s.making.Lock(id)
	defer unlock()
	if _, err := os.Lstat(at); err == nil {
		return nil, Failf(ErrConflict, "there is a filesystem %s already", id)
	}
	if err := RemoveTree(fresh); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(fresh, packsName), 0o700); err != nil {
		return nil, Full(err)
	}
	err := s.fillTree(ctx, fresh, dir)
	if err == nil {
		err = os.Rename(fresh, at)
	}
	if err != nil {
		_ = RemoveTree(fresh)
		return nil, err
	}
	return s.Tree(id)
}

func (s *Trees) fillTree(ctx context.Context, fresh, dir string) error {
	seen := &Scanned{}
	if dir != "" {
		top, err := OpenFolder(dir)
		if err != nil {
			return Missing(err, "the directory %s", dir)
		}
		defer top.Close()
		if seen, err = Scan(ctx, top, s.Limits, nil, nil); err != nil {
			return err
		}
		to, err := OpenFolder(filepath.Join(fresh, packsName))
		if err != nil {
			return err
		}
		defer to.Close()
		if err := Take(ctx, top, seen, newPacks(to, false, nil)); err != nil {
			return err
		}
	}
	// Waiting for the disk would wait for all that was written just before, by anybody;
	// what a power cut takes is in dir still.
	return ReplaceFile(filepath.Join(fresh, manifestName), (&Sheet{Manifest: NewManifest(seen.Files)}).Encode(), false)
}

// Missing returns an ErrInvalid for a path that the user named and that could not be opened.
func Missing(err error, format string, args ...any) error {
	if errors.Is(err, fs.ErrNotExist) {
		return Failf(ErrInvalid, format+" does not exist", args...)
	}
	return Failf(ErrInvalid, format+" can't be opened: %w", append(args, err)...)
}

// Tree returns a filesystem, or ErrNotFound.
func (s *Trees) Tree(id string) (*Tree, error) {
	if CheckID("filesystem", id) != nil {
		return nil, noTree(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.open[id]; t != nil {
		return t, nil
	}
	dir := filepath.Join(s.dir, id)
	if _, err := os.Lstat(filepath.Join(dir, manifestName)); err != nil {
		return nil, noTree(id)
	}
	t := &Tree{store: s, id: id, dir: dir}
	s.open[id] = t
	return t, nil
}

func noTree(id string) error { return Failf(ErrNotFound, "there is no filesystem %q", Clip(id)) }

// RemoveTree removes a filesystem. Tasks that work on it keep their copies.
func (s *Trees) RemoveTree(id string) error {
	t, err := s.Tree(id)
	if err != nil {
		return err
	}
	t.change.Lock()
	defer t.change.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	old := filepath.Join(s.dir, oldPrefix+id)
	if err := RemoveTree(old); err != nil {
		return err
	}
	if err := os.Rename(t.dir, old); err != nil {
		return err
	}
	t.gone = true
	s.mu.Lock()
	delete(s.open, id)
	s.mu.Unlock()
	return RemoveTree(old)
}

func (t *Tree) Manifest() (*Manifest, error) {
	v, err := t.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	return v.Manifest, nil
}

// Sweep removes filesystems that are not to be kept, and what a death left.
func (s *Trees) Sweep(keep func(id string) bool) error {
	list, err := os.ReadDir(s.dir)
	failed := []error{err}
	for _, e := range list {
		id := e.Name()
		switch {
		case strings.HasPrefix(id, newPrefix):
			unlock := s.making.Lock(strings.TrimPrefix(id, newPrefix))
			failed = append(failed, RemoveTree(filepath.Join(s.dir, id)))
			unlock()
		case strings.HasPrefix(id, oldPrefix):
			failed = append(failed, RemoveTree(filepath.Join(s.dir, id)))
		case CheckID("filesystem", id) == nil && !keep(id):
			if err := s.RemoveTree(id); !errors.Is(err, ErrNotFound) {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

// RemoveTree removes a directory of the store's with all in it, also of directories that
// their owner closed to himself. What is not there is no error.
func RemoveTree(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	above, name := filepath.Split(path)
	root, err := os.OpenRoot(above)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), name, func(at string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = root.Chmod(at, 0o700)
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(path))
}

// Keyed is a lock for each name. A lock once used is kept.
type Keyed struct{ locks sync.Map }

// Lock locks a name and returns the function that unlocks it.
func (k *Keyed) Lock(name string) (unlock func()) {
	l, _ := k.locks.LoadOrStore(name, &sync.Mutex{})
	m := l.(*sync.Mutex) //nolint:forcetypeassert // there is nothing else in it
	m.Lock()
	return m.Unlock
}

// ReplaceFile writes a file of the store's own: the old contents or the new are there,
// whatever happens. With sync they outlast a power cut.
func ReplaceFile(file string, b []byte, sync bool) error {
	if sync {
		return Full(statefile.Write(file, b))
	}
	return Full(statefile.Replace(file, b))
}

// ReadOptional reads a file that need not be there.
func ReadOptional(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}
