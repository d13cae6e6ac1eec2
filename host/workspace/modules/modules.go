package modules

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// maxModules bounds the submodules that are filled.
const maxModules = 1000

// Module is a submodule of a worktree that was filled.
type Module struct {
	Path   string `json:"path"`
	Git    string `json:"git"` // its repository, absolute
	Commit string `json:"commit"`
	Stamp  string `json:"stamp"` // of its files after filling
}

// Tree is a worktree with submodules.
type Tree struct {
	Git    git.Git // of its repository
	Common string  // that repository's git directory, absolute
	Source string  // the person's work tree, absolute
	Dir    string  // the worktree, absolute; Top is the same, opened
	Top    *filetree.Folder
	Limits filetree.Limits
}

// Fill fills those submodules of a commit that the clone has, and writes a list of them to a file.
func (t Tree) Fill(ctx context.Context, commit, list string) error {
	all, err := t.find(ctx, commit)
	if err != nil || len(all) == 0 {
		return err
	}
	for i := range all {
		if err := t.fill(ctx, &all[i], list+".index"); err != nil {
			return fmt.Errorf("fill the submodule %s: %w", filetree.Clip(all[i].Path), err)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return filetree.Full(os.WriteFile(list, text, 0o600))
}

// find returns the submodules of a commit that the clone has.
func (t Tree) find(ctx context.Context, commit string) ([]Module, error) {
	listed, err := t.Git.Entries(ctx, commit, []string{".gitmodules"})
	if err != nil || len(listed) == 0 {
		return nil, err
	}
	out, err := t.Git.Run(ctx, "config", "--blob", commit+":.gitmodules", "-z", "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return nil, nil //nolint:nilerr // there are none, or the file is invalid; git would fill none, either
	}
	names := map[string]string{}
	var paths []string
	for _, line := range git.Words(out) { // submodule.NAME.path\nPATH
		key, path, _ := strings.Cut(line, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
		if filetree.CheckPath(path) == nil && filetree.CheckPath(name) == nil && !filetree.IsGit(path) && len(paths) < maxModules {
			names[path] = name
			paths = append(paths, path)
		}
	}
	entries, err := t.Git.Entries(ctx, commit, paths)
	if err != nil {
		return nil, err
	}
	var all []Module
	for path, e := range entries {
		if e.Mode != git.ModeModule {
			continue
		}
		for _, dir := range []string{filepath.Join(t.Common, "modules", filepath.FromSlash(names[path])), filepath.Join(t.Source, filepath.FromSlash(path), ".git")} {
			m := Module{Path: path, Git: dir, Commit: e.ID}
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				continue
			}
			if _, err := t.of(m).Run(ctx, "cat-file", "-e", m.Commit+"^{commit}"); err == nil {
				all = append(all, m)
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// of returns a git that runs in a submodule's repository.
func (t Tree) of(m Module) git.Git {
	g := t.Git.With("GIT_DIR="+m.Git, "GIT_COMMON_DIR="+m.Git)
	g.Dir = m.Git
	return g
}

// fill checks a submodule out into an empty directory to which nobody else writes.
func (t Tree) fill(ctx context.Context, m *Module, index string) error {
	d, err := t.Top.Grow(m.Path)
	if err != nil {
		return filetree.Full(err)
	}
	defer d.Close()
	g, done := t.at(*m, filepath.Join(t.Dir, filepath.FromSlash(m.Path)), index)
	defer done()
	if _, err := g.Run(ctx, "read-tree", m.Commit); err != nil {
		return err
	}
	if _, err := g.Run(ctx, "checkout-index", "-a"); err != nil {
		return err
	}
	m.Stamp, err = t.stamp(ctx, d)
	return err
}

// at returns a git that runs in a submodule's repository with its files in a directory, and a function
// that removes the index.
func (t Tree) at(m Module, dir, index string) (g git.Git, done func()) {
	g = t.of(m).With("GIT_WORK_TREE="+dir, "GIT_INDEX_FILE="+index)
	g.Dir = dir
	return g, func() { os.Remove(index) } //nolint:errcheck // else it is removed with the workspace
}

// stamp returns a checksum of the entries of a directory.
func (t Tree) stamp(ctx context.Context, d *filetree.Folder) (string, error) {
	seen, err := filetree.Scan(ctx, d, t.Limits, nil, nil)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, e := range seen.Files {
		fmt.Fprintf(sum, "%q %v %d %d %q\n", e.Path, e.Mode, e.Size, e.Modified, e.Target)
	}
	fmt.Fprintf(sum, "%q", seen.Skipped)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// filled reads the list of filled submodules.
func filled(list string) ([]Module, error) {
	text, err := filetree.ReadOptional(list)
	if err != nil || text == nil {
		return nil, err
	}
	var all []Module
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, filetree.Failf(filetree.ErrDamaged, "the list of filled submodules is damaged")
	}
	return all, nil
}

// Touched returns the submodules in an index whose directory differs from what was filled in. It does
// not have git read files there.
func (t Tree) Touched(ctx context.Context, index git.Git, tip, list string) ([]string, error) {
	listed, err := index.Entries(ctx, tip, []string{".gitmodules"})
	if err != nil || len(listed) == 0 {
		return nil, err
	}
	have, err := filled(list)
	if err != nil {
		return nil, err
	}
	out, err := index.Run(ctx, "ls-files", "-s", "-z")
	if err != nil {
		return nil, err
	}
	var all []string
	for _, line := range git.Words(out) { // MODE ID STAGE\tPATH
		head, p, _ := strings.Cut(line, "\t")
		if !strings.HasPrefix(head, git.ModeModule) {
			continue
		}
		i := slices.IndexFunc(have, func(m Module) bool { return m.Path == p })
		was := ""
		if i >= 0 {
			was = have[i].Stamp
		}
		if touched, err := t.touched(ctx, p, was); err != nil {
			return nil, err
		} else if touched {
			all = append(all, p+"/")
		}
	}
	return all, nil
}

// touched reports whether a submodule's directory differs from its stamp or, without a stamp, is not
// empty.
func (t Tree) touched(ctx context.Context, path, stamp string) (bool, error) {
	d, err := t.Top.Walk(path)
	if err != nil {
		return stamp != "", nil //nolint:nilerr // there is no such directory
	}
	defer d.Close()
	if stamp == "" {
		seen, err := filetree.Scan(ctx, d, filetree.Limits{Files: 1, Bytes: 1, FileSize: 1}, nil, nil)
		return errors.Is(err, filetree.ErrTooLarge) || err == nil && len(seen.Files)+len(seen.Skipped) > 0, nil
	}
	now, err := t.stamp(ctx, d)
	return now != stamp, err
}

// Kept is work in a submodule that was committed.
type Kept struct {
	Path   string `json:"path"`
	Branch string `json:"branch" doc:"In the submodule's repository"`
}

// Keep commits what was made in filled submodules, each on a branch of its repository whose name
// begins with branch. Of submodules that differ only in times and in files that git ignores, the
// Branch is empty. Temporary files are below scratch.
func (t Tree) Keep(ctx context.Context, list, scratch, branch, message string) ([]Kept, error) {
	have, err := filled(list)
	if err != nil {
		return nil, err
	}
	var kept []Kept
	for _, m := range have {
		touched, err := t.touched(ctx, m.Path, m.Stamp)
		if err != nil {
			return kept, err
		}
		if !touched {
			continue
		}
		k, err := t.keep(ctx, m, scratch, branch, message)
		if err != nil {
			return kept, fmt.Errorf("the submodule %s: %w", filetree.Clip(m.Path), err)
		}
		kept = append(kept, Kept{m.Path, k})
	}
	return kept, nil
}

// keep commits what is in a submodule, and returns "" if that is what was filled in.
func (t Tree) keep(ctx context.Context, m Module, scratch, branch, message string) (string, error) {
	d, err := t.Top.Walk(m.Path)
	if err != nil {
		return "", nil //nolint:nilerr // removing it loses nothing
	}
	defer d.Close()
	files := filepath.Join(scratch, "files")
	defer filetree.RemoveTree(files) //nolint:errcheck // else it is removed with the workspace
	into, err := filetree.NewFolder(files)
	if err != nil {
		return "", filetree.Full(err)
	}
	defer into.Close()
	seen, err := filetree.Scan(ctx, d, t.Limits, nil, filetree.IsGit)
	if err != nil {
		return "", err
	}
	if err := filetree.LayOut(ctx, filetree.Source{Top: d}, into, seen.Files); err != nil {
		return "", filetree.Full(err)
	}
	g, done := t.at(m, files, filepath.Join(scratch, "index"))
	defer done()
	if _, err := g.Run(ctx, "read-tree", m.Commit); err != nil {
		return "", err
	}
	if _, err := g.Run(ctx, "add", "-A", "."); err != nil {
		return "", err
	}
	tree, err := g.Line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	if was, err := g.Line(ctx, "rev-parse", m.Commit+"^{tree}"); err != nil || was == tree {
		return "", err
	}
	commit, err := g.Commit(ctx, tree, message, m.Commit)
	if err != nil {
		return "", err
	}
	for n := 1; n <= 100; n++ {
		name := branch
		if n > 1 {
			name = fmt.Sprintf("%s-%d", branch, n)
		}
		at, err := g.Line(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+name+"^{tree}")
		if err == nil && at == tree {
			return name, nil // it was kept before
		}
		if _, err := g.Run(ctx, "update-ref", "refs/heads/"+name, commit, strings.Repeat("0", len(commit))); err == nil {
			return name, nil
		}
	}
	return "", filetree.Failf(filetree.ErrConflict, "its repository has the branch %s and a hundred like it", filetree.Clip(branch))
}
