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
	"tandemux/host/workspace/merge"
)

// snapshotName is the directory of a snapshot that is being made.
const snapshotName = "workspace.snapshot"

// snapshot is a worktree's files as a tree of git.
type snapshot struct {
	tip  string // the commit of the branch
	tree string
	git  git.Git // has the tree's objects
	// objects are the environment variables with which another git has these objects.
	objects []string
	left    []string
	dir     string
}

func (s *snapshot) close() { _ = filetree.RemoveTree(s.dir) }

// worktreeGit returns a git for the worktree's own git directory, whatever its file .git says.
func (w *Workspace) worktreeGit(r *record) git.Git {
	return w.store.git(r.Common).With("GIT_DIR="+r.Admin, "GIT_COMMON_DIR="+r.Common, "GIT_WORK_TREE="+r.Dir)
}

// snapshot makes a tree of the workspace's files, without those that .gitignore names. git reads
// copies, so that the agent can't make it read something else. With stored the objects are in the
// repository, else only in the snapshot's directory.
func (w *Workspace) snapshot(ctx context.Context, r *record, stored bool) (*snapshot, error) {
	top, err := r.open()
	if err != nil {
		return nil, err
	}
	defer top.Close()
	s := &snapshot{dir: w.path(snapshotName)}
	files, objects := filepath.Join(s.dir, "files"), filepath.Join(s.dir, "objects")
	d, err := filetree.NewFolder(s.dir)
	if err != nil {
		return nil, err
	}
	d.Close()
	if err := errors.Join(os.Mkdir(files, 0o700), os.Mkdir(objects, 0o700)); err != nil {
		return nil, filetree.Full(err)
	}
	if !stored {
		s.objects = []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + git.QuotePath(filepath.Join(r.Common, "objects"))}
	}
	s.git = w.worktreeGit(r).With("GIT_INDEX_FILE=" + filepath.Join(s.dir, "index")).With(s.objects...)
	if err := s.take(ctx, w, r, top, files); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// work returns a snapshot after taking what a sandboxed agent committed.
func (w *Workspace) work(ctx context.Context, r *record, stored bool) (*snapshot, error) {
	if err := w.takeCommits(ctx, r); err != nil {
		return nil, err
	}
	return w.snapshot(ctx, r, stored)
}

func (s *snapshot) take(ctx context.Context, w *Workspace, r *record, top *filetree.Folder, files string) error {
	var err error
	if s.tip, err = s.git.Line(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+r.Branch+"^{commit}"); err != nil {
		return filetree.Failf(filetree.ErrNotFound, "the branch %s of task %s is not there any more", r.Branch, r.ID)
	}
	// The index's stamps save reading files. What is staged in it is in the files, too.
	if err := git.CopyFile(filepath.Join(r.Admin, "index"), filepath.Join(s.dir, "index")); err != nil {
		return err
	}
	if _, err := s.git.Run(ctx, "read-tree", "--reset", s.tip); err != nil {
		return fmt.Errorf("read %s: %w", r.Branch, err)
	}
	in := s.git
	in.Dir = r.Dir
	out, err := in.Run(ctx, "ls-files", "-z", "-m", "-d", "-o", "--exclude-standard")
	if err != nil {
		return fmt.Errorf("look for changes in %s: %w", r.Dir, err)
	}
	paths := git.Words(out)
	slices.Sort(paths)
	if err := s.include(ctx, top, files, slices.Compact(paths)); err != nil {
		return fmt.Errorf("take the changed files: %w", err)
	}
	modules, err := w.modules(r, top).Touched(ctx, s.git, s.tip, w.path(modulesName))
	if err != nil {
		return fmt.Errorf("look at the submodules: %w", err)
	}
	for _, p := range modules {
		if !slices.Contains(s.left, strings.TrimSuffix(p, "/")) {
			s.left = append(s.left, p)
		}
	}
	return nil
}

