package workspace

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// Paths at which a sandbox has the parts of git.
const (
	mountFiles   = "/workspace"
	mountGit     = "/run/tandemux/git"
	mountObjects = "/run/tandemux/objects"
)

// Mount is a mount of a sandbox. Later ones hide earlier ones.
type Mount struct {
	Source   string // on this machine; empty means a tmpfs
	Target   string // in the sandbox
	Writable bool
}

const quarantineName = "workspace.objects" // objects that a sandboxed agent committed, while they are checked

// Mounts returns the mounts with which the workspace is at /workspace and git works in it. A
// worktree's git directory in the sandbox is the task's own; the repository's objects are readable
// there, and nothing of the repository is writable. A workspace of kind none is a tmpfs.
func (w *Workspace) Mounts(ctx context.Context) ([]Mount, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if r.Kind == None {
		return []Mount{{Target: mountFiles, Writable: true}}, nil
	}
	top, err := r.open()
	if err != nil {
		return nil, err
	}
	top.Close()
	mounts := []Mount{{Source: r.Dir, Target: mountFiles, Writable: !r.NoUpdate}}
	if r.Kind != Worktree {
		return mounts, nil
	}
	stores, err := w.makePrivate(ctx, r)
	if err != nil {
		return nil, err
	}
	private := w.path(gitName)
	mounts = append(mounts,
		Mount{Source: w.path(gitFileName), Target: mountFiles + "/.git"},
		Mount{Source: private, Target: mountGit, Writable: !r.NoUpdate},
		Mount{Source: filepath.Join(private, "config"), Target: mountGit + "/config"},
	)
	for i, dir := range stores {
		mounts = append(mounts, Mount{Source: dir, Target: fmt.Sprintf("%s/%d", mountObjects, i)})
	}
	return mounts, nil
}

// makePrivate makes the git directory for the sandbox if it does not exist, and returns the object
// directories that it borrows from.
func (w *Workspace) makePrivate(ctx context.Context, r *record) ([]string, error) {
	stores := objectStores(filepath.Join(r.Common, "objects"))
	private := w.path(gitName)
	if _, err := os.Lstat(w.path(gitFileName)); err == nil {
		return stores, nil
	}
	if err := r.repository(); err != nil {
		return nil, err
	}
	if err := filetree.RemoveTree(private); err != nil {
		return nil, err
	}
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(private, dir), 0o700); err != nil {
			return nil, filetree.Full(err)
		}
	}
	tip, err := w.worktreeGit(r).Line(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+r.Branch+"^{commit}")
	if err != nil {
		return nil, filetree.Failf(filetree.ErrNotFound, "the branch %s of task %s is not there any more", r.Branch, r.ID)
	}
	config, err := w.privateConfig(ctx, r)
	if err != nil {
		return nil, err
	}
	refs, err := w.worktreeGit(r).Run(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/remotes")
	if err != nil {
		return nil, err
	}
	var alternates strings.Builder
	for i := range stores {
		fmt.Fprintf(&alternates, "%s/%d\n", mountObjects, i)
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(private, "config"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(private, "packed-refs"), []byte("# pack-refs with: \n"+refs), 0o600),
		os.WriteFile(filepath.Join(private, "objects/info/alternates"), []byte(alternates.String()), 0o600),
		git.CopyFile(filepath.Join(r.Common, "info/exclude"), filepath.Join(private, "info/exclude")),
		git.CopyFile(filepath.Join(r.Common, "shallow"), filepath.Join(private, "shallow")),
		git.CopyFile(filepath.Join(r.Admin, "MERGE_HEAD"), filepath.Join(private, "MERGE_HEAD")), // from an update
		git.CopyFile(filepath.Join(r.Admin, "MERGE_MSG"), filepath.Join(private, "MERGE_MSG")),
		w.writePrivate(r, tip),
	)
	if err != nil {
		return nil, filetree.Full(err)
	}
	r.Taken = tip
	if err := w.save(r); err != nil {
		return nil, err
	}
	return stores, os.WriteFile(w.path(gitFileName), []byte("gitdir: "+mountGit+"\n"), 0o600)
}

