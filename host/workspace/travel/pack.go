package travel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// PackRepository writes the history of a commit of the repository that a directory is in, of
// HEAD for from "". The repository is read and not changed.
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
		l.Source = common // a bare one
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
	// A repository that borrows all objects has the one branch that is to be in the bundle.
	tmp, err := os.MkdirTemp("", "tandemux-bundle-")
	if err != nil {
		return l, filetree.Full(err)
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // the system empties it
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

// bundle writes one of what git's words name, and notes what it is.
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

// create makes an empty bare repository where git runs: without hooks, and with no
// configuration but git's own.
func create(ctx context.Context, g git.Git, format string) error {
	_, err := g.Run(ctx, "init", "-q", "--bare", "--template=", "--initial-branch=none", "--object-format="+format)
	return err
}

// formatOf is the hash that a repository's objects have.
func formatOf(ctx context.Context, g git.Git) string {
	format, err := g.Line(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return "sha1"
	}
	return format
}

// PackDirectory writes a directory's files, without git's own, and gives what was left out.
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