// include adds what is at paths to the tree, by copies in a directory.
func (s *snapshot) include(ctx context.Context, top *filetree.Folder, files string, paths []string) error {
	changed, err := s.stage(ctx, top, files, paths)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		copies := s.git.With("GIT_WORK_TREE=" + files).From(strings.NewReader(strings.Join(changed, "\x00") + "\x00"))
		copies.Dir = files
		if _, err := copies.Run(ctx, "-c", "core.looseCompression=1", "update-index", "-z", "--add", "--remove", "--replace", "--stdin"); err != nil {
			return err
		}
	}
	s.tree, err = s.git.Line(ctx, "write-tree")
	return err
}

// stage copies changed files, and returns the paths that git has to read.
func (s *snapshot) stage(ctx context.Context, top *filetree.Folder, files string, paths []string) ([]string, error) {
	to, err := filetree.OpenFolder(files)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	var changed []string
	buf := make([]byte, filetree.Small)
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if strings.HasSuffix(p, "/") || filetree.CheckPath(p) != nil || filetree.IsGit(p) {
			s.left = append(s.left, p) // a repository in the repository
			continue
		}
		there, err := filetree.Standing(top, p)
		switch {
		case err != nil || there != nil && there.Mode == fs.ModeIrregular:
			s.left = append(s.left, p) // neither file nor symlink, or not readable
			continue
		case there == nil: // the file is gone
		case there.Mode.IsDir():
			link, err := s.git.Line(ctx, "ls-files", "-s", "--", ":(top,literal)"+p)
			if err != nil || strings.HasPrefix(link, "160000") {
				s.left = append(s.left, p) // a submodule; its contents stay there
				continue
			}
		default:
			dir, name := filetree.Parent(p)
			at, err := to.Grow(dir)
			if err != nil {
				return nil, filetree.Full(err)
			}
			_, err = filetree.Source{Top: top}.CopyTo(at, name, there, buf)
			at.Close()
			switch {
			case errors.Is(err, fs.ErrPermission) || errors.Is(err, filetree.ErrIrregular):
				s.left = append(s.left, p)
				continue
			case err != nil && !filetree.Absent(err): // if it is absent, the next snapshot sees what it is
				return nil, err
			}
		}
		changed = append(changed, p)
	}
	return changed, nil
}

// commit makes a commit of the files on top of the branch, without moving it, and returns the branch's
// own commit if nothing is new. Without a text the message is about the work. more are further
// parents.
func (w *Workspace) commit(ctx context.Context, r *record, s *snapshot, text string, more ...string) (string, error) {
	was, err := s.git.Line(ctx, "rev-parse", "--verify", "-q", s.tip+"^{tree}")
	if err != nil || was == s.tree && len(more) == 0 {
		return s.tip, err
	}
	if text == "" {
		text = merge.Paragraphs(w.about(ctx, r))
	}
	return s.git.Commit(ctx, s.tree, text, append([]string{s.tip}, more...)...)
}

// workCommit commits uncommitted changes, on no branch yet. Conflicts of an update must be resolved;
// then the commit concludes that merge, and message is used for the later merge.
func (w *Workspace) workCommit(ctx context.Context, r *record, s *snapshot, message string) (string, error) {
	merging, err := w.merging(ctx, r, s.tip)
	if err != nil || !merging {
		if err != nil {
			return "", err
		}
		return w.commit(ctx, r, s, message)
	}
	left, err := r.Update.unresolved(ctx, s)
	if err != nil {
		return "", err
	}
	if len(left) > 0 {
		return "", &Conflicts{Into: git.ShortRef(r.Update.Ref), Task: r.name(), Paths: left, Open: true}
	}
	return w.commit(ctx, r, s, "Merge "+git.ShortRef(r.Update.Ref)+" into "+r.Branch, r.Update.Base)
}

// adopt moves the branch from was to a commit of the files.
func (w *Workspace) adopt(ctx context.Context, r *record, was, commit string) error {
	if commit == was {
		return nil
	}
	r.Moving = commit
	if err := w.save(r); err != nil {
		return err
	}
	if err := w.worktreeGit(r).MoveRef(ctx, "tandemux: commit the task's work", "refs/heads/"+r.Branch, commit, was); err != nil {
		return merge.MovedMeanwhile(err, r.Branch)
	}
	if err := w.moved(ctx, r); err != nil || r.Update == nil {
		return err
	}
	if _, err := w.merging(ctx, r, commit); err != nil || r.Update != nil {
		return err
	}
	return concluded(w, r)
}

