package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// applier makes changes in a directory that others use meanwhile: each file is made
// in a directory beside, then takes the old one's place.
type applier struct {
	ctx   context.Context
	top   *folder
	stage string // a directory of ours on the same file system, made anew
	from  source
	index index // learns what was written; nil: need not
	// seen, if not nil, is what stood at each path; what has changed since is missed.
	seen   map[string]stamp
	missed map[string]bool
}

// current reports whether a path is still as it was seen.
func (a *applier) current(d *folder, name, path string) bool {
	if a.seen == nil {
		return true
	}
	was, there := a.seen[path]
	now, err := d.stat(name)
	if there == (err == nil) && (!there || was == now || was.mode == now.mode && was.mode&unix.S_IFMT == unix.S_IFDIR) {
		return true
	}
	if err != nil && there {
		return true // it is gone: nothing is lost by what comes
	}
	a.missed[path] = true
	return false
}

// apply makes the changes: everything is made first, then moved. What can fail for want
// of space fails before anything is moved.
func (a *applier) apply(changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	a.missed = map[string]bool{}
	if err := removeTree(a.stage); err != nil {
		return err
	}
	if err := os.Mkdir(a.stage, 0o700); err != nil {
		return full(err)
	}
	defer func() { _ = removeTree(a.stage) }()
	stage, err := openFolder(a.stage)
	if err != nil {
		return err
	}
	defer stage.close()
	stamps, err := a.prepare(stage, changes)
	if err != nil {
		return err
	}
	// What goes, inner ones first; then what comes, outer ones first.
	for i := len(changes) - 1; i >= 0; i-- {
		if c := &changes[i]; c.to == nil || c.was != nil && c.was.Mode.IsDir() != c.to.Mode.IsDir() {
			if err := a.remove(c); err != nil {
				return err
			}
		}
	}
	for i := range changes {
		if changes[i].to == nil {
			continue
		}
		if err := a.place(stage, i, &changes[i], stamps[i]); err != nil {
			return err
		}
	}
	return nil
}

func staged(i int) string { return fmt.Sprintf("%d", i) }

func (a *applier) prepare(stage *folder, changes []change) ([]stamp, error) {
	stamps := make([]stamp, len(changes))
	buf := make([]byte, small)
	for i := range changes {
		if err := a.ctx.Err(); err != nil {
			return nil, err
		}
		e := changes[i].to
		if e == nil || e.Mode.IsDir() {
			continue
		}
		var err error
		if stamps[i], err = a.from.copyTo(stage, staged(i), e, buf); err != nil {
			return nil, err
		}
	}
	return stamps, nil
}

// remove removes what is at a path; a directory only if nothing is in it, since what
// is there nobody spoke of.
func (a *applier) remove(c *change) error {
	dir, name := parent(c.path)
	d, err := a.top.walk(dir)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	if !a.current(d, name, c.path) {
		return nil
	}
	err = d.remove(name, c.was != nil && c.was.Mode.IsDir())
	if err == nil || absent(err) || isKept(err) {
		return nil
	}
	return err
}

// place moves a prepared file, or makes a directory.
func (a *applier) place(stage *folder, i int, c *change, st stamp) error {
	dir, name := parent(c.path)
	d, err := a.top.grow(dir)
	if err != nil {
		return fmt.Errorf("write %q: %w", clip(c.path), err)
	}
	defer d.close()
	if c.was == nil || c.was.Mode.IsDir() == c.to.Mode.IsDir() { // else remove has looked
		if !a.current(d, name, c.path) {
			return nil
		}
	}
	if c.to.Mode.IsDir() {
		if err := d.mkdir(name, c.to.Mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return full(err)
		}
		return chmodat(d.fd, name, c.to.Mode.Perm())
	}
	if err := stage.rename(staged(i), d, name); err != nil {
		return fmt.Errorf("write %q: %w", clip(c.path), err)
	}
	if a.index != nil && c.to.Mode.IsRegular() {
		// The move changed its ctime.
		if now, err := d.stat(name); err == nil && now.ino == st.ino && now.size == st.size && now.mtime == st.mtime {
			a.index[c.path] = indexed{now, c.to.Sum}
		}
	}
	return nil
}
