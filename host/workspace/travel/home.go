package travel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/merge"
)

// Home is the place that work returns to: what a task began with, and what it made of that.
type Home struct {
	Task   string // its name
	Base   Load
	Result Load
	// Fetch returns the contents of Base or Result.
	Fetch func(Load) (io.ReadCloser, error)
	// Here is the directory to use if Base.Source is not on this machine.
	Here string
	// Mark is a file that says, of a directory, what was merged last.
	Mark string
}

// branch returns the branch for the task's commits.
func (h *Home) branch() string { return "tandemux/" + h.Task }

// came is what came back, together with what it was made of.
type came struct {
	git      git.Git // has the objects of both
	from, to string  // commits or trees
	source   string  // the repository, or directory, at home
	old, now string  // of a directory: both, unpacked
}

// open fetches what is to be compared or merged. close removes temporary files.
func (h *Home) open(ctx context.Context) (c *came, close func(), err error) {
	if h.Result.Kind != h.Base.Kind {
		return nil, nil, filetree.Failf(filetree.ErrInvalid, "what came back is %q, and what was sent %q", filetree.Clip(h.Result.Kind), filetree.Clip(h.Base.Kind))
	}
	if err := errors.Join(h.Base.Check(), h.Result.Check()); err != nil {
		return nil, nil, err
	}
	tmp, err := os.MkdirTemp("", "tandemux-home-")
	if err != nil {
		return nil, nil, filetree.Full(err)
	}
	close = func() { filetree.RemoveTree(tmp) } //nolint:errcheck // else the system removes them in time
	if h.Base.Kind == Bundle {
		c, err = h.commits(ctx, tmp)
	} else {
		c, err = h.directories(ctx, tmp)
	}
	if err != nil {
		close()
		return nil, nil, err
	}
	return c, close, nil
}

// get fetches a load into a file.
func (h *Home) get(l Load, file string) error {
	from, err := h.Fetch(l)
	if err != nil {
		return err
	}
	defer from.Close()
	return l.Receive(from, file)
}

// commits fetches the task's commits into the repository, on their own branch.
func (h *Home) commits(ctx context.Context, tmp string) (*came, error) {
	source, err := h.repository(ctx)
	if err != nil {
		return nil, err
	}
	c := &came{git: git.Git{Dir: source}, source: source, from: h.Base.Commit, to: h.Result.Commit}
	if h.Result.Size == 0 {
		c.to = c.from
		return c, nil
	}
	if !c.git.IsCommit(ctx, "refs/heads/"+h.branch(), h.Result.Commit) {
		file := filepath.Join(tmp, "result")
		if err := h.get(h.Result, file); err != nil {
			return nil, err
		}
		has, err := h.Result.open(file)
		if err == nil {
			err = has.take(ctx, c.git, file)
		}
		if err == nil {
			err = h.point(ctx, c.git)
		}
		if err != nil {
			return nil, err
		}
	}
	// What was merged since is in the repository already.
	head, err := c.git.Line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return c, nil //nolint:nilerr // merging reports that
	}
	if base, err := c.git.Line(ctx, "merge-base", head, c.to); err == nil {
		if _, err := c.git.Run(ctx, "merge-base", "--is-ancestor", c.from, base); err == nil {
			c.from = base
		}
	}
	return c, nil
}

// point sets the task's branch to its result, if the branch has only commits of the task.
func (h *Home) point(ctx context.Context, g git.Git) error {
	ref := "refs/heads/" + h.branch()
	_, err := g.Run(ctx, "rev-parse", "--verify", "-q", ref)
	if err == nil {
		_, err = g.Run(ctx, "merge-base", "--is-ancestor", ref, h.Result.Commit)
	} else {
		err = nil
	}
	if err == nil {
		_, err = g.Run(ctx, "branch", "-q", "--no-track", "-f", h.branch(), h.Result.Commit) // git refuses this for a branch that is checked out
	}
	if err != nil {
		return filetree.Failf(filetree.ErrConflict, "the branch %s of %s is checked out, or has commits that are not the task's: rename it (`git branch -m`), and try again", h.branch(), g.Dir)
	}
	return nil
}

// repository returns the repository that the task began with: Base.Source, or the one that Here is in.
func (h *Home) repository(ctx context.Context) (string, error) {
	for _, dir := range []string{h.Base.Source, h.Here} {
		if st, err := os.Stat(dir); dir == "" || err != nil || !st.IsDir() {
			continue
		}
		g := git.Git{Dir: dir}
		if !g.There() {
			_, err := g.Run(ctx, "version")
			return "", err
		}
		if _, err := g.Run(ctx, "cat-file", "-e", h.Base.Commit+"^{commit}"); err != nil {
			continue
		}
		if top, err := g.Line(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel"); err == nil {
			return top, nil
		}
	}
	return "", filetree.Failf(filetree.ErrNotFound, "the repository of the task %s, %s, is not on this machine, nor is this directory in a clone that has its commit %.12s: run this in one", h.Task, h.Base.Source, h.Base.Commit)
}

