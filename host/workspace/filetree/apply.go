package filetree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"
)

// Applier makes changes in a directory that others use meanwhile: it prepares each file in a directory
// beside it, then moves it into the old one's place.
type Applier struct {
	Ctx   context.Context
	Top   *Folder
	Stage string // a directory of ours on the same file system, made anew
	From  Source
	// Careful leaves alone what is no longer as Change.Was has it, and misses it. Changes
	// learn the stamps of what was written.
	Careful bool
	Missed  map[string]bool
}

// current reports whether a path still is as it was seen.
func (a *Applier) current(d *Folder, name string, c *Change) bool {
	if !a.Careful {
		return true
	}
	was, there := Stamp{}, c.Was != nil
	if there {
		was = c.Was.Stamp
	}
	now, err := d.stat(name)
	if there == (err == nil) && (!there || was == now || was.mode == now.mode && was.mode&unix.S_IFMT == unix.S_IFDIR) {
		return true
	}
	if err != nil && there {
		return true // the file is gone: nothing is lost by its replacement
	}
	a.Missed[c.Path] = true
	return false
}

// Apply makes the changes. It prepares all files first and then moves them, so that a lack of space
// shows before anything is moved.
func (a *Applier) Apply(changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	a.Missed = map[string]bool{}
	stage, err := NewFolder(a.Stage)
	if err != nil {
		return err
	}
	defer func() { _ = RemoveTree(a.Stage) }()
	defer stage.Close()
	buf := make([]byte, Small)
	for i, c := range changes {
		if err := a.Ctx.Err(); err != nil {
			return err
		}
		if c.To == nil || c.To.Mode.IsDir() {
			continue
		}
		if c.To.Stamp, err = a.From.CopyTo(stage, strconv.Itoa(i), c.To, buf); err != nil {
			return err
		}
	}
	// Remove first, inner paths before outer ones; then create, outer paths before inner ones.
	for i := len(changes) - 1; i >= 0; i-- {
		if c := &changes[i]; c.To == nil || c.Was != nil && c.Was.Mode.IsDir() != c.To.Mode.IsDir() {
			if err := a.remove(c); err != nil {
				return err
			}
		}
	}
	for i := range changes {
		if changes[i].To != nil {
			if err := a.place(stage, i, &changes[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes what is at a path; a directory only if it is empty, since no change names what else
// is in it.
func (a *Applier) remove(c *Change) error {
	dir, name := Parent(c.Path)
	d, err := a.Top.Walk(dir)
	if Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	if !a.current(d, name, c) {
		return nil
	}
	err = d.remove(name, c.Was != nil && c.Was.Mode.IsDir())
	if err == nil || Absent(err) || errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// place moves a prepared file, or makes a directory.
func (a *Applier) place(stage *Folder, i int, c *Change) error {
	dir, name := Parent(c.Path)
	d, err := a.Top.Grow(dir)
	if err != nil {
		return fmt.Errorf("write %q: %w", Clip(c.Path), err)
	}
	defer d.Close()
	if c.Was == nil || c.Was.Mode.IsDir() == c.To.Mode.IsDir() { // else remove has looked
		if !a.current(d, name, c) {
			return nil
		}
	}
	if c.To.Mode.IsDir() {
		if err := pathError("mkdir", name, unix.Mkdirat(d.fd, name, uint32(c.To.Mode.Perm()))); err != nil && !errors.Is(err, fs.ErrExist) {
			return Full(err)
		}
		return d.chmod(name, c.To.Mode.Perm())
	}
	if err := stage.Rename(strconv.Itoa(i), d, name); err != nil {
		return fmt.Errorf("write %q: %w", Clip(c.Path), err)
	}
	// The move changed its ctime.
	if now, err := d.stat(name); err == nil && now.ino == c.To.Stamp.ino && now.Size == c.To.Stamp.Size && now.mtime == c.To.Stamp.mtime {
		c.To.Stamp = now
	}
	return nil
}
