package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Tree is a stored filesystem.
type Tree struct {
	store *Store
	id    string
	dir   string

	change sync.Mutex // held by the one who makes the next manifest

	mu      sync.RWMutex // guards the manifest's file and the following
	readers int          // views that need the contents
	gone    bool         // removed
}

// NewTree makes a filesystem of a directory's files; dir empty: an empty one. One of
// this id that is there already is an error (ErrConflict).
func (s *Store) NewTree(ctx context.Context, id, dir string) (*Tree, error) {
	if err := checkID("filesystem", id); err != nil {
		return nil, err
	}
	at := s.treeDir(id)
	fresh := filepath.Join(filepath.Dir(at), newPrefix+id)
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

func (s *Store) fillTree(ctx context.Context, fresh, dir string) error {
	seen := &scanned{}
	if dir != "" {
		top, err := openFolder(dir)
		if err != nil {
			return missing(err, "the directory %s", dir)
		}
		defer top.close()
		if seen, err = (&scanner{ctx: ctx, limits: s.options.Limits}).scan(top); err != nil {
			return err
		}
		to, err := openFolder(filepath.Join(fresh, packsName))
		if err != nil {
			return err
		}
		defer to.close()
		if err := (&importer{ctx: ctx, top: top, to: newPacks(to, false, nil)}).take(seen); err != nil {
			return err
		}
	}
	// Waiting for the disk would wait for all that was written just before, by anybody;
	// what a power cut takes is in dir still.
	return replaceFile(filepath.Join(fresh, manifestName), (&sheet{Manifest: newManifest(seen.entries())}).encode(), false)
}

// missing words the error of what the user named.
func missing(err error, format string, args ...any) error {
	f := failf(ErrInvalid, format, args...).(*Failure)
	if errors.Is(err, fs.ErrNotExist) {
		f.text += " does not exist"
		return f
	}
	f.text, f.err = f.text+" can't be opened", err
	return f
}

func (s *Store) treeDir(id string) string {
	return filepath.Join(s.options.State, "filesystems", id)
}

// Tree gives a filesystem; ErrNotFound where there is none.
func (s *Store) Tree(id string) (*Tree, error) {
	if checkID("filesystem", id) != nil {
		return nil, noTree(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.trees[id]; t != nil {
		return t, nil
	}
	dir := s.treeDir(id)
	if _, err := os.Lstat(filepath.Join(dir, manifestName)); err != nil {
		return nil, noTree(id)
	}
	t := &Tree{store: s, id: id, dir: dir}
	s.trees[id] = t
	return t, nil
}

func noTree(id string) error { return failf(ErrNotFound, "there is no filesystem %q", clip(id)) }

// RemoveTree removes a filesystem. Tasks that work on it keep their copies.
func (s *Store) RemoveTree(ctx context.Context, id string) error {
	t, err := s.Tree(id)
	if err != nil {
		return err
	}
	t.change.Lock()
	defer t.change.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	old := filepath.Join(filepath.Dir(t.dir), oldPrefix+id)
	if err := removeTree(old); err != nil {
		return err
	}
	if err := os.Rename(t.dir, old); err != nil {
		return err
	}
	t.gone = true
	s.mu.Lock()
	delete(s.trees, id)
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
