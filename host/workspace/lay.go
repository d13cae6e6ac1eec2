package workspace

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// layer writes entries into directories that nobody else knows yet.
type layer struct {
	ctx   context.Context
	from  source
	index index // learns what was written; nil: need not
	mu    sync.Mutex
}

// layOut writes a whole manifest into a directory that is empty. Of a directory's files
// those that are gone are left out.
func (l *layer) layOut(top *folder, entries []Entry) error {
	for i := range entries {
		if !entries[i].Mode.IsDir() {
			continue
		}
		d, err := top.grow(entries[i].Path)
		if err != nil {
			return full(err)
		}
		d.close()
	}
	file := func(i int) (string, bool) { return entries[i].Path, !entries[i].Mode.IsDir() }
	err := byDirectory(l.ctx, top, len(entries), file, func(d *folder, err error, i int, buf []byte) error {
		e := &entries[i]
		_, name := parent(e.Path)
		var st stamp
		if err == nil {
			st, err = l.from.copyTo(d, name, e, buf)
		}
		switch {
		case !l.from.stored && (absent(err) || errors.Is(err, errIrregular)):
			return nil
		case err != nil || l.index == nil || !e.Mode.IsRegular():
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		// Nobody else has changed it, and who does so gives it another time.
		if st.mtime < time.Now().Add(-fresh).UnixNano() {
			l.index[e.Path] = indexed{st, e.Sum}
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
		dir, name := parent(e.Path)
		d, err := top.walk(dir)
		if err != nil {
			return err
		}
		err = chmodat(d.fd, name, e.Mode.Perm())
		d.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// byDirectory does something with items on several goroutines: those in one directory
// one after the other, with the directory open, or the error that opening it gave, and
// with a buffer of small bytes. path gives where an item is, and whether it takes part.
// The first error ends it.
func byDirectory(ctx context.Context, top *folder, items int, path func(int) (string, bool), do func(d *folder, err error, i int, buf []byte) error) error {
	groups, order := map[string][]int{}, []string(nil)
	for i := range items {
		p, ok := path(i)
		if !ok {
			continue
		}
		dir, _ := parent(p)
		if groups[dir] == nil {
			order = append(order, dir)
		}
		groups[dir] = append(groups[dir], i)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	directory := func(dir string, buf []byte) error {
		d, err := top.walk(dir)
		if err == nil {
			defer d.close()
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
			buf := make([]byte, small)
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
