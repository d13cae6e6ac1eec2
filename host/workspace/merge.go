package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/merge"
)

// MergeOptions says how to merge.
type MergeOptions struct {
	// Message is the commit's message, of a worktree; empty means one about the work.
	Message string
	// DryRun changes nothing and returns what would be done.
	DryRun bool
	// NoCheck skips the check (Options.Check).
	NoCheck bool
	// prepare stops after the commit of the work was made, which is on no branch.
	prepare bool
	// work is that commit in a second call: it is merged, and nothing that was done since.
	work string
	Ready
}

// Ready returns why the files may not be complete, or nil. It is called while nothing else changes
// them.
type Ready func() error

func (r Ready) check() error {
	if r == nil {
		return nil
	}
	return r()
}

// Merged is the result of a merge.
type Merged struct {
	Into    string     `json:"into"`             // branch, directory or filesystem
	Commit  string     `json:"commit,omitempty"` // worktree: the branch's new commit
	Files   []FileDiff `json:"files"`
	Left    []string   `json:"left"`              // what can't be merged (Diff.Left), and git's own files of a copy
	Nothing bool       `json:"nothing,omitempty"` // there was nothing to merge
	// Behind is how many commits of the branch the task lacks.
	Behind int `json:"behind,omitempty"`
	// Message is the commit message that a merge would have, in a dry run.
	Message string `json:"message,omitempty"`
	// Check is the command that must succeed before, or did.
	Check string `json:"check,omitempty"`

	work string // see MergeOptions
}

// Conflicts is the error of a merge that changed nothing.
type Conflicts = merge.Conflicts

// Merge merges what was changed: of a worktree into the branch that is checked out in the repository,
// of a copy into the directory that it was made of, of a filesystem's workspace into the filesystem.
// It does all or nothing. If both sides changed a file and the changes can't be merged, or uncommitted
// changes of the user are in the way, the error names the files (ErrConflict, Conflicts).
func (w *Workspace) Merge(ctx context.Context, o MergeOptions) (Merged, error) {
	check := w.checkFor(o)
	if check == nil {
		return w.merge(ctx, o)
	}
	return mergeChecked(ctx, w, o, check)
}

// nothingOf returns the error for a kind of workspace that can't be merged.
func nothingOf(r *record, what string) error {
	why := "it began without files (--workspace none); `tandemux task pull` copies what it made"
	switch r.Kind {
	case ReadOnly:
		why = fmt.Sprintf("it only reads %s (--workspace ro:)", r.Source)
	case ReadWrite:
		why = fmt.Sprintf("it works in %s itself (--workspace rw:), where its changes are already", r.Source)
	}
	return filetree.Failf(filetree.ErrUnsupported, "the task has %s: %s", what, why)
}

func (w *Workspace) merge(ctx context.Context, o MergeOptions) (Merged, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return Merged{}, err
	}
	defer unlock()
	if err := o.check(); err != nil {
		return Merged{}, err
	}
	var m Merged
	switch r.Kind {
	case Filesystem:
		m, err = w.mergeSync(ctx, r, o)
	case Worktree:
		m, err = w.mergeWorktree(ctx, r, o)
	case Copy:
		m, err = w.mergeCopy(ctx, r, o)
	default:
		return Merged{}, nothingOf(r, "nothing to merge")
	}
	m.Files, m.Left, m.Nothing = append([]FileDiff{}, m.Files...), append([]string{}, m.Left...), len(m.Files) == 0
	return m, err
}

// mergeSync does a SyncUp as a merge.
func (w *Workspace) mergeSync(ctx context.Context, r *record, o MergeOptions) (Merged, error) {
	if r.NoUpdate {
		return Merged{}, filetree.Failf(filetree.ErrUnsupported, "the filesystem %s may only be read by task %s", r.Filesystem, r.ID)
	}
	d, err := w.diff(ctx, r, DiffOptions{})
	if err != nil {
		return Merged{}, err
	}
	m := Merged{Into: r.Filesystem, Files: d.Files, Left: d.Left}
	if o.DryRun || o.prepare {
		return m, nil
	}
	out, err := w.syncUp(ctx, r, Neither)
	if err != nil {
		return Merged{}, err
	}
	if len(out.Conflicts) > 0 {
		return Merged{}, &Conflicts{Into: "the filesystem " + r.Filesystem, Task: r.name(), Paths: out.Conflicts, Shared: true}
	}
	return m, nil
}