// writePrivate sets branch, HEAD and index of the sandbox's git directory to a commit. The agent can
// write to that directory, so no path in it may lead out.
func (w *Workspace) writePrivate(r *record, tip string) error {
	d, err := filetree.OpenFolder(w.path(gitName))
	if err != nil {
		return err
	}
	defer d.Close()
	var at time.Time // see git.CopyFile
	if st, err := os.Stat(filepath.Join(r.Admin, "index")); err == nil {
		at = st.ModTime()
	}
	index, err := filetree.ReadOptional(filepath.Join(r.Admin, "index"))
	if err != nil {
		return err
	}
	return errors.Join(
		put(d, "HEAD", []byte("ref: refs/heads/"+r.Branch+"\n")),
		put(d, "refs/heads/"+r.Branch, []byte(tip+"\n")),
		put(d, "index", index),
		filetree.SetTime(d, "index", at.UnixNano()),
	)
}

// put replaces a file in a directory to which others may write.
func put(top *filetree.Folder, path string, b []byte) error {
	dir, name := filetree.Parent(path)
	d, err := top.Grow(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	tmp := name + "." + rand.Text() // a name that nobody else uses
	f, err := d.Create(tmp)
	if err != nil {
		return filetree.Full(err)
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return filetree.Full(err)
	}
	return d.Rename(tmp, d, name)
}

// privateConfig returns the configuration for the sandbox's git: the repository's format, and the
// committer. It has nothing else of the repository's configuration.
func (w *Workspace) privateConfig(ctx context.Context, r *record) (string, error) {
	g := w.worktreeGit(r)
	format, err := g.Line(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	version := 0
	if format != "sha1" {
		version = 1
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryformatversion = %d\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n[gc]\n\tauto = 0\n", version)
	if version == 1 {
		fmt.Fprintf(&b, "[extensions]\n\tobjectFormat = %s\n", format)
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ")
	name, _ := g.Line(ctx, "config", "user.name")
	mail, _ := g.Line(ctx, "config", "user.email")
	fmt.Fprintf(&b, "[user]\n\tname = \"%s\"\n\temail = \"%s\"\n", quote.Replace(cmp.Or(name, "tandemux")), quote.Replace(cmp.Or(mail, "tandemux@localhost")))
	return b.String(), nil
}

// maxStores bounds the object directories that a repository borrows from.
const maxStores = 16

// objectStores returns an object directory and those that it borrows from.
func objectStores(dir string) []string {
	stores := []string{dir}
	for i := 0; i < len(stores) && len(stores) < maxStores; i++ {
		b, _ := os.ReadFile(filepath.Join(stores[i], "info/alternates"))
		for line := range strings.SplitSeq(string(b), "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(stores[i], line)
			}
			if st, err := os.Stat(line); err == nil && st.IsDir() {
				stores = append(stores, line)
			}
		}
	}
	return stores
}

var (
	hashName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })
	objectDir  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{2}|pack)$`) })
	objectFile = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([0-9a-f]{2}/([0-9a-f]{38}|[0-9a-f]{62})|pack/pack-[0-9a-f]{40,64}\.(pack|idx))$`)
	})
)

