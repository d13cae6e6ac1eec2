package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"tandemux/host/workspace/filetree"
)

// Prefer says which side's changes win conflicts.
type Prefer string

// The values of Prefer.
const (
	Neither         Prefer = ""           // conflicts are reported and stay
	PreferWorkspace Prefer = "workspace"  // the task's changes win
	PreferSource    Prefer = "filesystem" // the other side's changes win
)

// syncing is a synchronisation of two sides. base is what both were when they were last synchronised.
type syncing struct {
	w      *Workspace
	r      *record
	ctx    context.Context
	prefer Prefer
	only   []string // files and directories to which prefer applies; empty means all
	top    *filetree.Folder
	base   *filetree.Sheet
	local  *filetree.Scanned
	out    filetree.Synced
}

// both opens both sides.
func (w *Workspace) both(ctx context.Context, r *record, prefer Prefer) (*syncing, *filetree.Tree, error) {
	t, err := w.store.Tree(r.Filesystem)
	if err != nil {
		return nil, nil, err
	}
	top, err := r.open()
	return &syncing{w: w, r: r, ctx: ctx, prefer: prefer, top: top}, t, err
}

// preferred reports whether side wins a conflict at a path.
func (s *syncing) preferred(side Prefer, path string) bool {
	return s.prefer == side && (len(s.only) == 0 || slices.ContainsFunc(s.only, func(dir string) bool { return filetree.Under(path, dir) }))
}

// settled stores which conflicts there are now.
func (s *syncing) settled() error {
	if slices.Equal(s.r.Conflicts, s.out.Conflicts) {
		return nil
	}
	s.r.Conflicts = s.out.Conflicts
	return s.w.save(s.r)
}

// SyncDown copies changes of the filesystem into the workspace (U2, U4), before creation's hooks and
// before events. Without a filesystem it does nothing. If the host dies meanwhile, each file is old or
// new, and the next SyncDown continues.
func (w *Workspace) SyncDown(ctx context.Context, prefer Prefer) (filetree.Synced, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return filetree.Synced{}, err
	}
	defer unlock()
	return w.syncDown(ctx, r, prefer)
}

func (w *Workspace) syncDown(ctx context.Context, r *record, prefer Prefer, only ...string) (filetree.Synced, error) {
	if r.Filesystem == "" {
		return (&filetree.Synced{}).Whole(), nil
	}
	s, t, err := w.both(ctx, r, prefer)
	if err != nil {
		return filetree.Synced{}, err
	}
	defer s.top.Close()
	s.only = only
	now, err := t.Summary()
	if err != nil {
		return filetree.Synced{}, err
	}
	if known, err := filetree.LoadHead(w.path(baseName)); err == nil && known.Version == now.Version && prefer != PreferSource && !known.Interrupted {
		s.out.Version = now.Version
		return s.out.Whole(), nil
	}
	return s.down(t)
}

func (s *syncing) down(t *filetree.Tree) (filetree.Synced, error) {
	v, err := t.View()
	if err != nil {
		return filetree.Synced{}, err
	}
	defer v.Close()
	if err := s.look(); err != nil {
		return filetree.Synced{}, err
	}
	s.recover(v.Manifest)
	met, changes := s.compare(v.Manifest, true)
	if err := s.intend(changes, true); err != nil {
		return filetree.Synced{}, err
	}
	a := &filetree.Applier{Ctx: s.ctx, Top: s.top, Stage: s.w.path(stageName), From: v.Source(), Careful: true}
	if err := a.Apply(changes); err != nil {
		return filetree.Synced{}, err
	}
	gone, came := map[string]bool{}, []filetree.Entry(nil)
	for _, c := range changes {
		if a.Missed[c.Path] {
			s.out.Conflict(c.Path) // the agent has changed it meanwhile
			delete(met, c.Path)
			if b, ok := s.base.Find(c.Path); ok {
				met[c.Path] = b
			}
			continue
		}
		s.out.Change(c.Path)
		gone[c.Path] = true
		if c.To != nil {
			came = append(came, *c.To)
		}
	}
	// Other tasks' changes must not count as this task's in comparisons.
	if err := t.Repin(s.w.id, gone, came); err != nil {
		return filetree.Synced{}, err
	}
	s.out.Version, s.out.Skipped = v.Version(), s.local.Skipped
	return s.out.Whole(), errors.Join(s.agree(met, gone), s.settled())
}

