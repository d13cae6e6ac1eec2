package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pinDir holds manifests whose contents must stay: what a task's workspace began as.
const pinDir = "pins"

// pin keeps the current version's contents for a task until it is unpinned.
func (t *Tree) pin(task string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, err := os.ReadFile(filepath.Join(t.dir, "manifest"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(t.dir, pinDir), 0o700); err != nil {
		return full(err)
	}
	return replaceFile(filepath.Join(t.dir, pinDir, task), b, false)
}

// repin changes what is kept for a task: entries take the places of those that go.
func (t *Tree) repin(task string, gone map[string]bool, entries []Entry) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := filepath.Join(pinDir, task)
	m, _, err := t.load(name)
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(m.entries, func(e Entry) bool { return gone[e.Path] })
	all = append(all, entries...)
	sortEntries(all)
	return replaceFile(filepath.Join(t.dir, name), newManifest(adopt(all)).encode(nil), false)
}

func (t *Tree) unpin(task string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := os.Remove(filepath.Join(t.dir, pinDir, task))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// changing is a change of a tree that is under way: packs are added, then commit makes
// it happen, or undo leaves all as it was.
type changing struct {
	*view
	packs *packs
	done  bool
}

// begin starts a change; there is one at a time.
func (t *Tree) begin() (*changing, error) {
	t.change.Lock()
	v, err := t.view()
	if err != nil {
		t.change.Unlock()
		return nil, err
	}
	return &changing{view: v, packs: &packs{dir: v.packs, last: highest(v.manifest.entries)}}, nil
}

func highest(entries []Entry) uint64 {
	n := uint64(0)
	for i := range entries {
		n = max(n, entries[i].at.pack)
	}
	return n
}

// end releases the tree; what was not committed is undone.
func (c *changing) end() {
	if !c.done {
		c.packs.undo()
	}
	c.view.close()
	if c.done {
		c.tree.collect()
	}
	c.tree.change.Unlock()
}

// commit makes entries, which are sorted, the tree's. All of them are in packs.
func (c *changing) commit(entries []Entry, answers []answer) (*Manifest, error) {
	limits := c.tree.store.options.Limits
	m := newManifest(entries)
	if len(entries) > limits.Files {
		return nil, failf(ErrTooLarge, "the filesystem would have more than %d files", limits.Files)
	}
	if m.bytes > limits.Bytes {
		return nil, failf(ErrTooLarge, "the filesystem would have more than %d bytes", limits.Bytes)
	}
	t := c.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return nil, noTree(t.id)
	}
	if err := replaceFile(filepath.Join(t.dir, "manifest"), m.encode(answers), true); err != nil {
		return nil, err
	}
	c.done = true
	return m, nil
}

// roots gives all manifests whose contents must stay, by their files' names.
func (t *Tree) roots() (map[string]*Manifest, error) {
	roots := map[string]*Manifest{}
	m, _, err := t.load("manifest")
	if err != nil {
		return nil, err
	}
	roots["manifest"] = m
	pins, err := os.ReadDir(filepath.Join(t.dir, pinDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, p := range pins {
		if strings.HasSuffix(p.Name(), ".new") {
			continue // left by a death
		}
		name := filepath.Join(pinDir, p.Name())
		if roots[name], _, err = t.load(name); err != nil {
			return nil, err
		}
	}
	return roots, nil
}

// collect removes packs that no manifest names, when nobody reads. The caller holds
// change. It never fails: what stays is removed another time.
func (t *Tree) collect() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.readers > 0 || t.gone {
		return
	}
	roots, err := t.roots()
	if err != nil {
		return
	}
	dir, err := openFolder(filepath.Join(t.dir, "packs"))
	if err != nil {
		return
	}
	defer dir.close()
	list, err := dir.list(1 << 20)
	if err != nil {
		return
	}
	live := map[uint64]int64{}
	for _, m := range roots {
		packs := map[uint64]int64{}
		for i := range m.entries {
			packs[m.entries[i].at.pack] += m.entries[i].Size
		}
		for n, bytes := range packs {
			live[n] = max(live[n], bytes)
		}
	}
	var poor []uint64
	for _, e := range list {
		n, ok := packNumber(e.Name())
		if !ok {
			continue
		}
		bytes, used := live[n]
		if !used {
			_ = dir.remove(e.Name(), false)
			continue
		}
		if st, err := dir.stat(e.Name()); err == nil && (bytes < st.size/2 || st.size < packPoor) && st.size <= packFull+packSmall {
			poor = append(poor, n)
		}
	}
	if len(poor) > manyPacks {
		t.compact(dir, roots, poor)
	}
}

const (
	packPoor  = 256 << 10 // packs that are smaller are worth being joined
	manyPacks = 64        // when there are so many
)

// compact copies what lives in poor packs into new ones. Each manifest is right before
// and after its rename; the old packs go at the next collection.
func (t *Tree) compact(dir *folder, roots map[string]*Manifest, poor []uint64) {
	last := uint64(0)
	for _, m := range roots {
		last = max(last, highest(m.entries))
	}
	p := newPacker(&packs{dir: dir, last: last}, true)
	shelf := newShelf(dir)
	defer shelf.close()
	moved := map[place]place{}
	buf := make([]byte, packSmall)
	for name, m := range roots {
		entries, changed := slices.Clone(m.entries), false
		for i := range entries {
			e := &entries[i]
			if e.at.pack == 0 || e.Size > packSmall || !slices.Contains(poor, e.at.pack) {
				continue
			}
			to, ok := moved[e.at]
			if !ok {
				section, err := shelf.section(e)
				if err != nil {
					return
				}
				if _, err := section.ReadAt(buf[:e.Size], 0); err != nil {
					return
				}
				if _, _, to, err = p.addBytes(buf[:e.Size], func(Digest) (place, bool) { return place{}, false }); err != nil {
					return
				}
				moved[e.at] = to
			}
			e.at, changed = to, true
		}
		if err := p.close(); err != nil || !changed {
			if err != nil {
				return
			}
			continue
		}
		_, answers, err := t.load(name)
		if err != nil {
			return
		}
		if replaceFile(filepath.Join(t.dir, name), newManifest(entries).encode(answers), true) != nil {
			return
		}
	}
}
