package workspace

import (
	"encoding/gob"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Names in a filesystem's directory.
const (
	manifestName = "manifest"
	packsName    = "packs"
	pinDir       = "pins" // manifests whose contents must stay: what a task's workspace began as
)

func pinName(task string) string { return filepath.Join(pinDir, task) }

// pin keeps the current version's contents for a task until it is unpinned.
func (t *Tree) pin(task string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, err := os.ReadFile(filepath.Join(t.dir, manifestName))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(t.dir, pinDir), 0o700); err != nil {
		return full(err)
	}
	return replaceFile(filepath.Join(t.dir, pinName(task)), b, false)
}

// repin changes what is kept for a task: entries take the places of those that go.
func (t *Tree) repin(task string, gone map[string]bool, entries []Entry) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.load(pinName(task))
	if err != nil {
		return err
	}
	now := &sheet{Manifest: newManifest(s.replace(gone, entries))}
	return replaceFile(filepath.Join(t.dir, pinName(task)), now.encode(), false)
}

func (t *Tree) unpin(task string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := os.Remove(filepath.Join(t.dir, pinName(task)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// damaged says that a file of the tree is.
func (t *Tree) damaged(err error) error {
	return wrap(err, ErrDamaged, "the filesystem %s is damaged; nothing of it was changed", t.id)
}

// load reads a manifest of the tree, the current one or a pin.
func (t *Tree) load(name string) (*sheet, error) {
	b, err := os.ReadFile(filepath.Join(t.dir, name))
	if err != nil {
		return nil, err
	}
	s, err := decodeSheet(b)
	if err != nil {
		return nil, t.damaged(err)
	}
	return s, nil
}

// loadHead reads the beginning of a sheet.
func loadHead(file string) (sheetHead, error) {
	f, err := os.Open(file)
	if err != nil {
		return sheetHead{}, err
	}
	defer f.Close()
	var head sheetHead
	return head, gob.NewDecoder(f).Decode(&head)
}

// Summary reads only the beginning of the manifest.
func (t *Tree) Summary() (Summary, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.gone {
		return Summary{}, noTree(t.id)
	}
	head, err := loadHead(filepath.Join(t.dir, manifestName))
	if err != nil {
		return Summary{}, t.damaged(err)
	}
	return head.Summary, nil
}

// view is a version of the tree. Packs, also those that nothing names yet, stay until
// it is closed.
type view struct {
	*sheet
	tree *Tree
	dir  *folder
}

func (t *Tree) view() (*view, error) { return t.viewOf(manifestName) }

// viewOf gives the tree as a manifest's file says.
func (t *Tree) viewOf(name string) (*view, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return nil, noTree(t.id)
	}
	s, err := t.load(name)
	if err != nil {
		return nil, err
	}
	dir, err := openFolder(filepath.Join(t.dir, packsName))
	if err != nil {
		return nil, t.damaged(err)
	}
	t.readers++
	return &view{sheet: s, tree: t, dir: dir}, nil
}

func (v *view) source() source { return source{top: v.dir, stored: true} }

func (v *view) close() {
	v.dir.close()
	v.tree.mu.Lock()
	v.tree.readers--
	v.tree.mu.Unlock()
}

// changing is a change of a tree: contents are added to a view, then it begins, which
// waits for others, and commit makes it happen.
type changing struct {
	*view
	packs *packs
	begun bool
}

// prepare starts a change. Nobody waits for contents that come slowly, but for what
// follows begin.
func (t *Tree) prepare() (*changing, error) {
	v, err := t.view()
	if err != nil {
		return nil, err
	}
	return &changing{view: v, packs: newPacks(v.dir, true, v.entries)}, nil
}

// begin goes on with the version of now, which base names if it is not empty; there is
// one such change at a time.
func (c *changing) begin(base string) error {
	c.tree.change.Lock()
	c.begun = true
	s, err := c.tree.load(manifestName)
	if err != nil {
		return err
	}
	if base != "" && base != s.version {
		return failf(ErrConflict, "the filesystem is at version %s, not at baseVersion; read it again", s.version)
	}
	c.sheet = s
	return nil
}

// end releases the tree. What was added and not committed goes.
func (c *changing) end() {
	_ = c.packs.close()
	c.close()
	if !c.begun {
		c.tree.change.Lock()
	}
	defer c.tree.change.Unlock()
	c.tree.collect()
}

// commit makes entries, which are sorted, the tree's. The contents of all are in packs.
func (c *changing) commit(entries []Entry) (*Manifest, error) {
	if err := c.packs.close(); err != nil {
		return nil, err
	}
	t := c.tree
	limits := t.store.limits
	m := newManifest(entries)
	if len(entries) > limits.Files {
		return nil, failf(ErrTooLarge, "the filesystem would have more than %d files", limits.Files)
	}
	if m.bytes > limits.Bytes {
		return nil, failf(ErrTooLarge, "the filesystem would have more than %d bytes", limits.Bytes)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return nil, noTree(t.id)
	}
	return m, replaceFile(filepath.Join(t.dir, manifestName), (&sheet{Manifest: m, answers: c.answers}).encode(), true)
}

// collect removes packs that no manifest names, when nobody reads or adds any. The
// caller holds change. It never fails: what stays is removed another time.
func (t *Tree) collect() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.readers > 0 || t.gone {
		return
	}
	roots := map[string]*sheet{manifestName: nil}
	pins, err := os.ReadDir(filepath.Join(t.dir, pinDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, p := range pins {
		if !strings.HasSuffix(p.Name(), ".new") { // left by a death
			roots[pinName(p.Name())] = nil
		}
	}
	live := map[string]int64{} // bytes that a manifest needs, by the pack's name
	for name := range roots {
		s, err := t.load(name)
		if err != nil {
			return
		}
		packs := map[uint64]int64{}
		for i := range s.entries {
			if e := &s.entries[i]; e.Mode.IsRegular() {
				packs[e.at.pack] += e.Size
			}
		}
		for n, bytes := range packs {
			live[packName(n)] = max(live[packName(n)], bytes)
		}
		roots[name] = s
	}
	dir, err := openFolder(filepath.Join(t.dir, packsName))
	if err != nil {
		return
	}
	defer dir.close()
	names, _ := dir.file.Readdirnames(-1)
	poor := map[string]bool{}
	for _, name := range names {
		bytes, used := live[name]
		st, err := dir.stat(name)
		switch {
		case !used:
			_ = dir.remove(name, false)
		case err == nil && (bytes < st.size/2 || st.size < packPoor) && st.size <= packFull+small:
			poor[name] = true
		}
	}
	if len(poor) > manyPacks {
		_ = t.compact(dir, roots, poor)
	}
}

// compact copies what lives in poor packs into new ones. Each manifest is right before
// and after its rename; the old packs go at the next collection.
func (t *Tree) compact(dir *folder, roots map[string]*sheet, poor map[string]bool) error {
	to := newPacks(dir, true, nil)
	defer func() { _ = to.close() }()
	buf := make([]byte, small)
	for name, s := range roots {
		changed := false
		for i := range s.entries {
			e := &s.entries[i]
			if !e.Mode.IsRegular() || !poor[packName(e.at.pack)] {
				continue
			}
			r, err := source{top: dir, stored: true}.read(e)
			if err == nil {
				err = to.add(e, r, e.Size, buf)
				_ = r.Close()
			}
			if err != nil {
				return err
			}
			changed = true
		}
		if !changed {
			continue
		}
		if err := errors.Join(to.close(), replaceFile(filepath.Join(t.dir, name), s.encode(), true)); err != nil {
			return err
		}
	}
	return nil
}
