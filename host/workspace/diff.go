package workspace

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/merge"
)

type FileDiff = git.FileDiff

// Diff is what changed in a workspace since it was made or last merged.
type Diff struct {
	Base    string     `json:"base"` // a commit, or a manifest's version
	Files   []FileDiff `json:"files"`
	Added   int        `json:"added"` // sum of lines
	Deleted int        `json:"deleted"`
	// Left are paths that can't be merged: repositories in the workspace, sockets, FIFOs, and what
	// can't be read; at most 1000.
	Left []string `json:"left"`
}

// DiffOptions says what to compare.
type DiffOptions struct {
	// Text, if not nil, gets the unified diff.
	Text io.Writer
	// Paths are the files and directories to compare; empty means all.
	Paths []string
}

// Diff returns what changed, committed or not. In a worktree files that .gitignore names are left out.
func (w *Workspace) Diff(ctx context.Context, o DiffOptions) (Diff, error) {
	for _, p := range o.Paths {
		if err := filetree.CheckPath(p); err != nil {
			return Diff{}, err
		}
	}
	r, unlock, err := w.begin()
	if err != nil {
		return Diff{}, err
	}
	defer unlock()
	return w.diff(ctx, r, o)
}

func (w *Workspace) diff(ctx context.Context, r *record, o DiffOptions) (Diff, error) {
	switch r.Kind {
	case Worktree:
		return w.diffWorktree(ctx, r, o)
	case Copy, Filesystem:
		c, err := w.against(ctx, r)
		if err != nil {
			return Diff{}, err
		}
		defer c.close()
		return c.diff(ctx, o)
	}
	return Diff{}, nothingOf(r, "nothing to compare with")
}

// sum adds up the lines of all files.
func (d *Diff) sum() {
	d.Files = append([]FileDiff{}, d.Files...)
	d.Left = append([]string{}, d.Left[:min(len(d.Left), filetree.MaxListed)]...)
	for _, f := range d.Files {
		d.Added += f.Added
		d.Deleted += f.Deleted
	}
}

// diffWorktree has git compare trees, so git reads no file that the agent could change meanwhile.
func (w *Workspace) diffWorktree(ctx context.Context, r *record, o DiffOptions) (Diff, error) {
	s, err := w.work(ctx, r, false)
	if err != nil {
		return Diff{}, err
	}
	defer s.close()
	base := w.mergedBase(ctx, r, s.git, s.tip)
	if merging, err := w.merging(ctx, r, s.tip); err != nil {
		return Diff{}, err
	} else if merging {
		base = r.Update.Base // the base's changes are not the task's
	}
	files, err := s.git.Diff(ctx, base, s.tree, o.Text, o.Paths...)
	d := Diff{Base: base, Files: files, Left: s.left}
	d.sum()
	return d, err
}

// mergedBase returns the commit where the worktree began, or the newest of its commits that the
// repository's HEAD has.
func (w *Workspace) mergedBase(ctx context.Context, r *record, g git.Git, tip string) string {
	head, err := w.sourceGit(r).Line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return r.Base
	}
	base, err := g.Line(ctx, "merge-base", head, tip)
	if err != nil {
		return r.Base
	}
	if _, err := g.Run(ctx, "merge-base", "--is-ancestor", r.Base, base); err != nil {
		return r.Base
	}
	return base
}

// sourceGit returns a git that runs in the directory that the worktree was made from, where the user's
// HEAD is.
func (w *Workspace) sourceGit(r *record) git.Git {
	if r.Source == r.Common {
		return w.store.git(r.Common).With("GIT_DIR=" + r.Common)
	}
	return w.store.git(r.Source)
}

// comparison is a workspace compared with what it was made of.
type comparison struct {
	w     *Workspace
	base  *filetree.View
	top   *filetree.Folder
	local *filetree.Scanned
	pairs []merge.Pair // by path
}

func (c *comparison) close() {
	c.base.Close()
	c.top.Close()
}

// against scans the workspace and finds what changed.
func (w *Workspace) against(ctx context.Context, r *record) (*comparison, error) {
	t, err := w.store.Tree(r.Filesystem)
	if err != nil {
		return nil, err
	}
	top, err := r.open()
	if err != nil {
		return nil, err
	}
	v, err := t.ViewOf(filetree.PinName(w.id))
	if err != nil {
		top.Close()
		return nil, err
	}
	c := &comparison{w: w, base: v, top: top}
	if c.local, err = w.contents(ctx, top, w.loadBase().Entries); err != nil {
		c.close()
		return nil, err
	}
	filetree.WalkThree(v.Entries, c.local.Files, nil, func(path string, old, now, _ *filetree.Entry) {
		if !filetree.Equal(old, now) && (now != nil || !c.local.Hidden(path)) {
			c.pairs = append(c.pairs, merge.Pair{Path: path, Old: old, Now: now})
		}
	})
	return c, nil
}