// moved sets the indexes to the commit r.Moving, if the branch was moved to it.
func (w *Workspace) moved(ctx context.Context, r *record) error {
	tip, err := w.worktreeGit(r).Line(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+r.Branch)
	if err == nil && tip == r.Moving {
		if err := w.settle(ctx, r, tip); err != nil {
			return err
		}
	}
	r.Moving = ""
	return w.save(r)
}

// reindex replaces the worktree's index with one of a tree, which more may change. It uses its own
// index file, so a git that is killed leaves no lock behind.
func (w *Workspace) reindex(ctx context.Context, r *record, tree string, more func(git.Git) error) error {
	index, next := filepath.Join(r.Admin, "index"), filepath.Join(r.Admin, "index.tandemux")
	err := errors.Join(filetree.RemoveTree(next), filetree.RemoveTree(next+".lock"), git.CopyFile(index, next))
	g := w.worktreeGit(r).With("GIT_INDEX_FILE=" + next)
	if err == nil {
		_, err = g.Run(ctx, "read-tree", "--reset", tree)
	}
	if err == nil && more != nil {
		err = more(g)
	}
	if err == nil {
		err = os.Rename(next, index)
	}
	if err != nil {
		return fmt.Errorf("bring the worktree's index up to date: %w", err)
	}
	return nil
}

// settle sets the indexes of the worktree, and of the sandbox's git directory, to the branch's commit.
func (w *Workspace) settle(ctx context.Context, r *record, tip string) error {
	if err := w.reindex(ctx, r, tip, nil); err != nil {
		return err
	}
	if _, err := os.Lstat(w.path(gitName)); err != nil {
		return nil //nolint:nilerr // no sandbox has asked for it
	}
	if err := w.writePrivate(r, tip); err != nil {
		return err
	}
	r.Taken = tip
	return w.save(r)
}

// Committed says where a task's work is.
type Committed struct {
	Source  string `json:"source" doc:"The repository, on the host's machine"`
	Branch  string `json:"branch" doc:"The task's"`
	Commit  string `json:"commit" doc:"What it is at"`
	Commits int    `json:"commits" doc:"How many of them are not in the branch that the worktree was made from"`
	Check   string `json:"check,omitempty" doc:"The command that has passed before"`
}

// Commit commits uncommitted changes of a worktree on its branch, after the check has succeeded
// (Options.Check).
func (w *Workspace) Commit(ctx context.Context, o MergeOptions) (Committed, error) {
	if check := w.checkFor(o); check != nil {
		o.prepare = true
		c, err := w.commitAll(ctx, o)
		if err != nil || c.Commits == 0 {
			return c, err
		}
		if err := check(ctx); err != nil {
			return Committed{}, err
		}
		o.prepare, o.work = false, c.Commit
	}
	return w.commitAll(ctx, o)
}

func (w *Workspace) commitAll(ctx context.Context, o MergeOptions) (Committed, error) {
	r, unlock, err := w.begin()
	if err != nil {
		return Committed{}, err
	}
	defer unlock()
	if r.Kind != Worktree {
		return Committed{}, filetree.Failf(filetree.ErrUnsupported, "a workspace of kind %s has no branch", r.Kind)
	}
	if err := o.check(); err != nil {
		return Committed{}, err
	}
	s, err := w.work(ctx, r, true)
	if err != nil {
		return Committed{}, err
	}
	defer s.close()
	c := Committed{Source: r.Source, Branch: r.Branch}
	if c.Commit, err = w.workOf(ctx, r, s, o); err != nil {
		return c, err
	}
	base := r.Base
	if _, at, err := w.upstream(ctx, r, ""); err == nil {
		base = at
	}
	if c.Commits, err = w.sourceGit(r).Count(ctx, base+".."+c.Commit); err != nil || o.prepare {
		return c, err
	}
	return c, w.adopt(ctx, r, s.tip, c.Commit)
}

// about returns the first line and the rest of a message about the work since the last merge.
func (w *Workspace) about(ctx context.Context, r *record) (subject, body string) {
	if w.store.options.About != nil {
		subject, body = w.store.options.About(ctx, r.ID, r.Merged)
	}
	return cmp.Or(subject, "Work of task "+r.name()), body
}
