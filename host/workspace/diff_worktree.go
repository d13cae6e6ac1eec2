package workspace

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tandemux/host/workspace/filetree"
)

// diffWorktree compares by git, tree with tree: git looks at no file that the agent
// could change meanwhile.
func (w *Workspace) diffWorktree(ctx context.Context, r *record, o DiffOptions) (Diff, error) {
	if err := w.takeCommits(ctx, r); err != nil {
		return Diff{}, err
	}
	s, err := w.snapshot(ctx, r, false)
	if err != nil {
		return Diff{}, err
	}
	defer s.close()
	base := w.mergedBase(ctx, r, s.tip)
	d, err := s.git.diff(ctx, base, s.tree, o)
	d.Left = s.left
	d.sum()
	return d, err
}

// mergedBase is where the worktree began, or what of it the repository's HEAD has
// since.
func (w *Workspace) mergedBase(ctx context.Context, r *record, tip string) string {
	source := w.sourceGit(r)
	head, err := source.line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return r.Base
	}
	base, err := source.line(ctx, "merge-base", head, tip)
	if err != nil {
		return r.Base
	}
	if _, err := source.run(ctx, "merge-base", "--is-ancestor", r.Base, base); err != nil {
		return r.Base
	}
	return base
}

// sourceGit runs where the user's own HEAD is: in the directory that the worktree was
// made from.
func (w *Workspace) sourceGit(r *record) git {
	if r.Source == r.Common {
		return w.store.git(r.Common).with("GIT_DIR=" + r.Common)
	}
	return w.store.git(r.Source)
}

// statusWords are git's letters.
var statusWords = map[byte]string{'A': "added", 'D': "deleted", 'M': "modified", 'R': "renamed", 'T': "type"}

// diff compares two trees.
func (g git) diff(ctx context.Context, from, to string, o DiffOptions) (Diff, error) {
	paths := []string{"--"}
	for _, p := range o.Paths {
		paths = append(paths, ":(top,literal)"+p)
	}
	args := append([]string{"diff-tree", "-r", "-z", "-M", "--raw", "--numstat", "--no-ext-diff", "--no-textconv", "--abbrev=64", from, to}, paths...)
	out, err := g.run(ctx, args...)
	if err != nil {
		return Diff{}, fmt.Errorf("compare with %s: %w", from, err)
	}
	d := Diff{Base: from}
	if err := d.parse(zeroLines([]byte(out))); err != nil {
		return Diff{}, err
	}
	if o.Text != nil {
		args := append([]string{"diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color", from, to}, paths...)
		if _, err := g.into(o.Text).run(ctx, args...); err != nil {
			return Diff{}, fmt.Errorf("compare with %s: %w", from, err)
		}
	}
	return d, nil
}

// parse reads what --raw -z and --numstat -z print, one after the other.
func (d *Diff) parse(words []string) error {
	bad := fmt.Errorf("git's comparison is not what it should be: %q", filetree.Clip(strings.Join(words, " ")))
	next := func() string {
		if len(words) == 0 {
			return ""
		}
		word := words[0]
		words = words[1:]
		return word
	}
	at := map[string]int{}
	for len(words) > 0 && strings.HasPrefix(words[0], ":") {
		fields := strings.Fields(next())
		if len(fields) != 5 {
			return bad
		}
		f := FileDiff{Path: next(), Status: statusWords[fields[4][0]]}
		if f.Status == "renamed" {
			f.From, f.Path = f.Path, next()
		}
		if f.Status == "modified" && fields[2] == fields[3] {
			f.Status = "mode"
		}
		at[f.Path] = len(d.Files)
		d.Files = append(d.Files, f)
	}
	for len(words) > 0 {
		fields := strings.SplitN(next(), "\t", 3)
		if len(fields) != 3 {
			return bad
		}
		path := fields[2]
		if path == "" { // a rename: both paths follow
			next()
			path = next()
		}
		i, ok := at[path]
		if !ok {
			return bad
		}
		f := &d.Files[i]
		f.Binary = fields[0] == "-"
		f.Added, _ = strconv.Atoi(fields[0])
		f.Deleted, _ = strconv.Atoi(fields[1])
	}
	return nil
}