// takeCommits brings what a sandboxed agent committed into the repository: the new objects of its
// branch, each checked, and then the branch.
func (w *Workspace) takeCommits(ctx context.Context, r *record) error {
	if err := r.repository(); err != nil {
		return err
	}
	d, err := filetree.OpenFolder(w.path(gitName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no sandbox was started
	}
	if err != nil {
		return err
	}
	defer d.Close()
	tip, err := privateRef(d, "refs/heads/"+r.Branch)
	if err != nil || tip == r.Taken {
		return err
	}
	dir := w.path(quarantineName)
	if err := filetree.RemoveTree(dir); err != nil {
		return err
	}
	defer func() { _ = filetree.RemoveTree(dir) }()
	if err := w.copyObjects(ctx, d, dir); err != nil {
		return fmt.Errorf("take the task's commits: %w", err)
	}
	if err := w.takeObjects(ctx, r, dir, tip); err != nil {
		return fmt.Errorf("take the task's commits: %w", err)
	}
	g := w.store.git(r.Common).With("GIT_DIR=" + r.Common)
	if at, e := g.Line(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+r.Branch); e == nil && at == tip {
		// A host that died has moved it.
	} else if err := g.MoveRef(ctx, "tandemux: take the task's commits", "refs/heads/"+r.Branch, tip, r.Taken); err != nil {
		return git.Moved(err, filetree.Failf(filetree.ErrConflict, "the branch %s was moved both by the task and in the repository; the task's commit %s is in the repository, so merge it by hand", r.Branch, tip))
	}
	r.Taken = tip
	if err := w.save(r); err != nil {
		return err
	}
	return w.reindex(ctx, r, tip, nil)
}

// privateRef reads a branch of the sandbox's git directory, without git, because the agent can change
// git's configuration there.
func privateRef(d *filetree.Folder, ref string) (string, error) {
	loose, err := readSmall(d, ref, 1<<10)
	if err != nil {
		return "", err
	}
	if hash := strings.TrimSpace(string(loose)); hashName().MatchString(hash) {
		return hash, nil
	}
	packed, err := readSmall(d, "packed-refs", 64<<20)
	if err != nil {
		return "", err
	}
	for line := range strings.SplitSeq(string(packed), "\n") {
		if hash, name, ok := strings.Cut(line, " "); ok && name == ref && hashName().MatchString(hash) {
			return hash, nil
		}
	}
	return "", filetree.Failf(filetree.ErrConflict, "the task's branch is not there any more in its git directory; what is in the workspace is")
}

// readSmall reads a file, or returns nil if there is none.
func readSmall(top *filetree.Folder, path string, most int64) ([]byte, error) {
	f, st, err := filetree.Source{Top: top}.Open(&filetree.Entry{Path: path})
	if filetree.Absent(err) || errors.Is(err, filetree.ErrIrregular) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st.Size > most {
		return nil, filetree.Failf(filetree.ErrTooLarge, "%q has more than %d bytes", filetree.Clip(path), most)
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// copyObjects copies the objects that the agent's git wrote, and nothing else: no alternates, no
// links.
func (w *Workspace) copyObjects(ctx context.Context, d *filetree.Folder, dir string) error {
	from, err := d.Walk("objects")
	if err != nil {
		return err
	}
	defer from.Close()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return filetree.Full(err)
	}
	to, err := filetree.OpenFolder(dir)
	if err != nil {
		return err
	}
	defer to.Close()
	leave := func(path string) bool { return !objectDir().MatchString(path) && !objectFile().MatchString(path) }
	seen, err := filetree.Scan(ctx, from, w.store.Limits, nil, leave)
	if err != nil {
		return err
	}
	files := slices.DeleteFunc(seen.Files, func(e filetree.Entry) bool { return e.Mode.IsDir() != objectDir().MatchString(e.Path) || e.IsLink() })
	return filetree.LayOut(ctx, filetree.Source{Top: from}, to, files)
}

// takeObjects packs the objects that tip needs and the repository lacks; git checks every object as it
// stores them.
func (w *Workspace) takeObjects(ctx context.Context, r *record, dir, tip string) error {
	see := w.store.git(r.Common).With("GIT_DIR="+r.Common, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+git.QuotePath(dir), "GIT_NO_LAZY_FETCH=1")
	if kind, err := see.Line(ctx, "cat-file", "-t", tip); err != nil || kind != "commit" {
		return filetree.Failf(filetree.ErrConflict, "the task's branch is at %s, which is no commit that there is", tip)
	}
	there, err := see.Run(ctx, "for-each-ref", "--format=%(objectname)")
	if err != nil {
		return err
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return err
	}
	defer pr.Close()
	packed := make(chan error, 1)
	go func() {
		_, err := see.From(strings.NewReader(tip+"\n--not\n"+r.Taken+"\n"+there)).Into(pw).
			Run(ctx, "pack-objects", "--revs", "--stdout", "-q", "--no-reuse-delta", "--delta-base-offset")
		packed <- errors.Join(err, pw.Close())
	}()
	_, err = w.store.git(r.Common).With("GIT_DIR="+r.Common).From(pr).Run(ctx, "index-pack", "--stdin", "--fix-thin", "--strict")
	_ = pr.Close()
	return errors.Join(<-packed, err)
}
