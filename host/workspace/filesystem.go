package workspace

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Tree is a stored filesystem.
type Tree struct {
	store *Store
	id    string
	dir   string

	change sync.Mutex // held by the one who makes the next manifest

	mu      sync.RWMutex // guards the manifest's file and the following
	readers int          // views that need the packs
	gone    bool         // removed
}

// NewTree makes a filesystem of a directory's files; dir empty: an empty one. One of
// this id that is there already is an error (ErrConflict).
func (s *Store) NewTree(ctx context.Context, id, dir string) (*Tree, error) {
	t, _, err := s.importTree(ctx, id, dir)
	return t, err
}

// importTree also gives what the scan of dir found.
func (s *Store) importTree(ctx context.Context, id, dir string) (*Tree, *scanned, error) {
	if err := checkID("filesystem", id); err != nil {
		return nil, nil, err
	}
	at := s.treeDir(id)
	fresh := filepath.Join(filepath.Dir(at), newPrefix+id)
	unlock := s.making.lock(id)
	defer unlock()
	if _, err := os.Lstat(at); err == nil {
		return nil, nil, failf(ErrConflict, "there is a filesystem %s already", id)
	}
	if err := removeTree(fresh); err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(filepath.Join(fresh, "packs"), 0o700); err != nil {
		return nil, nil, full(err)
	}
	seen, err := s.fillTree(ctx, fresh, dir)
	if err == nil {
		err = os.Rename(fresh, at)
	}
	if err != nil {
		_ = removeTree(fresh)
		return nil, nil, err
	}
	t, err := s.Tree(id)
	return t, seen, err
}

func (s *Store) fillTree(ctx context.Context, fresh, dir string) (*scanned, error) {
	var entries []Entry
	seen := &scanned{}
	if dir != "" {
		top, err := openFolder(dir)
		if err != nil {
			return nil, missing(err, "the directory %s", dir)
		}
		defer top.close()
		if seen, err = (&scanner{ctx: ctx, limits: s.options.Limits}).scan(top); err != nil {
			return nil, err
		}
		packDir, err := openFolder(filepath.Join(fresh, "packs"))
		if err != nil {
			return nil, err
		}
		defer packDir.close()
		im := importer{ctx: ctx, top: top, packs: &packs{dir: packDir}}
		if entries, err = im.take(seen); err != nil {
			return nil, err
		}
	}
	// Waiting for the disk would wait for all that was written just before, by anybody;
	// what a power cut takes is in dir still.
	return seen, replaceFile(filepath.Join(fresh, "manifest"), newManifest(entries).encode(nil), false)
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
	if _, err := os.Lstat(filepath.Join(dir, "manifest")); err != nil {
		return nil, noTree(id)
	}
	t := &Tree{store: s, id: id, dir: dir}
	s.trees[id] = t
	return t, nil
}

func noTree(id string) error { return failf(ErrNotFound, "there is no filesystem %q", clip(id)) }

// Trees lists the ids of all filesystems, sorted.
func (s *Store) Trees() ([]string, error) {
	list, err := os.ReadDir(filepath.Join(s.options.State, "filesystems"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ids := []string{}
	for _, e := range list {
		if checkID("filesystem", e.Name()) == nil {
			ids = append(ids, e.Name())
		}
	}
	sort.Strings(ids)
	return ids, nil
}

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

// ID is the filesystem's.
func (t *Tree) ID() string { return t.id }

// Summary is what is known of a tree without its manifest.
type Summary struct {
	Version string // as Manifest.Version
	Entries int    // directories included
	Bytes   int64  // of all contents
}

// Summary reads only the beginning of the manifest.
func (t *Tree) Summary() (Summary, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.gone {
		return Summary{}, noTree(t.id)
	}
	f, err := os.Open(filepath.Join(t.dir, "manifest"))
	if err != nil {
		return Summary{}, err
	}
	defer f.Close()
	head := make([]byte, len(manifestMagic)+1+64+8+binary.MaxVarintLen64)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || n < len(head)-binary.MaxVarintLen64+1 || !strings.HasPrefix(string(head), manifestMagic) {
		return Summary{}, t.damaged(errShort)
	}
	d := decoder{rest: head[len(manifestMagic):n]}
	out := Summary{Version: d.text(64)}
	var size [8]byte
	d.bytes(size[:])
	out.Bytes, out.Entries = int64(binary.BigEndian.Uint64(size[:])), int(d.uint())
	return out, d.err
}

// Manifest is the current one.
func (t *Tree) Manifest() (*Manifest, error) {
	v, err := t.view()
	if err != nil {
		return nil, err
	}
	defer v.close()
	return v.manifest, nil
}

func (t *Tree) damaged(err error) error {
	f := failf(ErrDamaged, "the filesystem %s is damaged; nothing of it was changed", t.id).(*Failure)
	f.err = err
	return f
}

// load reads a manifest of the tree, the current one or a pin.
func (t *Tree) load(name string) (*Manifest, []answer, error) {
	b, err := os.ReadFile(filepath.Join(t.dir, name))
	if err != nil {
		return nil, nil, err
	}
	m, answers, err := decodeManifest(b)
	if err != nil {
		return nil, nil, t.damaged(err)
	}
	return m, answers, nil
}

// view is a version of the tree whose packs stay until it is closed.
type view struct {
	tree     *Tree
	manifest *Manifest
	answers  []answer
	shelf    *shelf
	packs    *folder
}

func (t *Tree) view() (*view, error) { return t.viewOf("manifest") }

// viewOf gives the tree as a manifest's file says.
func (t *Tree) viewOf(name string) (*view, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return nil, noTree(t.id)
	}
	m, answers, err := t.load(name)
	if err != nil {
		return nil, err
	}
	dir, err := openFolder(filepath.Join(t.dir, "packs"))
	if err != nil {
		return nil, t.damaged(err)
	}
	t.readers++
	return &view{tree: t, manifest: m, answers: answers, shelf: newShelf(dir), packs: dir}, nil
}

func (v *view) close() {
	v.shelf.close()
	v.packs.close()
	v.tree.mu.Lock()
	v.tree.readers--
	v.tree.mu.Unlock()
}

// find gives an entry of a manifest.
func (m *Manifest) find(path string) (*Entry, bool) {
	i, ok := slices.BinarySearchFunc(m.entries, path, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	if !ok {
		return nil, false
	}
	return &m.entries[i], true
}

// sums finds contents that a manifest has.
func (m *Manifest) sums() known {
	places := make(map[Digest]place, len(m.entries))
	for i := range m.entries {
		if e := &m.entries[i]; e.at.pack != 0 {
			places[e.Sum] = e.at
		}
	}
	return func(d Digest) (place, bool) {
		at, ok := places[d]
		return at, ok
	}
}
