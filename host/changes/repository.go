package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/files"
	"tandemux/host/git"
	"tandemux/host/params"
	"tandemux/internal/fileuri"
)

// repository is a work tree under git that others may have written, its configuration
// included. What looks at files is given a git directory of ours: of the repository it
// sees objects and a copy of the index, and of its configuration what says how files are
// stored. With its own configuration git only resolves and moves references, and makes
// commits, for which it runs no programs.
// It implements Tree.
type repository struct {
	scratch string // where our git directories are, for a moment
	top     string // of the work tree, without symbolic links
	admin   string // its git directory
	common  string // what it shares with other work trees
	format  string // of objects
}

func (r *repository) Top() string { return r.top }

// find is the work tree that a directory is in; nil when it is in none.
func find(ctx context.Context, scratch, dir string) (*repository, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, nil //nolint:nilerr // nothing is there
	}
	r := &repository{scratch: scratch}
	g := git.Git{Dir: dir}.With("GIT_ALLOW_PROTOCOL=")
	for _, ask := range []struct {
		to   *string
		what string
	}{{&r.top, "--show-toplevel"}, {&r.admin, "--absolute-git-dir"}, {&r.common, "--git-common-dir"}, {&r.format, "--show-object-format"}} {
		*ask.to, err = g.Line(ctx, "rev-parse", "--path-format=absolute", ask.what)
		var failed *git.Error
		switch {
		case errors.As(err, &failed) && failed.Code > 0:
			return nil, nil // no repository, a bare one, or somebody else's
		case err != nil:
			return nil, err
		}
	}
	if r.top, err = filepath.EvalSymlinks(r.top); err != nil {
		return nil, err
	}
	// Configuration can say that the work tree is anywhere.
	if rel, err := filepath.Rel(r.top, dir); err != nil || !filepath.IsLocal(rel) || !r.mutual(ctx) {
		return nil, nil //nolint:nilerr // then it is none of ours
	}
	return r, nil
}

// mutual reports whether the git directory is the work tree's own, or says that it is of
// this work tree: a file in the work tree may name anybody's.
func (r *repository) mutual(ctx context.Context) bool {
	link := filepath.Join(r.top, ".git")
	if st, err := os.Lstat(link); err != nil || st.IsDir() {
		return err == nil
	}
	if back, err := os.ReadFile(filepath.Join(r.admin, "gitdir")); err == nil { // of git worktree
		return same(strings.TrimSuffix(string(back), "\n"), link)
	}
	tree, err := r.own().Line(ctx, "config", "--get", "core.worktree") // of a submodule
	if !filepath.IsAbs(tree) {
		tree = filepath.Join(r.admin, tree)
	}
	return err == nil && same(tree, r.top)
}

// same reports whether two paths are of one file.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// own is git with the repository's configuration.
func (r *repository) own() git.Git {
	return git.Git{Dir: r.top}.With("GIT_DIR="+r.admin, "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1")
}

// head is the commit that is checked out; "" while there is none.
func (r *repository) head(ctx context.Context) (string, error) {
	commit, err := r.own().Line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if git.ExitCode(err) == 1 {
		return "", nil
	}
	return commit, err
}

// kept are the members of a configuration that say how files are stored.
var kept = `^core\.(autocrlf|eol|safecrlf|ignorecase|filemode|symlinks|precomposeunicode)$`

// guest is a git directory of ours on the repository.
type guest struct {
	*repository
	dir string
	git git.Git
}

func (g *guest) close() { _ = os.RemoveAll(g.dir) }

