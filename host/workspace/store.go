package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

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
	lock    *os.File
	making  keyed // filesystems that are being made
	moving  keyed // workspaces whose files are being moved
	repos   keyed // repositories whose list of worktrees is being changed

	mu    sync.Mutex
	trees map[string]*Tree
}

// lockTime is how long Open waits for the process before to let go.
const lockTime = 5 * time.Second

// Open opens the store, which nobody else may have open. It touches nothing but
// directories; what a death left behind is put right when it is asked for, or by
// Sweep.
func Open(o Options) (*Store, error) {
	def := func(v *int64, otherwise int64) {
		if *v == 0 {
			*v = otherwise
		}
	}
	if o.Limits.Files == 0 {
		o.Limits.Files = 1_000_000
	}
	def(&o.Limits.Bytes, 64<<30)
	def(&o.Limits.FileSize, 16<<30)
	for _, dir := range []string{"filesystems", "tasks"} {
		if err := os.MkdirAll(filepath.Join(o.State, dir), 0o700); err != nil {
			return nil, fmt.Errorf("open the workspaces: %w", full(err))
		}
	}
	lock, err := os.OpenFile(filepath.Join(o.State, "workspaces.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the workspaces: %w", err)
	}
	ends := time.Now().Add(lockTime)
	for {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return &Store{options: o, lock: lock, trees: map[string]*Tree{}}, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(ends) {
			_ = lock.Close()
			return nil, fmt.Errorf("open the workspaces in %s: another host has them open: %w", o.State, err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// Close lets another process open it. Nothing may be under way.
func (s *Store) Close() error { return s.lock.Close() }

// Names that no id has: what is being made, and what is being removed.
const (
	newPrefix = ".new-"
	oldPrefix = ".old-"
)

// Sweep removes what no task and no filesystem in use owns: keep reports whether an
// id is in use. It is for the start, and for `cotty task cleanup`.
func (s *Store) Sweep(ctx context.Context, keepTask, keepFilesystem func(id string) bool) error {
	var failed []error
	list, err := os.ReadDir(filepath.Join(s.options.State, "tasks"))
	failed = append(failed, err)
	for _, e := range list {
		if id := e.Name(); checkID("task", id) == nil && !keepTask(id) {
			_, err := s.Remove(ctx, id, false)
			failed = append(failed, err)
		}
	}
	dir := filepath.Join(s.options.State, "filesystems")
	list, err = os.ReadDir(dir)
	failed = append(failed, err)
	for _, e := range list {
		id := e.Name()
		switch {
		case strings.HasPrefix(id, newPrefix):
			unlock := s.making.lock(strings.TrimPrefix(id, newPrefix))
			failed = append(failed, removeTree(filepath.Join(dir, id)))
			unlock()
		case strings.HasPrefix(id, oldPrefix):
			failed = append(failed, removeTree(filepath.Join(dir, id)))
		case checkID("filesystem", id) == nil && !keepFilesystem(id):
			if err := s.RemoveTree(ctx, id); !errors.Is(err, ErrNotFound) {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

// removeTree removes a directory of the store's with all in it.
func removeTree(path string) error {
	dir, name := filepath.Split(path)
	d, err := openFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	return d.removeAll(name)
}

// keyed is a lock for each name. Those that were asked for once stay.
type keyed struct{ locks sync.Map }

// lock waits for a name and gives what unlocks it.
func (k *keyed) lock(name string) (unlock func()) {
	l, _ := k.locks.LoadOrStore(name, &sync.Mutex{})
	m := l.(*sync.Mutex) //nolint:forcetypeassert // there is nothing else in it
	m.Lock()
	return m.Unlock
}

// replaceFile writes a file of the store's own: the old contents or the new are there,
// whatever happens. With sync they outlast a power cut.
func replaceFile(file string, b []byte, sync bool) error {
	tmp := file + ".new"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return full(err)
	}
	_, err = f.Write(b)
	if err == nil && sync {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp, file)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return full(err)
	}
	return nil
}

// readOptional reads a file that need not be there.
func readOptional(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}
