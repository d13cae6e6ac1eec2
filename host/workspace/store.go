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
	// State is the state directory, absolute, 0700; what of it is missing is made.
	State string
	// Git is git's binary; empty: looked up in PATH at the first use.
	Git string
	// About says what a task's work since a time is about, for messages of commits: a line,
	// and what follows it; empty where that is not known. Nil: it never is.
	About func(ctx context.Context, task string, since time.Time) (subject, body string)
	// Check gives what must succeed before a workspace's work comes home, nil for nothing. It
	// is called while no workspace is locked. Nil: nothing ever must.
	Check func(w *Workspace) func(context.Context) error
	// Resting says why a task's files may hold half of a change; nil: they never do.
	Resting func(ctx context.Context, task string) error
	// Carry gives globs of what a new worktree gets besides, of what git ignores in the
	// directory that it is made from; common is its git directory. Nil: none.
	Carry func(dir, common string) []string
	// Limits bound what comes in; zero values: the defaults.
	Limits filetree.Limits
}

// Store keeps filesystems and workspaces below a state directory.
type Store struct {
	*filetree.Trees
	options Options
	moving  filetree.Keyed // workspaces whose files are being moved
	repos   filetree.Keyed // repositories whose list of worktrees is being changed
}

// Open opens the store, which nobody else may have open: who opens it holds the lock of
// the tasks' records (package task/store). It touches nothing but
// directories; what a death left behind is put right when it is asked for, or by
// Sweep.
func Open(o Options) (*Store, error) {
	filesystems := filepath.Join(o.State, "filesystems")
	for _, dir := range []string{filesystems, filepath.Join(o.State, "tasks")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open the workspaces: %w", filetree.Full(err))
		}
	}
	return &Store{Trees: filetree.NewTrees(filesystems, o.Limits), options: o}, nil
}

// Sweep removes what no task and no filesystem in use owns: keep reports whether an
// id is in use. It is for the start, and for `tandemux task cleanup`.
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

// The kinds.
const (
	Worktree   Kind = "worktree"   // a git worktree on a branch of its own
	Copy       Kind = "copy"       // a copy of a directory, kept as a new filesystem
	Filesystem Kind = "filesystem" // a filesystem that there is
	ReadOnly   Kind = "ro"         // a directory itself, read-only
	ReadWrite  Kind = "rw"         // a directory itself
	None       Kind = "none"       // a tmpfs
)

// Spec is what a workspace is to be.
type Spec struct {
	Kind Kind `json:"kind"`
	// Dir is the directory that it is made of, absolute: of worktree, any in the
	// repository; of copy, ro and rw, the directory.
	Dir string `json:"dir,omitempty"`
	// Filesystem is the id of a filesystem. Of copy it is the id that the new one
	// gets.
	Filesystem string `json:"filesystem,omitempty"`
	// Name names the task in the branch, tandemux/NAME; letters, digits, "-", "_", ".".
	Name string `json:"name,omitempty"`
	// Branch is the worktree's branch in full; empty: tandemux/NAME, or the next free of
	// tandemux/NAME-2, tandemux/NAME-3 …. One that exists is an error (ErrConflict).
	Branch string `json:"branch,omitempty"`
	// From is the commit that a worktree starts at; empty: the repository's HEAD.
	From string `json:"from,omitempty"`
	// NoUpdate is set when the caller may read the filesystem only (U83): files are
	// never brought back into it, and the mount is read-only.
	NoUpdate bool `json:"noUpdate,omitempty"`
}

// Parse reads what `--workspace` takes: worktree[:DIR], copy:DIR, ro:DIR, rw:DIR,
// fs:ID, none. A relative DIR is taken from cwd, which is absolute.
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
