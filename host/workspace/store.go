package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
)

// Options of a Store.
type Options struct {
	// State is the state directory, absolute, 0700; what of it is missing is made.
	State string
	// Git is git's binary; empty: looked up in PATH at the first use.
	Git string
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
	return errors.Join(append(failed, s.Trees.Sweep(ctx, keepFilesystem))...)
}

// git runs in a directory.
func (s *Store) git(dir string) git.Git { return git.Git{Program: s.options.Git, Dir: dir} }
