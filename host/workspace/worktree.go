package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/modules"
)

const branchPrefix = "tandemux/"

// makeWorktree makes a worktree on its own branch.
func makeWorktree(ctx context.Context, w *Workspace, r *record) error {
	if err := w.findRepository(ctx, r); err != nil {
		return err
	}
	unlock := w.store.repos.Lock(r.Common) // only the list of worktrees is shared
	err := w.addWorktree(ctx, r)
	unlock()
	if err != nil {
		return err
	}
	if _, err := w.worktreeGit(r).Run(ctx, "reset", "--hard", "-q", "--no-recurse-submodules"); err != nil {
		return fmt.Errorf("check out %s: %w", r.Branch, err)
	}
	if err := w.fillModules(ctx, r); err != nil {
		return err
	}
	return takeAlong(ctx, w, r)
}

// fillModules fills the submodules that the person's clone has.
func (w *Workspace) fillModules(ctx context.Context, r *record) error {
	top, err := r.open()
	if err != nil {
		return err
	}
	defer top.Close()
	return w.modules(r, top).Fill(ctx, r.Base, w.path(modulesName))
}

// modules returns the submodules of a worktree, which is open as top.
func (w *Workspace) modules(r *record, top *filetree.Folder) modules.Tree {
	return modules.Tree{Git: w.store.git(r.Common).With("GIT_DIR=" + r.Common), Common: r.Common, Source: r.Source, Dir: r.Dir, Top: top, Limits: w.store.Limits}
}

// findRepository sets the repository's directories and the commit that the worktree starts at.
func (w *Workspace) findRepository(ctx context.Context, r *record) error {
	dir, err := realDir(r.Spec.Dir)
	if err != nil {
		return err
	}
	g := w.store.git(dir)
	if r.Common, err = g.Line(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir"); err != nil {
		return repositoryError(dir, err)
	}
	if r.Source, err = g.Line(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel"); err != nil {
		r.Source = r.Common // a bare repository
	}
	r.Base, err = g.Line(ctx, "rev-parse", "--verify", "-q", "--end-of-options", cmp.Or(r.Spec.From, "HEAD")+"^{commit}")
	switch {
	case err == nil:
	case r.Spec.From != "":
		return filetree.Failf(filetree.ErrInvalid, "%q is no commit of the repository %s", filetree.Clip(r.Spec.From), r.Source)
	default:
		return filetree.Failf(filetree.ErrUnsupported, "the repository %s has no commit yet that a worktree could start at: make one, or use copy:DIR", r.Source)
	}
	r.Start, r.Upstream = r.Base, g.FullRef(ctx, cmp.Or(r.Spec.From, "HEAD"))
	return nil
}

func repositoryError(dir string, err error) error {
	var e *git.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case strings.Contains(e.Said, "dubious ownership"):
		return filetree.Failf(filetree.ErrUnsupported, "the repository at %s belongs to another user, so git refuses it: allow it with `git config --global --add safe.directory`, or use copy:DIR", dir)
	case strings.Contains(e.Said, "not a git repository"):
		return filetree.Failf(filetree.ErrInvalid, "%s is in no git repository: use copy:DIR, ro:DIR or rw:DIR", dir)
	}
	return fmt.Errorf("look at the repository at %s: %w", dir, err)
}

// maxBranches bounds the names that are tried for a branch.
const maxBranches = 100

// candidates returns names for the branch, the best first.
func (r *record) candidates(taken map[string]bool) []string {
	if r.Spec.Branch != "" {
		return []string{r.Spec.Branch}
	}
	name := branchPrefix + cmp.Or(r.Spec.Name, r.ID)
	if taken[strings.TrimSuffix(branchPrefix, "/")] { // git can't have both a branch and branches below it
		name = strings.ReplaceAll(name, "/", "-")
	}
	names := []string{}
	for n := 1; len(names) < maxBranches; n++ {
		next := name
		if n > 1 {
			next = fmt.Sprintf("%s-%d", name, n)
		}
		if !taken[next] {
			names = append(names, next)
		}
	}
	return names
}