// mergeWorktree merges git's objects first, so that a conflict changes nothing.
func (w *Workspace) mergeWorktree(ctx context.Context, r *record, o MergeOptions) (Merged, error) {
	if err := w.takeCommits(ctx, r); err != nil {
		return Merged{}, err
	}
	g := w.sourceGit(r)
	into, err := merge.CheckedOut(ctx, g, r.Source, r.Source == r.Common, r.Branch)
	if err != nil {
		return Merged{}, err
	}
	head := into.Head
	m := Merged{Into: into.Name}
	s, err := w.snapshot(ctx, r, !o.DryRun)
	if err != nil {
		return Merged{}, err
	}
	defer s.close()
	commit, err := w.workOf(ctx, r, s, o)
	if err != nil {
		return Merged{}, err
	}
	m.Left = s.left
	files, err := s.git.Diff(ctx, w.mergedBase(ctx, r, s.git, commit), commit, nil)
	if err != nil {
		return Merged{}, err
	}
	if m.Behind, err = s.git.Count(ctx, commit+".."+head); err != nil {
		return Merged{}, err
	}
	if o.work != "" && m.Behind > 0 {
		return Merged{}, errMovedOn
	}
	to, err := into.Join(ctx, g.With(s.objects...), commit, r.name(), func() string {
		if o.Message != "" {
			return o.Message
		}
		subject, body := w.about(ctx, r)
		if subject == "Work of task "+r.name() {
			subject = ""
		}
		return into.Message(ctx, g.With(s.objects...), commit, subject, body)
	})
	if err != nil {
		return Merged{}, err
	}
	if to != head {
		m.Files = files
	}
	if o.prepare {
		m.work = commit
	}
	if o.DryRun && to != head && to != s.tip {
		m.Message, err = g.With(s.objects...).Run(ctx, "log", "-1", "--no-show-signature", "--format=%B", to, "--")
		m.Message = strings.TrimSpace(m.Message)
	}
	if o.DryRun || o.prepare {
		return m, err
	}
	m.Commit = to
	if _, err := s.git.Run(ctx, "diff-tree", "--quiet", commit, to, "--"); err == nil { // the task has everything of the branch
		commit = to // the task has all of home
	}
	r.Home = &coming{From: s.tip, To: commit}
	if err := w.save(r); err != nil {
		return Merged{}, err
	}
	if to != head {
		if err := into.Advance(ctx, to); err != nil {
			return Merged{}, err
		}
	}
	r.Merged = time.Now().UTC().Truncate(time.Millisecond)
	if err := w.save(r); err != nil {
		return m, err
	}
	// The branch may be in the checked-out files only after that. So it is moved last, and a merge
	// that fails has changed nothing.
	return m, w.arrived(ctx, r)
}

// coming is work that is being merged: the commit of the task's branch before, and the commit that it
// gets once the work was merged.
type coming struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// arrived moves the task's branch to the work that was merged, also after a host died meanwhile.
func (w *Workspace) arrived(ctx context.Context, r *record) error {
	home := r.Home
	if _, err := w.sourceGit(r).Run(ctx, "merge-base", "--is-ancestor", home.To, "HEAD"); err == nil {
		if err := w.adopt(ctx, r, home.From, home.To); err != nil && !errors.Is(err, filetree.ErrConflict) {
			return err // else the task has continued since
		}
	}
	r.Home = nil
	return w.save(r)
}

// workOf returns the commit to merge.
func (w *Workspace) workOf(ctx context.Context, r *record, s *snapshot, o MergeOptions) (string, error) {
	if o.work == "" {
		return w.workCommit(ctx, r, s, o.Message)
	}
	if o.work == s.tip {
		return o.work, nil
	}
	if was, err := s.git.Line(ctx, "rev-parse", "--verify", "-q", "--end-of-options", o.work+"^1"); err != nil || was != s.tip {
		return "", filetree.Failf(filetree.ErrConflict, "task %s has committed something since its work was checked: merge again", r.name())
	}
	return o.work, nil
}

