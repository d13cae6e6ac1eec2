package travel

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
)

// PackRepository writes the history of a commit, HEAD if from is "", of the repository that a
// directory is in. It does not change the repository.
func PackRepository(ctx context.Context, dir, from string, to io.Writer) (Load, error) {
	g := git.Git{Dir: dir}
	common, err := g.Line(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	var said *git.Error
	switch {
	case errors.As(err, &said) && strings.Contains(said.Said, "not a git repository"):
		return Load{}, filetree.Failf(filetree.ErrInvalid, "%s is in no git repository: use copy:DIR", dir)
	case err != nil:
		return Load{}, fmt.Errorf("look at the repository at %s: %w", dir, err)
	}
	l := Load{Kind: Bundle}
	if l.Source, err = g.Line(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel"); err != nil {
		l.Source = common // a bare repository
	}
	if l.Commit, err = g.Line(ctx, "rev-parse", "--verify", "-q", "--end-of-options", cmp.Or(from, "HEAD")+"^{commit}"); err != nil {
		if from != "" {
			return l, filetree.Failf(filetree.ErrInvalid, "%q is no commit of the repository %s", filetree.Clip(from), l.Source)
		}
		return l, filetree.Failf(filetree.ErrUnsupported, "the repository %s has no commit yet: make one, or use copy:DIR", l.Source)
	}
	if shallow, err := g.Line(ctx, "rev-parse", "--is-shallow-repository"); err != nil || shallow == "true" {
		return l, filetree.Failf(filetree.ErrUnsupported, "the repository %s has a part of its history only, and so can't travel: `git fetch --unshallow`, or use copy:DIR", l.Source)
	}
	if l.Ref = g.FullRef(ctx, cmp.Or(from, "HEAD")); !strings.HasPrefix(l.Ref, "refs/heads/") || len(l.Ref) > maxRef {
		l.Ref = "refs/heads/base"
	}
	// A repository that borrows all objects has only the branch for the bundle.
	tmp, err := os.MkdirTemp("", "tandemux-bundle-")
	if err != nil {
		return l, filetree.Full(err)
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // else the system removes it in time
	b := git.Git{Dir: tmp}.With("GIT_DIR="+tmp, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+git.QuotePath(filepath.Join(common, "objects")), "GIT_NO_LAZY_FETCH=1")
	err = create(ctx, b, formatOf(ctx, g))
	if err == nil {
		_, err = b.Run(ctx, "update-ref", l.Ref, l.Commit)
	}
	if err == nil {
		err = l.bundle(ctx, b, to, l.Ref)
	}
	if err != nil {
		return l, fmt.Errorf("bundle the repository %s: %w", l.Source, err)
	}
	return l, nil
}

// bundle writes a bundle of what words name, and sets size and digest.
func (l *Load) bundle(ctx context.Context, g git.Git, to io.Writer, words ...string) error {
	m := newMeter(to, MaxSize)
	if _, err := g.Into(m).Run(ctx, append([]string{"bundle", "create", "-q", "-"}, words...)...); m.size > m.most {
		return tooLarge(m.most)
	} else if err != nil {
		return err
	}
	l.Size, l.Digest = m.size, m.digest()
	return nil
}

// create makes an empty bare repository where git runs, without hooks and with only git's own
// configuration.
func create(ctx context.Context, g git.Git, format string) error {
	_, err := g.Run(ctx, "init", "-q", "--bare", "--template=", "--initial-branch=none", "--object-format="+format)
	return err
}

// formatOf returns the hash function of a repository.
func formatOf(ctx context.Context, g git.Git) string {
	format, err := g.Line(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return "sha1"
	}
	return format
}

// PackDirectory writes a directory's files, without git's own, and returns what was left out.
func PackDirectory(ctx context.Context, dir string, to io.Writer) (l Load, skipped []string, err error) {
	l = Load{Kind: Archive, Source: dir}
	top, err := filetree.OpenFolder(dir)
	if err != nil {
		return l, nil, filetree.Missing(err, "the directory %s", dir)
	}
	defer top.Close()
	seen, err := filetree.Scan(ctx, top, limits, nil, func(path string) bool {
		_, name := filetree.Parent(path)
		if filetree.IsGit(name) && len(skipped) < filetree.MaxListed {
			skipped = append(skipped, path)
		}
		return filetree.IsGit(name)
	})
	if err != nil {
		return l, nil, err
	}
	m := newMeter(to, MaxSize)
	if err := filetree.WriteArchive(ctx, m, filetree.Part{From: filetree.Source{Top: top}, Entries: seen.Files}); err != nil {
		return l, nil, err
	}
	l.Size, l.Digest = m.size, m.digest()
	return l, append(skipped, seen.Skipped...), nil
}

// repository and files are the names of what Unpack makes in its directory.
const (
	repository = "repository.git"
	files      = "files"
)

// Unpack makes what a workspace is made of from an untrusted file, in a directory that it creates, and
// returns the value of --workspace for it. It creates all of the directory or nothing; if the
// directory exists it is used.
func (l Load) Unpack(ctx context.Context, file, dir string) (string, error) {
	made, at := map[string]string{Bundle: repository, Archive: files}[l.Kind], filepath.Join(dir, "")
	kind := map[string]workspace.Kind{Bundle: workspace.Worktree, Archive: workspace.Copy}[l.Kind]
	words := string(kind) + ":" + filepath.Join(at, made)
	if _, err := os.Stat(filepath.Join(at, made)); err == nil {
		return words, nil
	}
	fresh := at + ".new"
	if err := filetree.RemoveTree(fresh); err != nil {
		return "", err
	}
	if err := os.MkdirAll(fresh, 0o700); err != nil {
		return "", filetree.Full(err)
	}
	unpack := map[string]func(context.Context, string, string) error{Bundle: l.unbundle, Archive: l.unarchive}[l.Kind]
	if unpack == nil {
		return "", l.Check()
	}
	err := unpack(ctx, file, filepath.Join(fresh, made))
	if err == nil {
		err = os.Rename(fresh, at)
	}
	if err != nil {
		return "", errors.Join(err, filetree.RemoveTree(fresh))
	}
	return words, nil
}

func (l Load) unarchive(ctx context.Context, file, to string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = filetree.Unpack(ctx, f, to, filetree.PullOptions{Limits: &limits})
	return err
}

// open reads a bundle's header, and returns an error if it is not the load's.
func (l Load) open(file string) (h header, err error) {
	f, err := os.Open(file)
	if err != nil {
		return h, err
	}
	defer f.Close()
	if h, err = readHeader(f); err == nil && (h.ref != l.Ref || h.commit != l.Commit) {
		err = filetree.Failf(filetree.ErrInvalid, "the bundle can't be taken: it has %q at %s in place of %q at %s", filetree.Clip(h.ref), h.commit, filetree.Clip(l.Ref), l.Commit)
	}
	return h, err
}

func (l Load) unbundle(ctx context.Context, file, to string) error {
	h, err := l.open(file)
	if err != nil {
		return err
	}
	if len(h.needs) > 0 {
		return filetree.Failf(filetree.ErrInvalid, "the bundle can't be taken: it needs commits that are not here")
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return filetree.Full(err)
	}
	g := git.Git{Dir: to}.With("GIT_DIR=" + to)
	if err := create(ctx, g, h.format); err != nil {
		return err
	}
	if err := h.take(ctx, g, file); err != nil {
		return err
	}
	for _, words := range [][]string{{"update-ref", l.Ref, l.Commit}, {"symbolic-ref", "HEAD", l.Ref}} {
		if _, err := g.Run(ctx, words...); err != nil {
			return filetree.Failf(filetree.ErrInvalid, "the bundle can't be taken: %w", err)
		}
	}
	return fits(ctx, g, l.Commit)
}

// older are git's complaints about old histories that do no harm.
var older = []string{
	"badDateOverflow", "badTimezone", "missingEmail", "missingNameBeforeEmail", "missingSpaceBeforeDate", "missingSpaceBeforeEmail", "multipleAuthors",
	"zeroPaddedDate", "zeroPaddedFilemode",
}

// take adds the objects of a bundle to a repository. git checks each object, and that all referenced
// ones exist.
func (h header) take(ctx context.Context, g git.Git, file string) error {
	for _, commit := range h.needs {
		if _, err := g.Run(ctx, "cat-file", "-e", commit+"^{commit}"); err != nil {
			return filetree.Failf(filetree.ErrNotFound, "the repository does not have the commit %.12s that the task began with", commit)
		}
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(h.size, io.SeekStart); err != nil {
		return err
	}
	_, err = g.From(f).Run(ctx, "index-pack", "--stdin", "--fix-thin", "--strict="+strings.Join(older, "=ignore,")+"=ignore")
	if err == nil {
		_, err = g.Run(ctx, "cat-file", "-e", h.commit+"^{commit}")
	}
	if said, is := errors.AsType[*git.Error](err); is {
		return filetree.Failf(filetree.ErrInvalid, "the bundle can't be taken: %w", said)
	}
	return err
}

// fits returns an error for a commit whose checkout would fill the disk.
func fits(ctx context.Context, g git.Git, commit string) error {
	count, bytes := 0, int64(0)
	pr, pw := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := g.Into(pw).Run(ctx, "ls-tree", "-r", "--long", "-z", "--full-tree", commit)
		pw.CloseWithError(err) //nolint:errcheck // never fails
		done <- err
	}()
	err := entries(pr, func(head string) error {
		count++
		if f := strings.Fields(head); len(f) == 4 { // MODE TYPE ID SIZE
			n, _ := strconv.ParseInt(f[3], 10, 64) //nolint:errcheck // of a submodule it is "-"
			bytes += n
		}
		if count > limits.Files || bytes > limits.Bytes {
			return filetree.Failf(filetree.ErrTooLarge, "the commit has more than %d files, or %d bytes", limits.Files, limits.Bytes)
		}
		return nil
	})
	pr.CloseWithError(err) //nolint:errcheck // never fails
	if e := <-done; err == nil {
		err = e
	}
	return err
}

func Remove(dir string) error {
	if err := filetree.RemoveTree(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the files of a task: %w", err)
	}
	return nil
}

// Result writes what a task has made of an unpacked load: of a repository what its branch has in
// addition, of a directory the files of the workspace.
func (l Load) Result(ctx context.Context, dir, branch, work string, to io.Writer) (Load, error) {
	if l.Kind == Archive {
		r, _, err := PackDirectory(ctx, work, to)
		r.Source = ""
		return r, err
	}
	at := filepath.Join(dir, repository)
	g := git.Git{Dir: at}.With("GIT_DIR=" + at)
	r := Load{Kind: Bundle, Ref: "refs/heads/" + branch}
	var err error
	if r.Commit, err = g.Line(ctx, "rev-parse", "--verify", "-q", "--end-of-options", r.Ref+"^{commit}"); err != nil {
		return r, fmt.Errorf("find the task's branch %s: %w", branch, err)
	}
	if n, err := g.Count(ctx, l.Commit+".."+r.Commit); err != nil || n == 0 {
		return r, err
	}
	return r, r.bundle(ctx, g, to, r.Ref, "^"+l.Commit)
}

// entries reads output of git separated by NUL, and calls each with what is before the path.
func entries(from io.Reader, each func(head string) error) error {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadString(0)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		head, _, _ := strings.Cut(line, "\t")
		if err := each(head); err != nil {
			return err
		}
	}
}