// addWorktree adds the worktree with its branch, without checking files out.
func (w *Workspace) addWorktree(ctx context.Context, r *record) error {
	g := w.store.git(r.Common).With("GIT_DIR=" + r.Common)
	out, err := g.Run(ctx, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
	if err != nil {
		return fmt.Errorf("list the branches of %s: %w", r.Source, err)
	}
	taken := map[string]bool{}
	for name := range strings.SplitSeq(out, "\n") {
		taken[name] = true
	}
	if r.Spec.Branch != "" && taken[r.Spec.Branch] {
		return filetree.Failf(filetree.ErrConflict, "the branch %s exists already: choose another name, or delete it with `git branch -d %s`", r.Spec.Branch, r.Spec.Branch)
	}
	dir := w.path(filesName)
	if err := filetree.RemoveTree(dir); err != nil {
		return err
	}
	for _, name := range r.candidates(taken) {
		if _, err := g.Run(ctx, "check-ref-format", "refs/heads/"+name); err != nil || strings.HasPrefix(name, "-") {
			return filetree.Failf(filetree.ErrInvalid, "%q can't be a branch's name", filetree.Clip(name))
		}
		r.Branch, r.Made = name, true
		if err := w.save(r); err != nil {
			return err
		}
		_, err = g.Run(ctx, "worktree", "add", "-q", "--no-checkout", "--no-track", "--no-guess-remote", "-b", name, dir, r.Base)
		if err == nil {
			r.Dir = dir
			r.Admin, err = w.adminDir(r)
			return err
		}
		var e *git.Error
		if !errors.As(err, &e) || !strings.Contains(e.Said, "already exists") {
			break
		}
		r.Made = false // somebody else has made the branch
		if err := w.save(r); err != nil {
			return err
		}
		if r.Spec.Branch != "" {
			return filetree.Failf(filetree.ErrConflict, "the branch %s exists already: choose another name", name)
		}
	}
	return fmt.Errorf("make a worktree of %s: %w", r.Source, err)
}

// adminDir returns the worktree's directory in the repository's git directory, or "". It compares the
// paths that are stored there.
func (w *Workspace) adminDir(r *record) (string, error) {
	dir := filepath.Join(r.Common, "worktrees")
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	want := filepath.Join(w.path(filesName), ".git")
	for _, e := range list {
		at := filepath.Join(dir, e.Name())
		b, err := os.ReadFile(filepath.Join(at, "gitdir"))
		if err == nil && strings.TrimSuffix(string(b), "\n") == want {
			return at, nil
		}
	}
	return "", nil
}

// dropWorktree removes the worktree, and its branch if that loses nothing or force is set.
func (w *Workspace) dropWorktree(ctx context.Context, r *record, force bool) (kept string, err error) {
	if r.Common == "" {
		return "", nil
	}
	if st, err := os.Stat(r.Common); err != nil || !st.IsDir() {
		return "", nil // without the repository there is no list of worktrees
	}
	unlock := w.store.repos.Lock(r.Common)
	defer unlock()
	if err := filetree.RemoveTree(w.path(filesName)); err != nil {
		return "", err
	}
	admin, err := w.adminDir(r)
	if err != nil {
		return "", err
	}
	if admin != "" {
		if err := filetree.RemoveTree(admin); err != nil {
			return "", err
		}
		_ = os.Remove(filepath.Dir(admin)) // as git does for the last worktree
	}
	if !r.Made || r.Branch == "" {
		return "", nil
	}
	return w.dropBranch(ctx, r, force)
}

// keepWork commits what the branch lacks, and what was made in submodules. It returns what can't be
// committed.
func (w *Workspace) keepWork(ctx context.Context, r *record) ([]string, []modules.Kept, error) {
	if _, err := os.Stat(r.Dir); err != nil {
		return nil, nil, nil //nolint:nilerr // somebody deleted it
	}
	s, err := w.work(ctx, r, true)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	commit, err := w.commit(ctx, r, s, "")
	if err != nil {
		return nil, nil, err
	}
	top, err := r.open()
	if err != nil {
		return nil, nil, err
	}
	defer top.Close()
	kept, err := w.modules(r, top).Keep(ctx, w.path(modulesName), s.dir, r.Branch, "Work of "+r.name())
	if err != nil {
		return nil, nil, err
	}
	for _, k := range kept {
		s.left = slices.DeleteFunc(s.left, func(p string) bool { return p == k.Path+"/" })
	}
	kept = slices.DeleteFunc(kept, func(k modules.Kept) bool { return k.Branch == "" })
	return s.left, kept, w.adopt(ctx, r, s.tip, commit)
}

func (w *Workspace) dropBranch(ctx context.Context, r *record, force bool) (kept string, err error) {
	g := w.store.git(r.Common).With("GIT_DIR=" + r.Common)
	ref := "refs/heads/" + r.Branch
	tip, err := g.Line(ctx, "rev-parse", "--verify", "-q", ref)
	if err != nil {
		return "", nil //nolint:nilerr // the branch is gone
	}
	if !r.Done && tip != r.Start {
		return r.Branch, nil // it may be somebody else's
	}
	if !force {
		only, err := g.Line(ctx, "rev-list", "-n1", tip, "--not", "--exclude="+r.Branch, "--branches", "--tags", "--remotes", r.Start)
		if err != nil || only != "" {
			return r.Branch, nil //nolint:nilerr // in doubt the branch is kept
		}
	}
	if err := g.MoveRef(ctx, "", ref, "", tip); err != nil {
		return r.Branch, nil //nolint:nilerr // somebody has just moved it
	}
	return "", nil
}

// Common returns the git directory of a worktree's repository, without symbolic links, or "".
func (w *Workspace) Common() string {
	if r, err := w.load(); err == nil && r.Common != "" {
		if at, err := filepath.EvalSymlinks(r.Common); err == nil {
			return at
		}
	}
	return ""
}

// takeAlong copies into a new worktree what matches the configured globs in the directory that it was
// made from and is ignored by git, such as dependencies and local settings. It overwrites nothing, and
// makes no links, because the agent may write to the copies.
func takeAlong(ctx context.Context, w *Workspace, r *record) error {
	if w.store.options.Carry == nil || r.Source == r.Common {
		return nil
	}
	globs := w.store.options.Carry(r.Source, Resolved(r.Common))
	if len(globs) == 0 {
		return nil
	}
	paths, err := w.sourceGit(r).Ignored(ctx, r.Source, globs)
	if err != nil {
		return fmt.Errorf("look for what is carried into the worktree: %w", err)
	}
	from, err := filetree.OpenFolder(r.Source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := filetree.OpenFolder(r.Dir)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, p := range paths {
		if err := filetree.CopyAlong(ctx, w.store.Limits, from, to, p); err != nil {
			return fmt.Errorf("carry %q into the worktree: %w", filetree.Clip(p), err)
		}
	}
	return nil
}

// Resolved returns a path without symbolic links, or unchanged if it does not exist.
func Resolved(path string) string {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		return at
	}
	return path
}
