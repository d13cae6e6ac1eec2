package workspace

import "context"

// Options of a Store.
type Options struct {
	// State is the state directory, absolute, 0700; what of it is missing is made.
	State string
	// Git is git's binary; empty: looked up in PATH at the first use.
	Git string
	// Limits bound what comes in; zero values: the defaults.
	Limits Limits
}

// Limits bound a tree.
type Limits struct {
	Files    int   // entries; 0: 1,000,000
	Bytes    int64 // of all contents; 0: 64 GiB
	FileSize int64 // of one file; 0: 16 GiB
}

// Store keeps filesystems and workspaces below a state directory.
type Store struct {
	options Options
}

// Open opens the store, which nobody else may have open. It touches nothing but
// directories; what a death left behind is put right when it is asked for, or by
// Sweep.
func Open(o Options) (*Store, error) { return &Store{options: o}, nil }

// Close lets another process open it. Nothing may be under way.
func (s *Store) Close() error { return nil }

// Sweep removes what no task and no filesystem in use owns: keep reports whether an
// id is in use. It is for the start, and for `cotty task cleanup`.
func (s *Store) Sweep(ctx context.Context, keepTask, keepFilesystem func(id string) bool) error {
	return nil
}
