package workspace

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// MergeOptions say how work comes home.
type MergeOptions struct {
	// Message is the commit's, of a worktree; empty: what the work was about.
	Message string
	// DryRun only says what would be.
	DryRun bool
	// NoCheck merges without what must succeed before (Options.Check).
	NoCheck bool
	// prepare stops where nothing but the commit of the work is made, which is on no branch.
	prepare bool
	// work is that commit, once more: it comes home, and nothing that was done since.
	work string
	// Ready says why the files are not whole, once nothing else moves them; nil: they are.
	Ready func() error
}

func (o MergeOptions) ready() error {
	if o.Ready == nil {
		return nil
	}
	return o.Ready()
}

// Merged is what a merge did.
type Merged struct {
	Into    string     `json:"into"`             // branch, directory or filesystem
	Commit  string     `json:"commit,omitempty"` // worktree: what the branch is at now
	Files   []FileDiff `json:"files"`
	Left    []string   `json:"left"`              // what can't come home (Diff.Left), and git's own files of a copy
	Nothing bool       `json:"nothing,omitempty"` // there was nothing to bring home
	// Behind is how many commits of the branch the task does not have.
	Behind int `json:"behind,omitempty"`
	// Message is that of the commit that a merge would make, of a dry run.
	Message string `json:"message,omitempty"`
	// Check is the command that must succeed before, or did.
	Check string `json:"check,omitempty"`

	work string // see MergeOptions
}

// Conflicts is the error of a merge that was not done: nothing was changed.
type Conflicts struct {
	Into  string   `json:"into"`
	Paths []string `json:"paths"` // at most 1000
	Dirty bool     `json:"dirty"` // the user's uncommitted changes are in the way

	Task   string `json:"-"` // its name
	Update bool   `json:"-"` // it was to be brought up to date with Into
	Open   bool   `json:"-"` // an update has left them
	Shared bool   `json:"-"` // Into is a filesystem; what else changed is in it
}

func (c *Conflicts) Error() string {
	most := 5
	if c.Update {
		most = 50
	}
	shown := c.Paths[:min(len(c.Paths), most)]
	names := make([]string, len(shown))
	for i, p := range shown {
		names[i] = fmt.Sprintf("%q", filetree.Clip(p))
	}
	list := strings.Join(names, ", ")
	if n := len(c.Paths) - len(shown); n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	switch {
	case c.Dirty:
		return fmt.Sprintf("merging into %s would overwrite uncommitted changes in %s: commit or stash them, and merge again; nothing was changed", c.Into, list)
	case c.Open:
		return fmt.Sprintf("conflicts with %s are not resolved in %s: have the task resolve and commit them, or give them up with `tandemux ws update %s --abort`; nothing was changed", c.Into, list, c.Task)
	case c.Shared:
		return fmt.Sprintf("both the task and %s changed %s, which stay as they are on both sides: `tandemux ws resolve %s --keep task`, or filesystem, says whose counts", c.Into, list, c.Task)
	case c.Update:
		return fmt.Sprintf("both the task and %s changed %s; nothing was changed: --ask has the agent resolve that, --leave leaves the conflicts in its files", c.Into, list)
	case c.Task != "":
		return fmt.Sprintf("both the task and %s changed %s; nothing was changed: `tandemux ws update %s --ask` has the agent resolve that, or merge by hand", c.Into, list, c.Task)
	}
	return fmt.Sprintf("both the task and %s changed %s: have the task take those changes over, or merge by hand; nothing was changed", c.Into, list)
}

// Is makes it an ErrConflict.
func (c *Conflicts) Is(target error) bool { return target == filetree.ErrConflict } //nolint:errorlint // that is what Is is for

// StatusCode is the HTTP status that it is answered with.
func (c *Conflicts) StatusCode() int { return http.StatusConflict }

// Merge brings what was changed home: of a worktree into the branch that is checked
// out in the repository, of a copy into the directory that it was made of, of a
// filesystem's into the filesystem. It does all or nothing: where both sides changed a
// file so that they don't join, or the user's uncommitted changes are in the way, the
// error says which (ErrConflict, Conflicts).
func (w *Workspace) Merge(ctx context.Context, o MergeOptions) (Merged, error) {
	check := w.checkFor(o)
	if check == nil {
		return w.merge(ctx, o)
	}
	return mergeChecked(ctx, w, o, check)
}

