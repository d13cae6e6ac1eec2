package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// UpdateOptions says how to update a task's branch.
type UpdateOptions struct {
	// From is a branch or a commit of the repository; empty means the branch that the worktree was
	// made from, or else the one that is checked out.
	From string
	// Leave leaves conflicts in the files, with git's markers, and a merge in progress. Without it
	// nothing is changed if there are conflicts.
	Leave bool
	// Abort gives up the update whose conflicts were left.
	Abort bool
	Ready
}

// Updated is the result of an update.
type Updated struct {
	From      string   `json:"from" doc:"The branch or commit that was brought in, or the directory of a copy"`
	Commit    string   `json:"commit" doc:"What the task's branch is at"`
	Commits   int      `json:"commits" doc:"How many came"`
	Files     int      `json:"files,omitempty" doc:"How many files came, of a copy"`
	Conflicts []string `json:"conflicts" doc:"Files that both sides changed: they have git's markers, and the merge waits for a commit"`
	Kept      string   `json:"kept,omitempty" doc:"Keeps the files of an update that was given up"`
}

// maxNamed bounds the files that an agent is told about.
const maxNamed = 100

const conflicting = " was merged into your branch, and these files have conflicts:"

func Questions(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	return strings.HasSuffix(line, conflicting)
}

// Question returns a message that asks the agent to resolve the conflicts that were left.
func (u Updated) Question() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\n", u.From, conflicting)
	for _, p := range u.Conflicts[:min(len(u.Conflicts), maxNamed)] {
		fmt.Fprintf(&b, "- %q\n", p)
	}
	if n := len(u.Conflicts) - maxNamed; n > 0 {
		fmt.Fprintf(&b, "- and %d more, which `git status` names\n", n)
	}
	b.WriteString("\nEdit them so that they have what both sides wanted and no conflict markers (<<<<<<<, =======, >>>>>>>), `git add` them, and conclude the merge with `git commit --no-edit`.")
	return b.String()
}

// updating is an update in progress. It is stored before files are changed; if the host dies, the next
// call that locks the workspace finishes it.
type updating struct {
	From string `json:"from"` // the commit of the task's work
	To   string `json:"to"`   // the commit, or with conflicts the tree, that the files become
	Base string `json:"base"` // the commit to update from
	Ref  string `json:"ref,omitempty"`
	// Unmerged are the entries of paths with conflicts in git's index.
	Unmerged []git.Unmerged `json:"unmerged,omitempty"`
	// Left is set once the files have the conflicts, which somebody has to resolve.
	Left bool `json:"left,omitempty"`
}

// Update merges what is new in the branch that a worktree was made from into the task's branch and
// files, after committing uncommitted changes. If both sides changed the same, the error names the
// files (ErrConflict, Conflicts) and nothing was changed, unless o says to leave the conflicts.
func (w *Workspace) Update(ctx context.Context, o UpdateOptions) (Updated, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return Updated{}, err
	}
	defer unlock()
	if err := o.check(); err != nil {
		return Updated{}, err
	}
	switch {
	case r.Kind == Filesystem:
		return Updated{}, filetree.Failf(filetree.ErrUnsupported, "task %s works on a filesystem: it gets what changed there before each message", r.ID)
	case r.Kind == Copy:
		return updateCopy(ctx, w, r, o)
	case r.Kind != Worktree:
		return Updated{}, nothingOf(r, "nothing to bring up to date")
	}
	s, err := w.work(ctx, r, true)
	if err != nil {
		return Updated{}, err
	}
	defer s.close()
	merging, err := w.merging(ctx, r, s.tip)
	switch {
	case err != nil:
		return Updated{}, err
	case o.Abort && !merging:
		return Updated{}, filetree.Failf(filetree.ErrConflict, "no update is under way in task %s", r.name())
	case o.Abort:
		return abort(ctx, w, r, s)
	case merging:
		return Updated{}, filetree.Failf(filetree.ErrConflict, "an update of task %s waits for its conflicts to be resolved and committed: `tandemux ws update %[1]s --abort` gives it up", r.name())
	}
	if err := atRest(w, r); err != nil {
		return Updated{}, err
	}
	return w.update(ctx, r, s, o)
}

