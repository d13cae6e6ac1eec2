package workspace

import (
	"context"
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

// syncing is a synchronisation: three trees, of which base is what both sides were
// when they last met.
type syncing struct {
	w      *Workspace
	r      *record
	ctx    context.Context
	prefer Prefer
	top    *folder
	base   *sheet
	local  *scanned
	index  index
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
	now, err := t.Summary()
	if err != nil {
		return Synced{}, err
	}
	s := &syncing{w: w, r: r, ctx: ctx, prefer: prefer}
	if s.top, err = r.open(); err != nil {
		return Synced{}, err
	}
	defer s.top.close()
	if known, err := loadHead(w.path(baseName)); err == nil && known.Version == now.Version && prefer != PreferSource && !known.Interrupted {
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
	local := s.local.entries()
	s.recover(v.Manifest, local)
	met, changes := s.compare(v.Manifest, local, true)
	if err := s.intend(changes, true); err != nil {
		return Synced{}, err
	}
	a := &applier{ctx: s.ctx, top: s.top, stage: s.w.path(stageName), from: v.source(), index: s.index, seen: map[string]stamp{}}
	for i := range s.local.files {
		a.seen[s.local.files[i].Path] = s.local.files[i].stamp
	}
	if err := a.apply(changes); err != nil {
		return Synced{}, err
	}
	gone, came := map[string]bool{}, []Entry(nil)
	for _, c := range changes {
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
	s.out.Version, s.out.Skipped = v.Version(), s.local.skipped
	return s.out.whole(), s.agree(met)
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
	if s.unchanged() && len(s.base.pending) == 0 {
		now, err := t.Summary()
		s.out.Version, s.out.Skipped = now.Version, s.local.skipped
		return s.out.whole(), err
	}
	return s.up(t)
}

// loadBase reads what both sides were when they last met, and what was pending.
// Whatever is wrong with it, the answer is a base: without it what differs is a
// conflict, and nothing is lost by that.
func (w *Workspace) loadBase() *sheet {
	b, err := os.ReadFile(w.path(baseName))
	if err == nil {
		if base, err := decodeSheet(b); err == nil {
			return base
		}
	}
	return &sheet{Manifest: newManifest(nil)}
}

// scan says what is in the workspace, with all checksums. What can't be read is left out.
func (w *Workspace) contents(ctx context.Context, top *folder, known index) (*scanned, error) {
	local, err := scan(ctx, top, w.store.limits, known, nil)
	if err != nil {
		return nil, err
	}
	return local, take(ctx, top, local, nil)
}

// look reads what is known and what is there.
func (s *syncing) look() (err error) {
	s.base = s.w.loadBase()
	if s.local, err = s.w.contents(s.ctx, s.top, s.base.index); err == nil {
		s.index = learn(s.local.files, s.local.at)
	}
	return err
}

// unchanged reports whether the workspace is what it was at the last synchronisation.
func (s *syncing) unchanged() bool {
	return slices.EqualFunc(s.local.files, s.base.entries, func(f found, e Entry) bool { return f.same(e) })
}

func (s *syncing) up(t *Tree) (Synced, error) {
	c, err := t.prepare()
	if err != nil {
		return Synced{}, err
	}
	defer c.end()
	if err := c.begin(""); err != nil {
		return Synced{}, err
	}
	local := s.local.entries()
	s.recover(c.Manifest, local)
	met, changes := s.compare(c.Manifest, local, false)
	s.out.Version, s.out.Skipped = c.Version(), s.local.skipped
	if len(changes) > 0 {
		if err := s.commit(c, changes, met); err != nil {
			return Synced{}, err
		}
	}
	for _, ch := range changes {
		s.out.change(ch.path)
	}
	return s.out.whole(), s.agree(met)
}

// commit brings the changes into the filesystem, and corrects what is agreed on.
func (s *syncing) commit(c *changing, changes []change, met map[string]*Entry) error {
	sent := &scanned{}
	gone := map[string]bool{}
	for _, ch := range changes {
		gone[ch.path] = true
		if ch.to != nil {
			sent.files = append(sent.files, found{Entry: *ch.to, known: true})
		}
	}
	if err := take(s.ctx, s.top, sent, c.packs); err != nil {
		return err
	}
	come := sent.entries()
	for i := range changes {
		if at, ok := search(come, changes[i].path); ok {
			changes[i].to = &come[at] // what was read may be newer
		}
	}
	if err := s.intend(changes, false); err != nil {
		return err
	}
	m, err := c.commit(c.replace(gone, come))
	if err != nil {
		return err
	}
	s.out.Version = m.Version()
	for path := range gone { // what was read may be newer, or no longer there
		delete(met, path)
		if e, ok := m.find(path); ok {
			met[path] = e
		}
	}
	return nil
}

// A synchronisation first notes what it is about to do. If it dies between doing that
// and noting that both sides agree, the next one knows what one side has of the other,
// and takes no change that comes after for one that both made.

// intend notes the changes.
func (s *syncing) intend(changes []change, down bool) error {
	if len(changes) == 0 {
		return nil
	}
	s.base.pending, s.base.down = changes, down
	return replaceFile(s.w.path(baseName), s.base.encode(), false)
}

// recover corrects the base by what a synchronisation that died was about to do. What
// the side that it changed has of it, both had.
func (s *syncing) recover(remote *Manifest, local []Entry) {
	if len(s.base.pending) == 0 {
		return
	}
	side := entryMap(remote.entries)
	if s.base.down {
		side = entryMap(local)
	}
	base := entryMap(s.base.entries)
	for _, c := range s.base.pending {
		if equal(side[c.path], c.to) {
			base[c.path] = c.to
		}
	}
	s.base = &sheet{Manifest: agreed(base), index: s.base.index}
}

// agree keeps what both sides are agreed on.
func (s *syncing) agree(met map[string]*Entry) error {
	return replaceFile(s.w.path(baseName), (&sheet{Manifest: agreed(met), index: s.index}).encode(), false)
}