// directories unpacks both, and makes trees of git's for comparing them.
func (h *Home) directories(ctx context.Context, tmp string) (*came, error) {
	c := &came{source: h.Base.Source}
	for _, one := range []struct {
		load Load
		dir  *string
		tree *string
	}{{h.Base, &c.old, &c.from}, {h.Result, &c.now, &c.to}} {
		file := filepath.Join(tmp, "archive")
		if err := h.get(one.load, file); err != nil {
			return nil, err
		}
		*one.dir = filepath.Join(tmp, fmt.Sprintf("files%p", one.dir))
		if err := one.load.unarchive(ctx, file, *one.dir); err != nil {
			return nil, err
		}
	}
	at := filepath.Join(tmp, "git")
	if err := os.Mkdir(at, 0o700); err != nil {
		return nil, filetree.Full(err)
	}
	c.git = git.Git{Dir: tmp}.With("GIT_DIR=" + at)
	if err := create(ctx, c.git, "sha1"); err != nil {
		return nil, err
	}
	var err error
	if c.from, err = treeOf(ctx, c.git, c.old); err == nil {
		c.to, err = treeOf(ctx, c.git, c.now)
	}
	return c, err
}

// treeOf makes a tree of git's from a directory.
func treeOf(ctx context.Context, g git.Git, dir string) (string, error) {
	g = plain(g.With("GIT_WORK_TREE="+dir, "GIT_INDEX_FILE="+dir+".index"), dir)
	if _, err := g.Run(ctx, "add", "--all", "--force", "--", "."); err != nil {
		return "", err
	}
	return g.Line(ctx, "write-tree")
}

// plain returns a git that runs in a directory, without any configured filters.
func plain(g git.Git, dir string) git.Git {
	g.Dir = dir
	return g.With("GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
}

// Diff returns what the task changed, like a workspace's Diff; of a repository without what was merged
// since.
func (h *Home) Diff(ctx context.Context, o workspace.DiffOptions) (d workspace.Diff, err error) {
	c, close, err := h.open(ctx)
	if err != nil {
		return d, err
	}
	defer close()
	d = workspace.Diff{Base: c.from, Left: []string{}}
	d.Files, err = c.git.Diff(ctx, c.from, c.to, o.Text, o.Paths...)
	d.Files = append([]workspace.FileDiff{}, d.Files...)
	for _, f := range d.Files {
		d.Added, d.Deleted = d.Added+f.Added, d.Deleted+f.Deleted
	}
	return d, err
}

// Merge merges the work into the branch that is checked out in the repository, or into the directory,
// all or nothing, like a workspace's Merge.
func (h *Home) Merge(ctx context.Context, o workspace.MergeOptions) (m workspace.Merged, err error) {
	c, close, err := h.open(ctx)
	if err != nil {
		return m, err
	}
	defer close()
	if h.Base.Kind == Bundle {
		m, err = h.mergeCommits(ctx, c, o)
	} else {
		m, err = h.mergeFiles(ctx, c, o)
	}
	m.Files, m.Left, m.Nothing = append([]workspace.FileDiff{}, m.Files...), append([]string{}, m.Left...), len(m.Files) == 0
	if both, is := errors.AsType[*workspace.Conflicts](err); is && !both.Dirty && h.Base.Kind == Bundle {
		err = fmt.Errorf("both the task and %s changed %s; nothing was changed: `git merge %s` leaves the conflicts in your files, to be resolved there", both.Into, filetree.Listed(both.Paths, 5), h.branch())
	}
	return m, err
}

// Keep makes sure that the commits of a task that is being deleted are in the repository. It returns
// their branch, or "" if other branches have all of them.
func (h *Home) Keep(ctx context.Context) (string, error) {
	if h.Base.Kind != Bundle || h.Result.Size == 0 {
		return "", nil
	}
	c, close, err := h.open(ctx)
	if err != nil {
		return "", err
	}
	defer close()
	ref := "refs/heads/" + h.branch()
	only, err := c.git.Line(ctx, "rev-list", "-n1", h.Result.Commit, "--not", "--exclude="+h.branch(), "--branches", "--tags", "--remotes")
	if err != nil || only != "" || c.git.MoveRef(ctx, "", ref, "", h.Result.Commit) != nil {
		return h.branch(), nil //nolint:nilerr // in doubt the branch is kept
	}
	return "", nil
}

func (h *Home) mergeCommits(ctx context.Context, c *came, o workspace.MergeOptions) (m workspace.Merged, err error) {
	into, err := merge.CheckedOut(ctx, c.git, c.source, false, h.branch())
	if err != nil {
		return m, err
	}
	m.Into = into.Name
	if m.Behind, err = c.git.Count(ctx, c.to+".."+into.Head); err != nil {
		return m, err
	}
	to, err := into.Join(ctx, c.git, c.to, "", func() string {
		if o.Message != "" {
			return o.Message
		}
		return into.Message(ctx, c.git, c.to, "", "")
	})
	if err != nil || to == into.Head {
		return m, err
	}
	if m.Files, err = c.git.Diff(ctx, c.from, c.to, nil); err != nil {
		return m, err
	}
	if o.DryRun {
		if to != c.to {
			m.Message, err = c.git.Run(ctx, "log", "-1", "--no-show-signature", "--format=%B", to, "--")
			m.Message = strings.TrimSpace(m.Message)
		}
		return m, err
	}
	m.Commit = to
	return m, into.Advance(ctx, to)
}

func (h *Home) mergeFiles(ctx context.Context, c *came, o workspace.MergeOptions) (m workspace.Merged, err error) {
	m.Into = c.source
	home, err := filetree.OpenFolder(c.source)
	if err != nil {
		return m, filetree.Missing(err, "the directory %s, which the task %s was made of on this machine or another,", c.source, h.Task)
	}
	defer home.Close()
	now, err := filetree.OpenFolder(c.now)
	if err != nil {
		return m, err
	}
	defer now.Close()
	was, err := h.met(ctx, c.old)
	if err != nil {
		return m, err
	}
	is, err := summed(ctx, now)
	if err != nil {
		return m, err
	}
	var pairs []merge.Pair
	filetree.WalkThree(was, is, nil, func(path string, was, is, _ *filetree.Entry) {
		if !filetree.Equal(was, is) {
			pairs = append(pairs, merge.Pair{Path: path, Old: was, Now: is})
		}
	})
	changes, left, err := merge.Bringable(c.source, home, pairs)
	if m.Left = left; err != nil {
		return m, err
	}
	if m.Files, err = c.changed(ctx, changes); err != nil || o.DryRun {
		return m, err
	}
	a := &filetree.Applier{Ctx: ctx, Top: home, Stage: filepath.Join(c.source, ".tandemux-merge-"+h.Task), From: filetree.Source{Top: now}, Careful: true}
	if err := a.Apply(changes); err != nil {
		return m, err
	}
	if len(a.Missed) > 0 {
		return m, filetree.Failf(filetree.ErrConflict, "%s was changed while the merge was under way, and left as it is (%d files): merge again", c.source, len(a.Missed))
	}
	if err := os.MkdirAll(filepath.Dir(h.Mark), 0o700); err != nil {
		return m, filetree.Full(err)
	}
	return m, filetree.ReplaceFile(h.Mark, (&filetree.Sheet{Manifest: filetree.NewManifest(is)}).Encode(), false)
}

// met returns what the task and the directory agreed on last: what was merged, or what the task began
// with.
func (h *Home) met(ctx context.Context, old string) ([]filetree.Entry, error) {
	if b, err := filetree.ReadOptional(h.Mark); err != nil {
		return nil, err
	} else if b != nil {
		s, err := filetree.DecodeSheet(b)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", h.Mark, err)
		}
		return s.Entries, nil
	}
	was, err := filetree.OpenFolder(old)
	if err != nil {
		return nil, err
	}
	defer was.Close()
	return summed(ctx, was)
}

