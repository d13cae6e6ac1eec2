package workspace

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
)

// Prefer decides conflicts.
type Prefer string

// What a conflict is decided for.
const (
	Neither         Prefer = ""           // conflicts are reported and stay
	PreferWorkspace Prefer = "workspace"  // the task's
	PreferSource    Prefer = "filesystem" // the other side's
)

// Synced is what a synchronisation did.
type Synced struct {
	Version   string   `json:"version"`       // the filesystem's, afterwards
	Changed   []string `json:"files_changed"` // paths written or removed on the side that was brought up to date; at most 1000
	Count     int      `json:"count"`         // of all that changed
	Conflicts []string `json:"conflicts"`     // changed on both sides, and left as they are on both; at most 1000
	Skipped   []string `json:"skipped"`       // not kept: devices, sockets, FIFOs, unreadable files; at most 1000
}

func (s *Synced) change(path string) {
	s.Count++
	if len(s.Changed) < maxListed {
		s.Changed = append(s.Changed, path)
	}
}

func (s *Synced) conflict(path string) {
	if len(s.Conflicts) < maxListed {
		s.Conflicts = append(s.Conflicts, path)
	}
}

// whole makes lists of what is nil, for JSON.
func (s *Synced) whole() Synced {
	for _, list := range []*[]string{&s.Changed, &s.Conflicts, &s.Skipped} {
		if *list == nil {
			*list = []string{}
		}
	}
	return *s
}

// syncing is a synchronisation: three trees, of which base is what both sides were
// when they last met.
type syncing struct {
	w      *Workspace
	r      *record
	ctx    context.Context
	prefer Prefer
	top    *folder
	base   *Manifest
	local  *scanned
	index  *index
	out    Synced
}

// SyncDown brings what changed in the filesystem into the workspace (U2, U4): before
// creation's hooks and before events. For kinds without a filesystem it does nothing.
// A death in the midst leaves each file old or new, and the next SyncDown goes on.
func (w *Workspace) SyncDown(ctx context.Context, prefer Prefer) (Synced, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return Synced{}, err
	}
	defer unlock()
	if r.Filesystem == "" {
		return (&Synced{}).whole(), nil
	}
	t, err := w.store.Tree(r.Filesystem)
	if err != nil {
		return Synced{}, err
	}
	s := &syncing{w: w, r: r, ctx: ctx, prefer: prefer}
	now, err := t.Summary()
	if err != nil {
		return Synced{}, err
	}
	if s.top, err = r.open(); err != nil {
		return Synced{}, err
	}
	defer s.top.close()
	if known, err := w.baseVersion(); err == nil && known == now.Version && prefer != PreferSource && !w.interrupted() {
		s.out.Version = now.Version
		return s.out.whole(), nil
	}
	return s.down(t)
}

func (s *syncing) down(t *Tree) (Synced, error) {
	v, err := t.view()
	if err != nil {
		return Synced{}, err
	}
	defer v.close()
	if err := s.look(); err != nil {
		return Synced{}, err
	}
	local := s.localEntries()
	s.recover(v.manifest, local)
	met, change := s.compare(v.manifest, local, true)
	s.index = learn(s.local.files, s.local.at)
	a := &applier{ctx: s.ctx, top: s.top, stage: s.w.path(stageName), from: v.shelf, index: s.index, seen: s.seen()}
	if err := s.intend(change, true); err != nil {
		return Synced{}, err
	}
	if err := a.apply(change); err != nil {
		return Synced{}, err
	}
	gone, came := map[string]bool{}, []Entry(nil)
	for _, c := range change {
		if a.missed[c.path] {
			s.out.conflict(c.path) // the agent was faster
			delete(met, c.path)
			if b, ok := s.base.find(c.path); ok {
				met[c.path] = b
			}
			continue
		}
		s.out.change(c.path)
		gone[c.path] = true
		if c.to != nil {
			came = append(came, *c.to)
		}
	}
	// What others did is not this task's, in comparisons.
	if err := t.repin(s.w.id, gone, came); err != nil {
		return Synced{}, err
	}
	s.out.Version = v.manifest.version
	s.out.Skipped = s.local.skipped
	return s.out.whole(), errors.Join(s.index.save(s.w.path(indexName)), s.agree(met))
}

// SyncUp brings what changed in the workspace into the filesystem, as one change of
// its version, and of a worktree what a sandboxed agent committed into the repository
// (U2, U4): after creation's hooks and after events, not around cancel (U5).
func (w *Workspace) SyncUp(ctx context.Context, prefer Prefer) (Synced, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return Synced{}, err
	}
	defer unlock()
	switch {
	case r.Kind == Worktree:
		top, err := r.open()
		if err != nil {
			return Synced{}, err
		}
		top.close()
		return (&Synced{}).whole(), w.takeCommits(ctx, r)
	case r.Filesystem == "" || r.NoUpdate:
		return (&Synced{}).whole(), nil
	}
	t, err := w.store.Tree(r.Filesystem)
	if err != nil {
		return Synced{}, err
	}
	s := &syncing{w: w, r: r, ctx: ctx, prefer: prefer}
	if s.top, err = r.open(); err != nil {
		return Synced{}, err
	}
	defer s.top.close()
	if err := s.look(); err != nil {
		return Synced{}, err
	}
	if s.unchanged() && !w.interrupted() {
		now, err := t.Summary()
		s.out.Version, s.out.Skipped = now.Version, s.local.skipped
		return s.out.whole(), err
	}
	return s.up(t)
}