// SyncUp copies changes of the workspace into the filesystem, as one change of its version, and of a
// worktree what a sandboxed agent committed into the repository (U2, U4). It is called after
// creation's hooks and after events, not around a cancel (U5).
func (w *Workspace) SyncUp(ctx context.Context, prefer Prefer) (filetree.Synced, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return filetree.Synced{}, err
	}
	defer unlock()
	return w.syncUp(ctx, r, prefer)
}

func (w *Workspace) syncUp(ctx context.Context, r *record, prefer Prefer, only ...string) (filetree.Synced, error) {
	switch {
	case r.Kind == Worktree:
		top, err := r.open()
		if err != nil {
			return filetree.Synced{}, err
		}
		top.Close()
		return (&filetree.Synced{}).Whole(), w.takeCommits(ctx, r)
	case r.Filesystem == "" || r.NoUpdate:
		return (&filetree.Synced{}).Whole(), nil
	}
	s, t, err := w.both(ctx, r, prefer)
	if err != nil {
		return filetree.Synced{}, err
	}
	defer s.top.Close()
	s.only = only
	if err := s.look(); err != nil {
		return filetree.Synced{}, err
	}
	if len(s.base.Pending) == 0 && slices.EqualFunc(s.local.Files, s.base.Entries, filetree.Entry.Same) {
		now, err := t.Summary()
		s.out.Version, s.out.Skipped = now.Version, s.local.Skipped
		return s.out.Whole(), errors.Join(err, s.settled())
	}
	return s.up(t)
}

// loadBase reads what both sides were at the last synchronisation, and what was pending. If that can't
// be read it returns an empty base: then every difference is a conflict, and nothing is lost.
func (w *Workspace) loadBase() *filetree.Sheet {
	if b, err := os.ReadFile(w.path(baseName)); err == nil {
		if base, err := filetree.DecodeSheet(b); err == nil {
			return base
		}
	}
	return &filetree.Sheet{Manifest: filetree.NewManifest(nil)}
}

// contents lists what is in the workspace, with all checksums. What can't be read is left out.
func (w *Workspace) contents(ctx context.Context, top *filetree.Folder, known []filetree.Entry) (*filetree.Scanned, error) {
	local, err := filetree.Scan(ctx, top, w.store.Limits, known, nil)
	if err != nil {
		return nil, err
	}
	return local, filetree.Take(ctx, top, local, nil)
}

// look reads the base and the workspace.
func (s *syncing) look() (err error) {
	s.base = s.w.loadBase()
	s.local, err = s.w.contents(s.ctx, s.top, s.base.Entries)
	return err
}

func (s *syncing) up(t *filetree.Tree) (filetree.Synced, error) {
	c, err := t.Prepare()
	if err != nil {
		return filetree.Synced{}, err
	}
	defer c.End()
	if err := c.Begin(""); err != nil {
		return filetree.Synced{}, err
	}
	s.recover(c.Manifest)
	met, changes := s.compare(c.Manifest, false)
	s.out.Version, s.out.Skipped = c.Version(), s.local.Skipped
	if len(changes) > 0 {
		if err := s.commit(c, changes, met); err != nil {
			return filetree.Synced{}, err
		}
	}
	for _, ch := range changes {
		s.out.Change(ch.Path)
	}
	return s.out.Whole(), errors.Join(s.agree(met, nil), s.settled())
}

// commit writes the changes into the filesystem, and updates met.
func (s *syncing) commit(c *filetree.Changing, changes []filetree.Change, met map[string]*filetree.Entry) error {
	sent := &filetree.Scanned{}
	gone := map[string]bool{}
	for _, ch := range changes {
		gone[ch.Path] = true
		if ch.To != nil {
			sent.Files = append(sent.Files, *ch.To)
		}
	}
	if err := filetree.Take(s.ctx, s.top, sent, c.Packs); err != nil {
		return err
	}
	come := sent.Files
	for i := range changes {
		if at, ok := filetree.Search(come, changes[i].Path); ok {
			changes[i].To = &come[at] // it may be newer than the one that was compared
		}
	}
	if err := s.intend(changes, false); err != nil {
		return err
	}
	m, err := c.Commit(c.Replace(gone, come))
	if err != nil {
		return err
	}
	s.out.Version = m.Version()
	for path := range gone { // it may be newer than the one that was compared, or gone
		delete(met, path)
		if e, ok := m.Find(path); ok {
			met[path] = e
		}
	}
	return nil
}