// changed returns the files to change, with git's counts of changed lines. git knows no directories
// and few permissions, so those are added.
func (c *came) changed(ctx context.Context, changes []filetree.Change) (files []workspace.FileDiff, err error) {
	if len(changes) == 0 {
		return nil, nil
	}
	var paths strings.Builder
	for _, ch := range changes {
		if ch.Was == nil || !ch.Was.Mode.IsDir() {
			paths.WriteString(ch.Path + "\x00")
		}
	}
	g := plain(c.git.With("GIT_WORK_TREE="+c.source, "GIT_INDEX_FILE="+c.now+".home"), c.source)
	if _, err := g.Run(ctx, "read-tree", c.to); err != nil {
		return nil, err
	}
	if _, err := g.From(strings.NewReader(paths.String())).Run(ctx, "update-index", "-z", "--add", "--remove", "--replace", "--stdin"); err != nil {
		return nil, err
	}
	is, err := g.Line(ctx, "write-tree")
	if err != nil {
		return nil, err
	}
	all, err := c.git.Diff(ctx, is, c.to, nil)
	if err != nil {
		return nil, err
	}
	for _, ch := range changes {
		i := slices.IndexFunc(all, func(f workspace.FileDiff) bool { return f.Path == ch.Path })
		switch {
		case i >= 0:
			files = append(files, all[i])
		case slices.ContainsFunc(all, func(f workspace.FileDiff) bool { return f.From == ch.Path }): // listed under the new name
		case ch.To == nil:
			files = append(files, workspace.FileDiff{Path: ch.Path, Status: "deleted"})
		case ch.Was == nil:
			files = append(files, workspace.FileDiff{Path: ch.Path, Status: "added"})
		default:
			files = append(files, workspace.FileDiff{Path: ch.Path, Status: "mode"})
		}
	}
	return files, nil
}

// summed lists a directory with the checksums of its files.
func summed(ctx context.Context, top *filetree.Folder) (all []filetree.Entry, err error) {
	seen, err := filetree.Scan(ctx, top, limits, nil, nil)
	if err != nil {
		return nil, err
	}
	for _, e := range seen.Files {
		full, err := merge.Look(top, e.Path)
		if err != nil {
			return nil, err
		}
		if full != nil {
			all = append(all, *full)
		}
	}
	return all, nil
}
