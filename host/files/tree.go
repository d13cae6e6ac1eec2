package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Limits bounds what is done with many files.
type Limits struct {
	TreeEntries    int // copied or removed by one request
	WatchEntries   int // looked at for a watch, for the directories among them
	WatchedDirs    int // by one watch
	WatchedDirsAll int // by all watches
}

// tree is a walk below a root.
type tree struct {
	root    *os.Root
	left    int  // how many entries it may come by
	lenient bool // leaves out what can't be read
}

// errTooMany ends what has come to its bound.
var errTooMany = errors.New("too many files")

// walk visits what is below a directory, each directory before what is in it; one for
// which visit says fs.SkipDir is left out. No link is followed.
func (t *tree) walk(ctx context.Context, dir string, visit func(rel string, kind fs.FileMode) error) error {
	dirs, err := t.list(ctx, dir, visit)
	for _, d := range dirs {
		err := t.walk(ctx, d, visit)
		if err != nil && (!t.lenient || !errors.Is(err, fs.ErrPermission)) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
	}
	return err
}

// list visits the entries of a directory and gives the directories to go on with.
func (t *tree) list(ctx context.Context, dir string, visit func(rel string, kind fs.FileMode) error) (dirs []string, err error) {
	f, err := t.root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(1024)
		if ctx.Err() != nil {
			return nil, context.Canceled
		}
		if t.left -= len(entries); t.left < 0 {
			return nil, errTooMany
		}
		for _, e := range entries {
			rel := filepath.Join(dir, e.Name())
			switch err := visit(rel, e.Type()); {
			case errors.Is(err, fs.SkipDir):
			case err != nil:
				return nil, err
			case e.IsDir():
				dirs = append(dirs, rel)
			}
		}
		if errors.Is(err, io.EOF) {
			return dirs, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// copying is one of a tree.
type copying struct {
	from tree
	to   *os.Root
	left int64 // bytes
	dirs []copiedDir
}

// copiedDir is a directory below the copy, which may be written into as long as the
// copying lasts.
type copiedDir struct {
	rel  string
	mode fs.FileMode
}

// all copies what is at rel to a name that is free.
func (c *copying) all(ctx context.Context, rel, to string) error {
	info, err := c.from.root.Lstat(rel)
	if err != nil {
		return err
	}
	if err := c.one(rel, to, ".", info.Mode()); err != nil || !info.IsDir() {
		return err
	}
	return c.from.walk(ctx, rel, func(at string, kind fs.FileMode) error {
		sub, err := filepath.Rel(rel, at)
		if err != nil {
			return err
		}
		return c.one(at, to, sub, kind)
	})
}

// close gives the directories of a copy, by then called to, their modes.
func (c *copying) close(to string) error {
	for _, d := range slices.Backward(c.dirs) {
		if err := c.to.Chmod(filepath.Join(to, d.rel), d.mode); err != nil {
			return err
		}
	}
	return nil
}

// one copies an entry to where sub is in the copy; of a directory not what is in it.
func (c *copying) one(rel, to, sub string, kind fs.FileMode) error {
	to = filepath.Join(to, sub)
	switch {
	case kind.IsDir():
		info, err := c.from.root.Lstat(rel)
		if err != nil {
			return err
		}
		c.dirs = append(c.dirs, copiedDir{sub, info.Mode().Perm()})
		return c.to.Mkdir(to, 0o700)
	case kind&fs.ModeSymlink != 0:
		text, err := c.from.root.Readlink(rel)
		if err != nil {
			return err
		}
		return c.to.Symlink(text, to)
	}
	f, err := c.from.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // a pipe, a socket, a device
		return fs.ErrPermission
	}
	if c.left -= info.Size(); c.left < 0 {
		return errTooMany
	}
	return create(c.to, to, io.LimitReader(f, info.Size()), info.Mode().Perm(), true)
}