// diff has git compare two commits that contain only what changed, so git reads neither the workspace
// nor its .gitattributes.
func (c *comparison) diff(ctx context.Context, o DiffOptions) (Diff, error) {
	d := Diff{Base: c.base.Version(), Left: slices.Clone(c.local.Skipped)}
	if len(c.pairs) == 0 {
		d.sum()
		return d, nil
	}
	dir := c.w.path(snapshotName)
	if err := filetree.RemoveTree(dir); err != nil {
		return Diff{}, err
	}
	defer func() { _ = filetree.RemoveTree(dir) }()
	g := c.w.store.git(c.w.store.options.State).With("GIT_DIR=" + dir)
	if _, err := g.Run(ctx, "init", "-q", "--bare", "--template="); err != nil {
		return Diff{}, err
	}
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(c.export(ctx, pw)) }()
	_, err := g.From(pr).Run(ctx, "-c", "core.fsync=none", "-c", "core.compression=0", "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet")
	_ = pr.Close()
	if err != nil {
		return Diff{}, fmt.Errorf("compare with what it was made of: %w", err)
	}
	files, err := g.Diff(ctx, "refs/heads/old", "refs/heads/now", o.Text, o.Paths...)
	if err != nil {
		return Diff{}, err
	}
	d.Files = files
	for _, p := range c.pairs {
		wanted := len(o.Paths) == 0 || slices.ContainsFunc(o.Paths, func(dir string) bool { return filetree.Under(p.Path, dir) })
		switch {
		case filetree.IsGit(p.Path):
			d.Left = append(d.Left, p.Path)
		case p.Old != nil && p.Now != nil && !p.Old.Mode.IsDir() && p.Old.Sum == p.Now.Sum && gitMode(p.Old) == gitMode(p.Now) && wanted:
			d.Files = append(d.Files, FileDiff{Path: p.Path, Status: "mode"}) // permission bits that git does not store
		}
	}
	slices.SortFunc(d.Files, func(a, b FileDiff) int { return strings.Compare(a.Path, b.Path) })
	d.sum()
	return d, nil
}

// quoted escapes a path for quotes in the input of git fast-import.
var quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// export writes the input of git fast-import. git's own files are left out, because it refuses them.
func (c *comparison) export(ctx context.Context, to io.Writer) error {
	b := bufio.NewWriter(to)
	for _, side := range []struct {
		ref  string
		from filetree.Source
		of   func(merge.Pair) *filetree.Entry
	}{
		{"old", c.base.Source(), func(p merge.Pair) *filetree.Entry { return p.Old }},
		{"now", filetree.Source{Top: c.top}, func(p merge.Pair) *filetree.Entry { return p.Now }},
	} {
		fmt.Fprintf(b, "commit refs/heads/%s\ncommitter - <-> 0 +0000\ndata 0\n", side.ref)
		for _, p := range c.pairs {
			e := side.of(p)
			if e == nil || e.Mode.IsDir() || filetree.IsGit(p.Path) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			text, err := textOf(side.from, e)
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "M %s inline \"%s\"\ndata %d\n%s\n", gitMode(e), quoted.Replace(p.Path), len(text), text)
		}
	}
	return b.Flush()
}

// maxText bounds a file whose lines are compared, in bytes.
const maxText = 1 << 20

// textOf returns a file's contents, of a large file its checksum behind a NUL, and nil if the file is
// gone.
func textOf(from filetree.Source, e *filetree.Entry) ([]byte, error) {
	switch {
	case e.IsLink():
		return []byte(e.Target), nil
	case e.Size > maxText:
		return append([]byte{0}, e.Sum[:]...), nil
	}
	r, err := from.Read(e)
	if err != nil {
		if from.Stored {
			return nil, err
		}
		return nil, nil //nolint:nilerr // the file is gone
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxText+1))
}

func gitMode(e *filetree.Entry) string {
	switch {
	case e.IsLink():
		return "120000"
	case e.Mode&0o111 != 0:
		return "100755"
	}
	return "100644"
}
