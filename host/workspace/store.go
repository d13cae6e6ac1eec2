package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// Options of a Store.
type Options struct {
	// State is the state directory, absolute. Missing directories in it are created with mode 0700.
	State string
	// Git is the path of git; empty means to look it up in PATH.
	Git string
	// About returns the subject and body of a commit message about a task's work since a time, or "".
	// It may be nil.
	About func(ctx context.Context, task string, since time.Time) (subject, body string)
	// Check returns what must succeed before a workspace's work is merged, or nil. It is called while
	// no workspace is locked. It may be nil.
	Check func(w *Workspace) func(context.Context) error
	// Resting returns why a task's files may be in the middle of a change, or nil. It may be nil.
	Resting func(ctx context.Context, task string) error
	// Carry returns globs of ignored files of a directory that its new worktrees get; common is the
	// directory's git directory. It may be nil.
	Carry func(dir, common string) []string
	// Limits bounds what is copied in; zero values mean the defaults.
	Limits filetree.Limits
}

// Store has the filesystems and workspaces below a state directory.
type Store struct {
	*filetree.Trees
	options Options
	moving  filetree.Keyed // locks workspaces whose files are changed
	repos   filetree.Keyed // locks repositories whose list of worktrees is changed
}

// Open opens the store. Only one process may have it open: the one that holds the lock of the tasks'
// records (package task/store). It only creates directories; what a host that died left behind is
// repaired when it is used, or by Sweep.
func Open(o Options) (*Store, error) {
	filesystems := filepath.Join(o.State, "filesystems")
	for _, dir := range []string{filesystems, filepath.Join(o.State, "tasks")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open the workspaces: %w", filetree.Full(err))
		}
	}
	return &Store{Trees: filetree.NewTrees(filesystems, o.Limits), options: o}, nil
}

// Sweep removes the files of tasks and filesystems for which keepTask and keepFilesystem return false.
// It is for the start, and for `tandemux task cleanup`.
func (s *Store) Sweep(ctx context.Context, keepTask, keepFilesystem func(id string) bool) error {
	var failed []error
	list, err := os.ReadDir(filepath.Join(s.options.State, "tasks"))
	failed = append(failed, err)
	for _, e := range list {
		if id := e.Name(); filetree.CheckID("task", id) == nil && !keepTask(id) {
			_, err := s.Remove(ctx, id, false)
			failed = append(failed, err)
		}
	}
	return errors.Join(append(failed, s.Trees.Sweep(keepFilesystem))...)
}

func (s *Store) git(dir string) git.Git { return git.Git{Program: s.options.Git, Dir: dir} }

// Kind says where a workspace's files come from.
type Kind string

// The values of Spec.Kind.
const (
	Worktree   Kind = "worktree"   // a git worktree on its own branch
	Copy       Kind = "copy"       // a copy of a directory, stored as a new filesystem
	Filesystem Kind = "filesystem" // an existing filesystem
	ReadOnly   Kind = "ro"         // the directory itself, read-only
	ReadWrite  Kind = "rw"         // the directory itself
	None       Kind = "none"       // a tmpfs
)

// Spec describes a workspace to make.
type Spec struct {
	Kind Kind `json:"kind"`
	// Dir is the directory that it is made of, absolute; of a worktree, any directory in the
	// repository.
	Dir string `json:"dir,omitempty"`
	// Filesystem is the id of a filesystem; of a copy, the id for the new one.
	Filesystem string `json:"filesystem,omitempty"`
	// Name is the task's name in the branch tandemux/NAME: letters, digits, "-", "_", ".".
	Name string `json:"name,omitempty"`
	// Branch is the worktree's branch; empty means tandemux/NAME, or the first free of
	// tandemux/NAME-2, tandemux/NAME-3 …. If it exists the error is ErrConflict.
	Branch string `json:"branch,omitempty"`
	// From is the commit that a worktree starts at; empty means the repository's HEAD.
	From string `json:"from,omitempty"`
	// NoUpdate says that the filesystem may only be read (U83): files are never copied back, and the
	// mount is read-only.
	NoUpdate bool `json:"noUpdate,omitempty"`
}

// Parse parses the value of `--workspace`: worktree[:DIR], copy:DIR, ro:DIR, rw:DIR, fs:ID, none. A
// relative DIR is relative to cwd, which is absolute.
func Parse(text, cwd string) (Spec, error) {
	word, rest, has := strings.Cut(text, ":")
	spec := Spec{Kind: Kind(word)}
	switch spec.Kind {
	case Worktree:
		if !has {
			rest = "."
		}
	case Copy, ReadOnly, ReadWrite:
		if rest == "" {
			return Spec{}, filetree.Failf(filetree.ErrInvalid, "workspace %q: name the directory: %s:DIR", text, word)
		}
	case "fs", Filesystem:
		if err := filetree.CheckID("filesystem", rest); err != nil {
			return Spec{}, err
		}
		return Spec{Kind: Filesystem, Filesystem: rest}, nil
	case None:
		if has {
			return Spec{}, filetree.Failf(filetree.ErrInvalid, "workspace %q: none takes no directory", text)
		}
		return spec, nil
	default:
		return Spec{}, filetree.Failf(filetree.ErrInvalid, "workspace %q: want worktree, copy:DIR, ro:DIR, rw:DIR, fs:ID or none", text)
	}
	if !filepath.IsAbs(rest) {
		rest = filepath.Join(cwd, rest)
	}
	spec.Dir = filepath.Clean(rest)
	return spec, nil
}