// seen gives the stamps of the scan.
func (s *syncing) seen() func(string) (stamp, bool) {
	stamps := make(map[string]stamp, len(s.local.files))
	for i := range s.local.files {
		stamps[s.local.files[i].Path] = s.local.files[i].stamp
	}
	return func(path string) (stamp, bool) {
		st, ok := stamps[path]
		return st, ok
	}
}

// look reads what is known and what is there.
func (s *syncing) look() error {
	b, err := os.ReadFile(s.w.path(baseName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.base, _, err = decodeManifest(b); err != nil {
		// Without it, what differs is a conflict: nothing is lost by that.
		s.base = newManifest(nil)
	}
	s.index = loadIndex(s.w.path(indexName))
	s.local, err = (&scanner{ctx: s.ctx, limits: s.w.store.options.Limits, index: s.index}).scan(s.top)
	if err != nil {
		return err
	}
	return s.hash()
}

// unchanged reports whether the workspace is what it was at the last synchronisation.
func (s *syncing) unchanged() bool {
	if len(s.local.files) != len(s.base.entries) {
		return false
	}
	for i := range s.base.entries {
		if !s.local.files[i].known || !s.local.files[i].same(s.base.entries[i]) {
			return false
		}
	}
	return true
}

// hash completes the checksums of files that the index does not know, without
// keeping their contents. What can't be read is left out.
func (s *syncing) hash() error {
	im := importer{ctx: s.ctx, top: s.top}
	return im.measure(s.local)
}

func (s *syncing) localEntries() []Entry {
	entries := make([]Entry, len(s.local.files))
	for i := range s.local.files {
		entries[i] = s.local.files[i].Entry
	}
	return entries
}

func (s *syncing) up(t *Tree) (Synced, error) {
	c, err := t.begin()
	if err != nil {
		return Synced{}, err
	}
	defer c.end()
	local := s.localEntries()
	s.recover(c.manifest, local)
	met, change := s.compare(c.manifest, local, false)
	s.out.Version, s.out.Skipped = c.manifest.version, s.local.skipped
	if len(change) > 0 {
		if err := s.commit(c, change, met); err != nil {
			return Synced{}, err
		}
	}
	for _, ch := range change {
		s.out.change(ch.path)
	}
	return s.out.whole(), errors.Join(learn(s.local.files, s.local.at).save(s.w.path(indexName)), s.agree(met))
}

// agree keeps what both sides are agreed on.
func (s *syncing) agree(met map[string]*Entry) error {
	if err := replaceFile(s.w.path(baseName), agreed(met).encode(nil), false); err != nil {
		return err
	}
	if err := os.Remove(s.w.path(pendingName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// commit brings the changes into the filesystem, and corrects what is agreed on.
func (s *syncing) commit(c *changing, change []change, met map[string]*Entry) error {
	var wanted []found
	gone := map[string]bool{}
	for _, ch := range change {
		gone[ch.path] = true
		if ch.to != nil {
			wanted = append(wanted, found{Entry: *ch.to, known: true})
		}
	}
	im := importer{ctx: s.ctx, top: s.top, packs: c.packs, have: c.manifest.sums(), sync: true}
	list := &scanned{files: wanted}
	sent, err := im.take(list)
	if err != nil {
		return err
	}
	entries := slices.DeleteFunc(slices.Clone(c.manifest.entries), func(e Entry) bool { return gone[e.Path] })
	entries = append(entries, sent...)
	sortEntries(entries)
	for i := range change {
		if at, ok := slices.BinarySearchFunc(sent, change[i].path, func(e Entry, p string) int { return cmp.Compare(e.Path, p) }); ok {
			change[i].to = &sent[at] // what was read may be newer
		}
	}
	if err := s.intend(change, false); err != nil {
		return err
	}
	m, err := c.commit(adopt(entries), c.answers)
	if err != nil {
		return err
	}
	s.out.Version = m.version
	for path := range gone { // what was read may be newer, or no longer there
		delete(met, path)
		if e, ok := m.find(path); ok {
			met[path] = e
		}
	}
	return nil
}

// adopt leaves out entries whose directory is none: the other side made it something
// else.
func adopt(entries []Entry) []Entry {
	dirs := map[string]bool{"": true}
	return slices.DeleteFunc(entries, func(e Entry) bool {
		if dir, _ := parent(e.Path); !dirs[dir] {
			return true
		}
		if e.Mode.IsDir() {
			dirs[e.Path] = true
		}
		return false
	})
}

// baseVersion is the version of the last synchronisation, without the rest.
func (w *Workspace) baseVersion() (string, error) {
	b, err := readHead(w.path(baseName), len(manifestMagic)+1+64)
	if err != nil {
		return "", err
	}
	return string(b[len(manifestMagic)+1:]), nil
}