// visit makes a guest. What it stores stays with the repository if stored is set, and
// else goes with it.
func (r *repository) visit(ctx context.Context, stored bool) (*guest, error) {
	dir, err := os.MkdirTemp(r.scratch, "git-")
	if err != nil {
		return nil, err
	}
	g := &guest{repository: r, dir: dir}
	objects := filepath.Join(r.common, "objects")
	env := []string{"GIT_DIR=" + dir, "GIT_WORK_TREE=" + r.top, "GIT_INDEX_FILE=" + filepath.Join(dir, "index"), "GIT_ALLOW_PROTOCOL="}
	if stored {
		env = append(env, "GIT_OBJECT_DIRECTORY="+objects)
	} else {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+git.QuotePath(objects))
	}
	g.git = git.Git{Dir: r.top}.With(env...)
	var config strings.Builder
	config.WriteString("[core]\n\trepositoryformatversion = 1\n\tbare = false\n")
	if out, err := r.own().Run(ctx, "config", "-z", "--get-regexp", kept); err == nil {
		for _, pair := range git.Words(out) {
			key, value, is := strings.Cut(pair, "\n")
			if is && !strings.ContainsFunc(value, func(c rune) bool { return c < 'a' || c > 'z' }) {
				fmt.Fprintf(&config, "\t%s = %s\n", strings.TrimPrefix(key, "core."), value)
			}
		}
	}
	fmt.Fprintf(&config, "[extensions]\n\tobjectFormat = %s\n", r.format)
	err = errors.Join(
		os.Mkdir(filepath.Join(dir, "objects"), 0o700), os.Mkdir(filepath.Join(dir, "refs"), 0o700), os.Mkdir(filepath.Join(dir, "info"), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "config"), []byte(config.String()), 0o600),
		git.CopyFile(filepath.Join(r.common, "info/exclude"), filepath.Join(dir, "info/exclude")),
		git.CopyFile(filepath.Join(r.admin, "index"), filepath.Join(dir, "index")),
	)
	if err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// Bounds of what is looked at, in bytes.
const (
	maxCompared = 8 << 20   // a file whose lines are compared
	maxRead     = 256 << 20 // files of which that is done, together
)

// maxLooks bounds how often git is asked again when a file is cut short while it reads it.
const maxLooks = 5

// line gives what git says. It reads files for ls-files, and for write-tree those that are
// as new as the index.
func (g *guest) line(ctx context.Context, args ...string) (out string, err error) {
	for range maxLooks {
		out, err = g.git.Line(ctx, args...)
		if failed, is := errors.AsType[*git.Error](err); !is || !failed.Cut {
			break
		}
		_ = os.Remove(filepath.Join(g.dir, "index.lock"))
	}
	return out, err
}

// touched are the paths where files differ from the index: those that git can take, and
// those that are too large to be compared, or can't be read.
func (g *guest) touched(ctx context.Context, bounded bool) (paths, large []string, err error) {
	out, err := g.line(ctx, "ls-files", "-z", "-m", "-d", "-o", "--exclude-standard")
	if err != nil {
		return nil, nil, err
	}
	all := git.Words(out)
	slices.Sort(all)
	total := int64(0)
	for _, p := range slices.Compact(all) {
		if strings.HasSuffix(p, "/") {
			continue // a repository in the repository
		}
		at := filepath.Join(g.top, p)
		st, err := os.Lstat(at)
		switch {
		case err != nil || st.IsDir() || st.Mode()&fs.ModeSymlink != 0:
			paths = append(paths, p)
		case !st.Mode().IsRegular():
		case unix.Access(at, unix.R_OK) != nil || bounded && (st.Size() > maxCompared || total+st.Size() > maxRead):
			large = append(large, p)
		default:
			total += st.Size()
			paths = append(paths, p)
		}
	}
	return paths, large, nil
}

// stage takes files into the guest's index.
func (g *guest) stage(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := g.git.From(strings.NewReader(strings.Join(paths, "\x00")+"\x00")).
		Run(ctx, "update-index", "-z", "--add", "--remove", "--replace", "--stdin")
	if err != nil {
		_ = os.Remove(filepath.Join(g.dir, "index.lock")) // of a git that was killed
	}
	return err
}

// stageStill takes files into the guest's index but for those that git can't read while
// somebody writes to them.
func (g *guest) stageStill(ctx context.Context, paths []string) (moving []string, err error) {
	err = g.stage(ctx, paths)
	var failed *git.Error
	switch n := len(paths); {
	case err == nil || !errors.As(err, &failed) || failed.Code < 0 && !failed.Cut:
		return nil, err
	case n == 1:
		return paths, nil
	default:
		first, err := g.stageStill(ctx, paths[:n/2])
		if err != nil {
			return nil, err
		}
		second, err := g.stageStill(ctx, paths[n/2:])
		return append(first, second...), err
	}
}