func (w *Workspace) merge(ctx context.Context, o MergeOptions) (Merged, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return Merged{}, err
	}
	defer unlock()
	if err := o.ready(); err != nil {
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
		return Merged{}, filetree.Failf(filetree.ErrUnsupported, "a workspace of kind %s has nothing to merge: its files are where they belong, or nowhere", r.Kind)
	}
	m.Files, m.Left, m.Nothing = append([]FileDiff{}, m.Files...), append([]string{}, m.Left...), len(m.Files) == 0
	return m, err
}

// mergeSync is SyncUp in the words of a merge.
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

// mergeWorktree joins in git's objects first, so that a conflict leaves no trace.
func (w *Workspace) mergeWorktree(ctx context.Context, r *record, o MergeOptions) (Merged, error) {
	if err := w.takeCommits(ctx, r); err != nil {
		return Merged{}, err
	}
	g := w.sourceGit(r)
	branch, err := g.Line(ctx, "symbolic-ref", "-q", "--short", "HEAD")
	if err != nil {
		return Merged{}, filetree.Failf(filetree.ErrUnsupported, "no branch is checked out in %s (HEAD is detached): check one out, and merge again", r.Source)
	}
	head, err := g.Line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return Merged{}, filetree.Failf(filetree.ErrUnsupported, "the branch %s of %s has no commit", branch, r.Source)
	}
	if branch == r.Branch {
		return Merged{}, filetree.Failf(filetree.ErrUnsupported, "%s itself is checked out in %s: check out the branch to merge into", branch, r.Source)
	}
	m := Merged{Into: branch}
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
	to, err := w.join(ctx, r, w.sourceGit(r).With(s.objects...), branch, head, commit, o.Message)
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
		m.Message, err = w.sourceGit(r).With(s.objects...).Run(ctx, "log", "-1", "--no-show-signature", "--format=%B", to, "--")
		m.Message = strings.TrimSpace(m.Message)
	}
	if o.DryRun || o.prepare {
		return m, err
	}
	m.Commit = to
	if _, err := s.git.Run(ctx, "diff-tree", "--quiet", commit, to, "--"); err == nil {
		commit = to // the task has all of home
	}
	r.Home = &coming{From: s.tip, To: commit}
	if err := w.save(r); err != nil {
		return Merged{}, err
	}
	if to != head {
		if err := w.advance(ctx, r, branch, head, to); err != nil {
			return Merged{}, err
		}
	}
	r.Merged = time.Now().UTC().Truncate(time.Millisecond)
	if err := w.save(r); err != nil {
		return m, err
	}
	// What is not in the branch is in the files: so it goes last, and a merge that could not
	// be has changed nothing.
	return m, w.arrived(ctx, r)
}

// coming is work that is on its way home: the commits that the task's branch is at, and that
// it is to be at once the latter has arrived.
type coming struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// arrived moves the task's branch to the work that has come home, also after a death.
func (w *Workspace) arrived(ctx context.Context, r *record) error {
	home := r.Home
	if _, err := w.sourceGit(r).Run(ctx, "merge-base", "--is-ancestor", home.To, "HEAD"); err == nil {
		if err := w.adopt(ctx, r, home.From, home.To); err != nil && !errors.Is(err, filetree.ErrConflict) {
			return err // else the task has gone on since
		}
	}
	r.Home = nil
	return w.save(r)
}

// workOf is the commit that is to come home.
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

// join gives the commit that has both; head itself where there is nothing new.
func (w *Workspace) join(ctx context.Context, r *record, g git.Git, branch, head, tip, text string) (string, error) {
	if _, err := g.Run(ctx, "merge-base", "--is-ancestor", tip, head); err == nil {
		return head, nil
	}
	tree, left, err := g.JoinInto(ctx, head, tip)
	switch {
	case err != nil:
		return "", fmt.Errorf("merge %s into %s: %w", r.Branch, branch, err)
	case len(left) > 0:
		paths := git.PathsOf(left)
		return "", &Conflicts{Into: "the branch " + branch, Task: r.name(), Paths: paths[:min(len(paths), filetree.MaxListed)]}
	}
	if tree == "" {
		return tip, nil
	}
	if text == "" {
		text = mergeMessage(ctx, w, r, g, branch, head, tip)
	}
	return g.Commit(ctx, tree, text, head, tip)
}

