package filetree

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

func PinName(task string) string { return filepath.Join(pinDir, task) }

// Pin keeps the current version's contents for a task until Unpin.
func (t *Tree) Pin(task string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, err := os.ReadFile(filepath.Join(t.dir, manifestName))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(t.dir, pinDir), 0o700); err != nil {
		return Full(err)
	}
	return ReplaceFile(filepath.Join(t.dir, PinName(task)), b, false)
}

// Repin changes what is kept for a task: entries take the places of those that go.
func (t *Tree) Repin(task string, gone map[string]bool, entries []Entry) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.load(PinName(task))
	if err != nil {
		return err
	}
	now := &Sheet{Manifest: NewManifest(s.Replace(gone, entries))}
	return ReplaceFile(filepath.Join(t.dir, PinName(task)), now.Encode(), false)
}

func (t *Tree) Unpin(task string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := os.Remove(filepath.Join(t.dir, PinName(task)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// damaged returns the error for a damaged entry of the tree.
func (t *Tree) damaged(err error) error {
	return Failf(ErrDamaged, "the filesystem %s is damaged; nothing of it was changed: %w", t.id, err)
}

// load reads a manifest of the tree, the current one or a pin.
func (t *Tree) load(name string) (*Sheet, error) {
	b, err := os.ReadFile(filepath.Join(t.dir, name))
	if err != nil {
		return nil, err
	}
	s, err := DecodeSheet(b)
	if err == nil {
		err = t.formerTargets(s)
	}
	if err != nil {
		return nil, t.damaged(err)
	}
	return s, nil
}

// LoadHead reads the beginning of a sheet.
func LoadHead(file string) (sheetHead, error) {
	f, err := os.Open(file)
	if err != nil {
		return sheetHead{}, err
	}
	defer f.Close()
	var head sheetHead
	if gob.NewDecoder(f).Decode(&head) == nil {
		return head, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return sheetHead{}, err
	}
	s, err := DecodeSheet(b)
	if err != nil {
		return sheetHead{}, err
	}
	return s.head(), nil
}

// Summary reads only the beginning of the manifest.
func (t *Tree) Summary() (Summary, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.gone {
		return Summary{}, noTree(t.id)
	}
	head, err := LoadHead(filepath.Join(t.dir, manifestName))
	if err != nil {
		return Summary{}, t.damaged(err)
	}
	return head.Summary, nil
}

// View is a version of the tree. Until it is closed no pack is removed, not even one that no manifest
// names yet.
type View struct {
	*Sheet
	tree *Tree
	dir  *Folder
}

func (t *Tree) View() (*View, error) { return t.ViewOf(manifestName) }

// ViewOf gives the tree as a manifest's file says.
func (t *Tree) ViewOf(name string) (*View, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return nil, noTree(t.id)
	}
	s, err := t.load(name)
	if err != nil {
		return nil, err
	}
	dir, err := OpenFolder(filepath.Join(t.dir, packsName))
	if err != nil {
		return nil, t.damaged(err)
	}
	t.readers++
	return &View{Sheet: s, tree: t, dir: dir}, nil
}

func (v *View) Source() Source { return Source{Top: v.dir, Stored: true} }

func (v *View) Close() {
	v.dir.Close()
	v.tree.mu.Lock()
	v.tree.readers--
	v.tree.mu.Unlock()
}

// Changing is a change of a tree. Contents are added to its view; then Begin waits for other changes,
// and Commit makes it happen.
type Changing struct {
	*View
	Packs *packs
	begun bool
}

// Prepare starts a change. Nobody waits for contents that come slowly, but for what
// follows begin.
func (t *Tree) Prepare() (*Changing, error) {
	v, err := t.View()
	if err != nil {
		return nil, err
	}
	return &Changing{View: v, Packs: newPacks(v.dir, true, v.Entries)}, nil
}

// Begin goes on with the version of now, which base names if it is not empty; there is
// one such change at a time.
func (c *Changing) Begin(base string) error {
	c.tree.change.Lock()
	c.begun = true
	s, err := c.tree.load(manifestName)
	if err != nil {
		return err
	}
	if base != "" && base != s.version {
		return Failf(ErrConflict, "the filesystem is at version %s, not at baseVersion; read it again", s.version)
	}
	c.Sheet = s
	return nil
}

// End releases the tree and drops what was added but not committed.
func (c *Changing) End() {
	_ = c.Packs.close()
	c.Close()
	if !c.begun {
		c.tree.change.Lock()
	}
	defer c.tree.change.Unlock()
	c.tree.collect()
}

// Commit makes entries, which are sorted, the tree's. The contents of all are in packs.
func (c *Changing) Commit(entries []Entry) (*Manifest, error) {
	if err := c.Packs.close(); err != nil {
		return nil, err
	}
	t := c.tree
	limits := t.store.Limits
	m := NewManifest(entries)
	if len(entries) > limits.Files {
		return nil, Failf(ErrTooLarge, "the filesystem would have more than %d files", limits.Files)
	}
	if m.bytes > limits.Bytes {
		return nil, Failf(ErrTooLarge, "the filesystem would have more than %d bytes", limits.Bytes)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return nil, noTree(t.id)
	}
	return m, ReplaceFile(filepath.Join(t.dir, manifestName), (&Sheet{Manifest: m, answers: c.answers}).Encode(), true)
}

// collect removes packs that no manifest names, while nobody reads or adds any. The caller holds
// change. Errors are ignored, as the next call tries again.
func (t *Tree) collect() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.readers > 0 || t.gone {
		return
	}
	names := []string{manifestName}
	pins, err := os.ReadDir(filepath.Join(t.dir, pinDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, p := range pins {
		if !strings.HasSuffix(p.Name(), ".new") { // left by a death
			names = append(names, PinName(p.Name()))
		}
	}
	live := map[string]bool{}
	for _, name := range names {
		s, err := t.load(name)
		if err != nil {
			return
		}
		for i := range s.Entries {
			live[packName(s.Entries[i].at.pack)] = true
		}
	}
	packs, _ := os.ReadDir(filepath.Join(t.dir, packsName))
	for _, p := range packs {
		if !live[p.Name()] {
			_ = os.Remove(filepath.Join(t.dir, packsName, p.Name()))
		}
	}
}