// Diff implements Tree: what differs from HEAD.
func (r *repository) Diff(ctx context.Context) (files []git.FileDiff, err error) {
	g, err := r.visit(ctx, false)
	if err != nil {
		return nil, err
	}
	defer g.close()
	base, err := r.head(ctx)
	if err != nil {
		return nil, err
	}
	paths, large, err := g.touched(ctx, true)
	if err != nil {
		return nil, err
	}
	if len(paths)+len(large) > maxFiles {
		return nil, errTooMany
	}
	moving, err := g.stageStill(ctx, paths)
	if err != nil {
		return nil, err
	}
	large = append(large, moving...)
	tree, err := g.line(ctx, "write-tree")
	if err != nil {
		return nil, err
	}
	from, err := g.tree(ctx, base)
	if err != nil {
		return nil, err
	}
	if files, err = g.git.Diff(ctx, from, tree, nil); err != nil {
		return nil, err
	}
	was, err := g.git.Entries(ctx, from, large)
	for _, p := range large {
		f := git.FileDiff{Path: p, Status: "modified", Binary: true, Old: was[p], New: git.Entry{Mode: "100644", ID: "unknown"}}
		if st, err := os.Lstat(filepath.Join(r.top, p)); err == nil {
			f.New.ID = fmt.Sprint(st.Size(), st.ModTime().UnixNano())
		}
		if f.Old.ID == "" {
			f.Status = "added"
		}
		files = append(slices.DeleteFunc(files, func(d git.FileDiff) bool { return d.Path == p }), f)
	}
	slices.SortFunc(files, func(a, b git.FileDiff) int { return strings.Compare(a.Path, b.Path) })
	return files, err
}

func (g *guest) tree(ctx context.Context, commit string) (string, error) {
	if commit == "" {
		return g.git.From(strings.NewReader("")).Line(ctx, "hash-object", "-t", "tree", "-w", "--stdin")
	}
	return g.git.Line(ctx, "rev-parse", "--verify", "-q", commit+"^{tree}")
}

func (r *repository) Blob(ctx context.Context, id string, most int) ([]byte, error) {
	return r.own().Blob(ctx, id, most)
}

// read gives what a file of a changeset has or had.
func (cs *Changes) read(ctx context.Context, uri ahp.URI, encoding string) (any, error) {
	var t Tree
	var d git.FileDiff
	now := false
	cs.Core.Locked(func(core.Tx) { t, d, now = cs.named(uri) })
	if t == nil {
		return nil, ahp.NotFound("files: there is no %q", params.Clip(uri))
	}
	name := cmp.Or(d.From, d.Path)
	if now {
		name = d.Path
	}
	// The directory's: a link that leads elsewhere is a file as well.
	if err := cs.Files.Check(fileuri.Of(filepath.Dir(filepath.Join(t.Top(), name))), false); err != nil {
		return nil, err
	}
	var data []byte
	var err error
	if now {
		data, err = readLink(t.Top(), name)
	} else {
		ctx, cancel := context.WithTimeout(ctx, diffTime)
		defer cancel()
		data, err = t.Blob(ctx, d.Old.ID, maxBlob)
	}
	if err != nil {
		return nil, ahp.Conflict("read %q: %s", params.Clip(uri), clean(err))
	}
	return files.Contents(name, data, encoding)
}

func readLink(top, name string) ([]byte, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	target, err := root.Readlink(name)
	return []byte(target), err
}

// named finds what a URI of a content means: SET/OBJECT/NAME. now says that it is what the
// file has, and no object that git has.
func (cs *Changes) named(uri ahp.URI) (t Tree, d git.FileDiff, now bool) {
	rest, last := cutLast(uri)
	channel, id := cutLast(rest)
	name, err := url.PathUnescape(last)
	s := cs.sets[channel]
	if err != nil || s == nil || id == "" {
		return nil, d, false
	}
	for _, d := range s.files {
		was := cmp.Or(d.From, d.Path)
		switch {
		case d.Old.ID == id && d.Old.Mode != git.ModeModule && filepath.Base(was) == name:
			return s.tree, d, false
		case d.New.ID == id && d.New.Mode == git.ModeLink && filepath.Base(d.Path) == name:
			return s.tree, d, true
		}
	}
	return nil, d, false
}

// cutLast cuts at the last slash.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+1:]
}