func (w *Workspace) update(ctx context.Context, r *record, s *snapshot, o UpdateOptions) (Updated, error) {
	ref, base, err := w.upstream(ctx, r, o.From)
	if err != nil {
		return Updated{}, err
	}
	out := Updated{From: git.ShortRef(ref), Commit: s.tip, Conflicts: []string{}}
	work, err := w.commit(ctx, r, s, "")
	if err != nil {
		return Updated{}, err
	}
	g := w.sourceGit(r)
	if _, err := g.Run(ctx, "merge-base", "--is-ancestor", base, work); err == nil {
		return out, nil
	}
	if out.Commits, err = g.Count(ctx, work+".."+base); err != nil {
		return Updated{}, err
	}
	u := &updating{From: work, Base: base, Ref: ref}
	switch _, err := g.Run(ctx, "merge-base", "--is-ancestor", work, base); {
	case err == nil:
		u.To = base
	default:
		if u.To, u.Unmerged, err = g.Join(ctx, work, base); err != nil {
			return Updated{}, fmt.Errorf("merge %s into %s: %w", out.From, r.Branch, err)
		}
		if len(u.Unmerged) == 0 {
			if u.To, err = g.Commit(ctx, u.To, "Merge "+out.From+" into "+r.Branch, work, base); err != nil {
				return Updated{}, err
			}
		}
	}
	if len(u.Unmerged) > 0 && !o.Leave {
		return Updated{}, &Conflicts{Into: out.From, Task: r.name(), Paths: git.PathsOf(u.Unmerged), Update: true}
	}
	if err := w.adopt(ctx, r, s.tip, work); err != nil {
		return Updated{}, err
	}
	if len(u.Unmerged) > 0 && g.IsCommit(ctx, r.Branch, work) && g.IsCommit(ctx, out.From, base) { // repeat it with names for the markers
		if named, all, err := g.Join(ctx, r.Branch, out.From); err == nil && slices.Equal(all, u.Unmerged) {
			u.To = named
		}
	}
	if err := w.carry(ctx, r, u); err != nil {
		return Updated{}, err
	}
	out.Conflicts = append(out.Conflicts, git.PathsOf(u.Unmerged)...)
	if len(u.Unmerged) == 0 {
		out.Commit = u.To
	} else {
		out.Commit = u.From
	}
	return out, nil
}

// upstream returns the branch, as a full reference name, or the commit from which a worktree is
// updated.
func (w *Workspace) upstream(ctx context.Context, r *record, from string) (ref, commit string, err error) {
	g := w.sourceGit(r)
	at := func(name string) (string, error) {
		return g.Line(ctx, "rev-parse", "--verify", "-q", "--end-of-options", name+"^{commit}")
	}
	if from != "" {
		if commit, err = at(from); err != nil {
			return "", "", filetree.Failf(filetree.ErrInvalid, "%q is no branch or commit of the repository %s", filetree.Clip(from), r.Source)
		}
		if ref = g.FullRef(ctx, from); ref == "" {
			ref = commit
		}
		return ref, commit, nil
	}
	if r.Upstream != "" {
		if commit, err = at(r.Upstream); err == nil {
			return r.Upstream, commit, nil
		}
	}
	if ref, err = g.Line(ctx, "symbolic-ref", "-q", "HEAD"); err == nil && ref != "refs/heads/"+r.Branch {
		if commit, err = at(ref); err == nil {
			return ref, commit, nil
		}
	}
	return "", "", filetree.Failf(filetree.ErrUnsupported, "it is not known which branch task %s was made from, or that is gone: name one with --from", r.name())
}

// updateCopy copies what is new in the directory that a copy was made of into the copy, as whole
// files. If both sides changed a file nothing is changed (Conflicts). If the host dies meanwhile, some
// files are new already; the next update or merge finds them equal on both sides.
func updateCopy(ctx context.Context, w *Workspace, r *record, o UpdateOptions) (Updated, error) {
	out := Updated{From: r.Source, Conflicts: []string{}}
	if o.From != "" || o.Leave || o.Abort {
		return out, filetree.Failf(filetree.ErrUnsupported, "task %s works on a copy, which has no branches and no conflicts to leave: its update takes nothing but running", r.name())
	}
	c, err := w.against(ctx, r)
	if err != nil {
		return out, err
	}
	defer c.close()
	home, err := filetree.OpenFolder(r.Source)
	if err != nil {
		return out, filetree.Missing(err, "the directory %s that the copy was made of", r.Source)
	}
	defer home.Close()
	there, err := w.contents(ctx, home, nil)
	if err != nil {
		return out, err
	}
	both := &Conflicts{Into: "the directory " + r.Source}
	var changes, all []filetree.Change // all includes what the task changed
	filetree.WalkThree(c.base.Entries, c.local.Files, there.Files, func(path string, was, now, next *filetree.Entry) {
		change := filetree.Change{Path: path, To: next, Was: now}
		switch {
		case filetree.IsGit(path) || filetree.Equal(was, next) || next == nil && there.Hidden(path):
			return
		case filetree.Equal(now, next):
		case !filetree.Equal(was, now):
			both.Paths = append(both.Paths, path)
			return
		default:
			changes = append(changes, change)
		}
		all = append(all, change)
	})
	if len(both.Paths) > 0 {
		both.Paths = both.Paths[:min(len(both.Paths), filetree.MaxListed)]
		return out, both
	}
	a := &filetree.Applier{Ctx: ctx, Top: c.top, Stage: w.path(stageName), From: filetree.Source{Top: home}, Careful: true}
	if err := a.Apply(changes); err != nil {
		return out, err
	}
	out.Files = len(changes) - len(a.Missed)
	if err := w.merged(ctx, r, home, all, a.Missed); err != nil {
		return out, err
	}
	if len(a.Missed) > 0 {
		return out, filetree.Failf(filetree.ErrConflict, "%d files of task %s, or of %s, were changed while the update was under way, and left as they are: update again", len(a.Missed), r.name(), r.Source)
	}
	return out, nil
}