// intend notes what a synchronisation is about to change. If the host dies before both sides are noted
// as agreed, the next synchronisation knows what one side got from the other, and does not take it for
// a change by both.

func (s *syncing) intend(changes []filetree.Change, down bool) error {
	if len(changes) == 0 {
		return nil
	}
	s.base.Pending, s.base.Down = changes, down
	return filetree.ReplaceFile(s.w.path(baseName), s.base.Encode(), false)
}

// recover updates the base with what a synchronisation that died was about to change, as far as the
// changed side has it.
func (s *syncing) recover(remote *filetree.Manifest) {
	if len(s.base.Pending) == 0 {
		return
	}
	side := entryMap(remote.Entries)
	if s.base.Down {
		side = entryMap(s.local.Files)
	}
	base := entryMap(s.base.Entries)
	for _, c := range s.base.Pending {
		if filetree.Equal(side[c.Path], c.To) {
			base[c.Path] = c.To
		}
	}
	s.base = &filetree.Sheet{Manifest: agreed(base), Local: true}
}

// agree stores what both sides agree on, with the files' stamps. A file that changed just before it
// was read could change again within the same clock tick, so its stamp is dropped; files that were
// written here keep theirs.
func (s *syncing) agree(met map[string]*filetree.Entry, written map[string]bool) error {
	m := agreed(met)
	for i := range m.Entries {
		if e := &m.Entries[i]; !written[e.Path] && !e.Stamp.Settled(s.local.At) {
			e.Stamp = filetree.Stamp{}
		}
	}
	return filetree.ReplaceFile(s.w.path(baseName), (&filetree.Sheet{Manifest: m, Local: true}).Encode(), false)
}

// ResolveOptions says whose changes win where both sides changed a file.
type ResolveOptions struct {
	// Keep is the side: PreferWorkspace or PreferSource.
	Keep Prefer
	// Paths are files and directories; empty means all.
	Paths []string
	Ready
}

// Conflict says which files were changed both by a task and in its filesystem, so that they were not
// copied there. It is "" if there are none, and for a worktree.
func (i Info) Conflict(task string) string {
	if i.Filesystem == "" || len(i.Conflicts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s changed both here and in the filesystem, and stayed as they are on both sides: `tandemux ws resolve %s` names them, with --keep task or --keep filesystem it decides", filetree.Listed(i.Conflicts, 1), task)
}

// Resolve resolves conflicts with a filesystem by one side's files. Other changes are synchronised,
// too.
func (w *Workspace) Resolve(ctx context.Context, o ResolveOptions) (filetree.Synced, error) {
	for _, p := range o.Paths {
		if err := filetree.CheckPath(p); err != nil {
			return filetree.Synced{}, err
		}
	}
	r, unlock, err := w.begin()
	if err != nil {
		return filetree.Synced{}, err
	}
	defer unlock()
	switch {
	case r.Kind == Worktree:
		return filetree.Synced{}, filetree.Failf(filetree.ErrUnsupported, "conflicts of a worktree are resolved in its files: `tandemux ws update %s` has them, and its agent resolve them", r.name())
	case r.Filesystem == "":
		return filetree.Synced{}, filetree.Failf(filetree.ErrUnsupported, "a workspace of kind %s is synchronised with nothing", r.Kind)
	case o.Keep == PreferWorkspace && r.NoUpdate:
		return filetree.Synced{}, filetree.Failf(filetree.ErrUnsupported, "the filesystem %s may only be read by task %s", r.Filesystem, r.ID)
	}
	if err := o.check(); err != nil {
		return filetree.Synced{}, err
	}
	if o.Keep == PreferWorkspace {
		return w.syncUp(ctx, r, o.Keep, o.Paths...)
	}
	return w.syncDown(ctx, r, o.Keep, o.Paths...)
}