// mergeCopy writes changed files into the directory that the copy was made of, if they are unchanged
// there. git's own files are not written: the user's git would run what an agent writes there.
func (w *Workspace) mergeCopy(ctx context.Context, r *record, o MergeOptions) (Merged, error) {
	if r.NoUpdate {
		return Merged{}, filetree.Failf(filetree.ErrUnsupported, "task %s may only read its workspace", r.ID)
	}
	c, err := w.against(ctx, r)
	if err != nil {
		return Merged{}, err
	}
	defer c.close()
	home, err := filetree.OpenFolder(r.Source)
	if err != nil {
		return Merged{}, filetree.Missing(err, "the directory %s that the copy was made of", r.Source)
	}
	defer home.Close()
	changes, left, err := merge.Bringable(r.Source, home, c.pairs)
	if err != nil {
		return Merged{}, err
	}
	m := Merged{Into: r.Source, Left: append(slices.Clone(c.local.Skipped), left...)}
	d, err := c.diff(ctx, DiffOptions{})
	if err != nil {
		return Merged{}, err
	}
	m.Files = slices.DeleteFunc(d.Files, func(f FileDiff) bool {
		_, ok := slices.BinarySearchFunc(changes, f.Path, func(ch filetree.Change, path string) int { return strings.Compare(ch.Path, path) })
		return !ok // the directory has it already
	})
	if o.DryRun || o.prepare {
		return m, nil
	}
	a := &filetree.Applier{
		Ctx: ctx, Top: home, Stage: filepath.Join(r.Source, ".tandemux-merge-"+w.id), From: filetree.Source{Top: c.top}, Careful: true,
	}
	if err := a.Apply(changes); err != nil {
		return Merged{}, err
	}
	if err := w.merged(ctx, r, home, changes, a.Missed); err != nil {
		return Merged{}, err
	}
	if len(a.Missed) > 0 {
		return Merged{}, filetree.Failf(filetree.ErrConflict, "%s was changed while the merge was under way, and left as it is (%d files): merge again", r.Source, len(a.Missed))
	}
	return m, nil
}

// merged makes what was merged the base of the next comparison.
func (w *Workspace) merged(ctx context.Context, r *record, home *filetree.Folder, changes []filetree.Change, missed map[string]bool) error {
	t, err := w.store.Tree(r.Filesystem)
	if err != nil {
		return err
	}
	c, err := t.Prepare()
	if err != nil {
		return err
	}
	defer c.End()
	came := &filetree.Scanned{}
	gone := map[string]bool{}
	for _, ch := range changes {
		if a := ch.To; !missed[ch.Path] {
			gone[ch.Path] = true
			if a != nil {
				came.Files = append(came.Files, *a)
			}
		}
	}
	if err := filetree.Take(ctx, home, came, c.Packs); err != nil {
		return err
	}
	return t.Repin(w.id, gone, came.Files)
}

// checkFor returns the check that must succeed first, or nil.
func (w *Workspace) checkFor(o MergeOptions) func(context.Context) error {
	if w.store.options.Check == nil || o.NoCheck || o.DryRun {
		return nil
	}
	return w.store.options.Check(w)
}

// maxChecks bounds how often a check is repeated because the branch has moved meanwhile.
const maxChecks = 3

// mergeChecked merges what has passed the check. It first updates the task from the branch, so that
// the checked files are those that are merged. The check may take long, so the workspace is locked
// only before it, for choosing what to merge, and after it.
func mergeChecked(ctx context.Context, w *Workspace, o MergeOptions, check func(context.Context) error) (Merged, error) {
	for range maxChecks {
		first, then := o, o
		first.prepare = true
		m, err := w.merge(ctx, first)
		if err == nil && (m.Behind > 0 || w.info.Kind == Copy) && !m.Nothing {
			if err = catchUp(ctx, w, m.Into, o); err == nil {
				m, err = w.merge(ctx, first)
			}
		}
		if err != nil || m.Nothing {
			return m, err
		}
		if err := check(ctx); err != nil {
			return Merged{}, err
		}
		then.work = m.work
		if m, err = w.merge(ctx, then); !errors.Is(err, errMovedOn) {
			return m, err
		}
	}
	return Merged{}, filetree.Failf(filetree.ErrConflict, "%w, each of %d times: merge again, or without the check", errMovedOn, maxChecks)
}

// errMovedOn is the error if what was checked lacks new commits of the branch.
var errMovedOn = errors.New("the branch to merge into has moved on while the check ran")

// catchUp updates a task from a branch, after committing its work.
func catchUp(ctx context.Context, w *Workspace, branch string, o MergeOptions) error {
	if w.info.Kind == Copy {
		_, err := w.Update(ctx, UpdateOptions{Ready: o.Ready})
		return err
	}
	if _, err := (&Changes{w}).Commit(ctx, ""); err != nil {
		return err
	}
	_, err := w.Update(ctx, UpdateOptions{From: "refs/heads/" + branch, Ready: o.Ready})
	return err
}
