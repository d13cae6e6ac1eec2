package workspace

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Limits bound a tree.
type Limits struct {
	Files    int   // entries; 0: 1,000,000
	Bytes    int64 // of all contents; 0: 64 GiB
	FileSize int64 // of one file; 0: 16 GiB
}

// trees keeps filesystems, each in a directory of its id.
type trees struct {
	dir    string
	limits Limits
	making keyed // filesystems that are being made

	mu   sync.Mutex
	open map[string]*Tree
}

// newTrees gives the filesystems below a directory; limits that are zero get their
// defaults.
func newTrees(dir string, limits Limits) *trees {
	limits.Files = cmp.Or(limits.Files, 1_000_000)
	limits.Bytes, limits.FileSize = cmp.Or(limits.Bytes, 64<<30), cmp.Or(limits.FileSize, 16<<30)
	return &trees{dir: dir, limits: limits, open: map[string]*Tree{}}
}

// Names that no id has: what is being made, and what is being removed.
const (
	newPrefix = ".new-"
	oldPrefix = ".old-"
)

// Tree is a stored filesystem.
type Tree struct {
	store *trees
	id    string
	dir   string

	change sync.Mutex // held by the one who makes the next manifest

	mu      sync.RWMutex // guards the manifest's file and the following
	readers int          // views that need the contents
	gone    bool         // removed
}

// NewTree makes a filesystem of a directory's files; dir empty: an empty one. One of
// this id that is there already is an error (ErrConflict).
func (s *trees) NewTree(ctx context.Context, id, dir string) (*Tree, error) {
	if err := checkID("filesystem", id); err != nil {
		return nil, err
	}
	at := filepath.Join(s.dir, id)
	fresh := filepath.Join(s.dir, newPrefix+id)
	unlock := s.making.lock(id)
	defer unlock()
	if _, err := os.Lstat(at); err == nil {
		return nil, failf(ErrConflict, "there is a filesystem %s already", id)
	}
	if err := removeTree(fresh); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(fresh, packsName), 0o700); err != nil {
		return nil, full(err)
	}
	err := s.fillTree(ctx, fresh, dir)
	if err == nil {
		err = os.Rename(fresh, at)
	}
	if err != nil {
		_ = removeTree(fresh)
		return nil, err
	}
	return s.Tree(id)
}

func (s *trees) fillTree(ctx context.Context, fresh, dir string) error {
	seen := &scanned{}
	if dir != "" {
		top, err := openFolder(dir)
		if err != nil {
			return missing(err, "the directory %s", dir)
		}
		defer top.close()
		if seen, err = scan(ctx, top, s.limits, nil, nil); err != nil {
			return err
		}
		to, err := openFolder(filepath.Join(fresh, packsName))
		if err != nil {
			return err
		}
		defer to.close()
		if err := take(ctx, top, seen, newPacks(to, false, nil)); err != nil {
			return err
		}
	}
	// Waiting for the disk would wait for all that was written just before, by anybody;
	// what a power cut takes is in dir still.
	return replaceFile(filepath.Join(fresh, manifestName), (&sheet{Manifest: newManifest(seen.entries())}).encode(), false)
}

// missing words the error of what the user named.
func missing(err error, format string, args ...any) error {
	if errors.Is(err, fs.ErrNotExist) {
		return failf(ErrInvalid, format+" does not exist", args...)
	}
	return wrap(err, ErrInvalid, format+" can't be opened", args...)
}

// Tree gives a filesystem; ErrNotFound where there is none.
func (s *trees) Tree(id string) (*Tree, error) {
	if checkID("filesystem", id) != nil {
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

func noTree(id string) error { return failf(ErrNotFound, "there is no filesystem %q", clip(id)) }

// RemoveTree removes a filesystem. Tasks that work on it keep their copies.
func (s *trees) RemoveTree(ctx context.Context, id string) error {
	t, err := s.Tree(id)
	if err != nil {
		return err
	}
	t.change.Lock()
	defer t.change.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	old := filepath.Join(s.dir, oldPrefix+id)
	if err := removeTree(old); err != nil {
		return err
	}
	if err := os.Rename(t.dir, old); err != nil {
		return err
	}
	t.gone = true
	s.mu.Lock()
	delete(s.open, id)
	s.mu.Unlock()
	return removeTree(old)
}

// Manifest is the current one.
func (t *Tree) Manifest() (*Manifest, error) {
	v, err := t.view()
	if err != nil {
		return nil, err
	}
	defer v.close()
	return v.Manifest, nil
}

// sweep removes filesystems that are not to be kept, and what a death left.
func (s *trees) sweep(ctx context.Context, keep func(id string) bool) error {
	list, err := os.ReadDir(s.dir)
	failed := []error{err}
	for _, e := range list {
		id := e.Name()
		switch {
		case strings.HasPrefix(id, newPrefix):
			unlock := s.making.lock(strings.TrimPrefix(id, newPrefix))
			failed = append(failed, removeTree(filepath.Join(s.dir, id)))
			unlock()
		case strings.HasPrefix(id, oldPrefix):
			failed = append(failed, removeTree(filepath.Join(s.dir, id)))
		case checkID("filesystem", id) == nil && !keep(id):
			if err := s.RemoveTree(ctx, id); !errors.Is(err, ErrNotFound) {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}
