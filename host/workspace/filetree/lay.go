package filetree

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"
	"time"
)

// LayOut writes a whole manifest into a directory that is empty and that nobody else
// knows yet; entries learn the files' stamps. Of a directory's files those
// that are gone, or can't be read, are left out.
func LayOut(ctx context.Context, from Source, top *Folder, entries []Entry) error {
	for i := range entries {
		if !entries[i].Mode.IsDir() {
			continue
		}
		d, err := top.Grow(entries[i].Path)
		if err != nil {
			return Full(err)
		}
		d.Close()
	}
	file := func(i int) (string, bool) { return entries[i].Path, !entries[i].Mode.IsDir() }
	err := byDirectory(ctx, top, len(entries), file, func(d *Folder, err error, i int, buf []byte) error {
		e := &entries[i]
		_, name := Parent(e.Path)
		var st Stamp
		if err == nil {
			st, err = from.CopyTo(d, name, e, buf)
		}
		switch {
		case !from.Stored && (Absent(err) || errors.Is(err, ErrIrregular) || errors.Is(err, fs.ErrPermission)):
			return nil
		case err != nil:
			return err
		}
		e.Stamp = Stamp{}
		// Nobody else has changed it, and who does so gives it another time.
		if e.Mode.IsRegular() && st.mtime < time.Now().Add(-fresh).UnixNano() {
			e.Stamp = st
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Directories get their permissions when all is in them, the inner ones first.
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		if !e.Mode.IsDir() || e.Mode.Perm() == 0o755 {
			continue
		}
		if err := top.chmod(e.Path, e.Mode.Perm()); err != nil {
			return err
		}
	}
	return nil
}

// byDirectory does something with items on several goroutines: those in one directory
// one after the other, with the directory open, or the error that opening it gave, and
// with a buffer of small bytes. path gives where an item is, and whether it takes part.
// The first error ends it.
func byDirectory(ctx context.Context, top *Folder, items int, path func(int) (string, bool), do func(d *Folder, err error, i int, buf []byte) error) error {
	groups, order := map[string][]int{}, []string(nil)
	for i := range items {
		p, ok := path(i)
		if !ok {
			continue
		}
		dir, _ := Parent(p)
		if groups[dir] == nil {
			order = append(order, dir)
		}
		groups[dir] = append(groups[dir], i)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	directory := func(dir string, buf []byte) error {
		d, err := top.Walk(dir)
		if err == nil {
			defer d.Close()
		}
		for _, i := range groups[dir] {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // the cause is told
			}
			if err := do(d, err, i, buf); err != nil {
				return err
			}
		}
		return nil
	}
	queue := make(chan string)
	var wg sync.WaitGroup
	// The file system is most of the work, so two for one processor are not too many.
	for range min(max(runtime.GOMAXPROCS(0), 2), 4, len(order)) {
		wg.Go(func() {
			buf := make([]byte, Small)
			for dir := range queue {
				if err := directory(dir, buf); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, dir := range order {
		queue <- dir
	}
	close(queue)
	wg.Wait()
	return context.Cause(ctx)
}

// CopyAlong copies a file, or a directory with all in it, where nothing is yet.
func CopyAlong(ctx context.Context, l Limits, from, to *Folder, path string) error {
	if there, err := Standing(to, path); err != nil || there != nil {
		return err
	}
	e, err := Standing(from, path)
	if err != nil || e == nil || e.Mode == fs.ModeIrregular {
		return err
	}
	dir, name := Parent(path)
	d, err := to.Grow(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if !e.Mode.IsDir() {
		_, err := Source{Top: from}.CopyTo(d, name, e, make([]byte, Small))
		return err
	}
	into, err := d.Grow(name)
	if err != nil {
		return Full(err)
	}
	defer into.Close()
	at, err := from.Walk(path)
	if err != nil {
		return err
	}
	defer at.Close()
	seen, err := Scan(ctx, at, l, nil, nil)
	if err != nil {
		return err
	}
	return LayOut(ctx, Source{Top: at}, into, seen.Files)
}