// advance moves the user's branch and the files that are checked out of it. git
// refuses where that would overwrite what is not committed.
func (w *Workspace) advance(ctx context.Context, r *record, branch, head, to string) error {
	g := w.sourceGit(r)
	if r.Source == r.Common {
		return movedMeanwhile(g.MoveRef(ctx, "tandemux: merge "+r.Branch, "refs/heads/"+branch, to, head), branch)
	}
	_, err := g.Whole().Run(ctx, "-c", "merge.autoStash=false", "-c", "merge.verifySignatures=false", "merge", "--ff-only", "--no-autostash", "-q", to)
	var e *git.Error
	if !errors.As(err, &e) {
		return err
	}
	var paths []string
	for line := range strings.SplitSeq(e.Said, "\n") {
		if p, ok := strings.CutPrefix(line, "\t"); ok {
			paths = append(paths, p)
		}
	}
	switch {
	case len(paths) > 0:
		return &Conflicts{Into: "the branch " + branch, Paths: paths, Dirty: true}
	case strings.Contains(e.Said, "MERGE_HEAD") || strings.Contains(e.Said, "have not concluded") || strings.Contains(e.Said, "unmerged"):
		return filetree.Failf(filetree.ErrConflict, "a merge is under way in %s: finish or abort it, and merge again", r.Source)
	case strings.Contains(e.Said, "index.lock"):
		return filetree.Failf(filetree.ErrConflict, "git is at work in %s (its index is locked): merge again when it is done", r.Source)
	}
	return fmt.Errorf("merge %s into %s: %w", r.Branch, branch, err)
}

// mergeCopy brings changed files into the directory that the copy was made of, where
// they are still what the copy began with. git's own files stay where they are: what
// an agent writes there, the user's git would run.
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
	m, changes, err := c.bringable(r, home)
	if err != nil {
		return Merged{}, err
	}
	d, err := c.diff(ctx, DiffOptions{})
	if err != nil {
		return Merged{}, err
	}
	m.Files = slices.DeleteFunc(d.Files, func(f FileDiff) bool {
		_, ok := slices.BinarySearchFunc(changes, f.Path, func(ch filetree.Change, path string) int { return strings.Compare(ch.Path, path) })
		return !ok // it is at home already
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

// bringable finds what is to change at home, where what there is is still what the copy
// began with. Where it is not, the error is Conflicts.
func (c *comparison) bringable(r *record, home *filetree.Folder) (m Merged, changes []filetree.Change, err error) {
	m = Merged{Into: r.Source, Left: c.local.Skipped}
	conflicts := &Conflicts{Into: "the directory " + r.Source}
	for _, p := range c.pairs {
		if filetree.IsGit(p.path) {
			if len(m.Left) < filetree.MaxListed {
				m.Left = append(m.Left, p.path)
			}
			continue
		}
		there, err := look(home, p.path)
		switch {
		case err != nil:
			return m, nil, err
		case filetree.Equal(there, p.now):
			continue
		case !filetree.Equal(there, p.old):
			conflicts.Paths = append(conflicts.Paths, p.path)
			continue
		}
		changes = append(changes, filetree.Change{Path: p.path, To: p.now, Was: there})
	}
	if len(conflicts.Paths) > 0 {
		conflicts.Paths = conflicts.Paths[:min(len(conflicts.Paths), filetree.MaxListed)]
		return m, nil, conflicts
	}
	return m, changes, nil
}

// merged makes what came home what the next comparison begins with.
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

// look gives what is at a path of a directory, nil for nothing.
func look(top *filetree.Folder, path string) (*filetree.Entry, error) {
	e, err := filetree.Standing(top, path)
	if e == nil || err != nil {
		return nil, err
	}
	at := filetree.Source{Top: top}
	switch {
	case e.Mode.IsDir():
		e.Modified = 0
	case e.IsLink():
		target, err := at.Target(e)
		if err != nil {
			return nil, err
		}
		e.Link(target)
	case e.Mode.IsRegular():
		f, now, err := at.Open(e)
		if err != nil {
			return nil, fmt.Errorf("look at %q: %w", filetree.Clip(path), err)
		}
		defer f.Close()
		e.Stamp = now
		if e.Sum, e.Size, err = filetree.SumFile(f); err != nil {
			return nil, err
		}
	}
	return e, nil
}
