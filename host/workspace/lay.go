package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// layer writes entries into directories that nobody else knows yet.
type layer struct {
	ctx   context.Context
	from  source
	index *index // learns what was written; nil: need not
	mu    sync.Mutex
}

// workers is how many goroutines move files: the file system is most of the work.
func workers() int { return min(max(runtime.GOMAXPROCS(0), 2), 4) }

// layOut writes a whole manifest into a directory that is empty and that nobody else
// knows yet.
func (l *layer) layOut(top *folder, entries []Entry) error {
	for i := range entries {
		e := &entries[i]
		if !e.Mode.IsDir() {
			continue
		}
		dir, name := parent(e.Path)
		if err := l.makeDir(top, dir, name); err != nil {
			return err
		}
	}
	groups := map[string][]*Entry{}
	var order []string
	for i := range entries {
		e := &entries[i]
		if e.Mode.IsDir() {
			continue
		}
		dir, _ := parent(e.Path)
		if groups[dir] == nil {
			order = append(order, dir)
		}
		groups[dir] = append(groups[dir], e)
	}
	if err := each(l.ctx, order, func() (func(string) error, func() error) {
		buf := make([]byte, packSmall)
		return func(dir string) error { return l.fill(top, dir, groups[dir], buf) }, nil
	}); err != nil {
		return err
	}
	return l.closeDirs(top, entries)
}

func (l *layer) makeDir(top *folder, dir, name string) error {
	d := top
	if dir != "" {
		var err error
		if d, err = top.walk(dir); err != nil {
			return err
		}
		defer d.close()
	}
	if err := d.mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return full(err)
	}
	return nil
}

// closeDirs gives directories their permissions when all is in them, the inner ones
// first.
func (l *layer) closeDirs(top *folder, entries []Entry) error {
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

func (l *layer) fill(top *folder, dir string, entries []*Entry, buf []byte) error {
	d, err := top.walk(dir)
	if err != nil {
		return err
	}
	defer d.close()
	stamps := make([]stamp, len(entries))
	for i, e := range entries {
		_, name := parent(e.Path)
		if stamps[i], err = l.from.copyTo(d, name, e, buf); err != nil {
			return err
		}
	}
	if l.index == nil {
		return nil
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, e := range entries {
		// Nobody else has changed it, and who does so gives it another time.
		if e.Mode.IsRegular() && stamps[i].mtime < now.Add(-fresh).UnixNano() {
			l.index.files[e.Path] = indexed{stamps[i], e.Sum}
		}
	}
	return nil
}

// copyTo makes one file or symlink under a name that must be free, and checks what it
// copies.
func (s *shelf) copyTo(d *folder, name string, e *Entry, buf []byte) (stamp, error) {
	section, err := s.section(e)
	if err != nil {
		return stamp{}, err
	}
	if e.Mode&fs.ModeSymlink != 0 {
		target := buf[:min(e.Size, int64(len(buf)))]
		if _, err := io.ReadFull(section, target); err != nil || sumOf(target) != e.Sum {
			return stamp{}, failf(ErrDamaged, "the symlink %q is damaged in the filesystem", clip(e.Path))
		}
		return stamp{}, full(d.symlink(string(target), name))
	}
	f, err := d.create(name)
	if err != nil {
		return stamp{}, full(err)
	}
	defer f.Close()
	if e.Size <= int64(len(buf)) {
		b := buf[:e.Size]
		if _, err := io.ReadFull(section, b); err != nil || sumOf(b) != e.Sum {
			return stamp{}, failf(ErrDamaged, "%q is damaged in the filesystem", clip(e.Path))
		}
		if _, err := f.Write(b); err != nil {
			return stamp{}, full(err)
		}
	} else if err := s.copyLarge(f, e); err != nil {
		return stamp{}, err
	}
	fd := int(f.Fd())
	if err := unix.Fchmod(fd, uint32(e.Mode.Perm())); err != nil {
		return stamp{}, err
	}
	if err := setTime(d, name, e.Modified); err != nil {
		return stamp{}, err
	}
	return stampOf(fd)
}

// copyLarge shares blocks with the pack where it can.
func (s *shelf) copyLarge(f *os.File, e *Entry) error {
	src, _, err := s.dir.open(packName(e.at.pack)) // its offset is its own
	if err != nil {
		return failf(ErrDamaged, "%q is missing in the filesystem: %v", clip(e.Path), err)
	}
	defer src.Close()
	if err := copyContents(f, src, e.Size); err != nil {
		return full(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, make([]byte, 256<<10))
	if err != nil {
		return err
	}
	if n != e.Size || !bytes.Equal(h.Sum(nil), e.Sum[:]) {
		return failf(ErrDamaged, "%q is damaged in the filesystem", clip(e.Path))
	}
	return nil
}

// setTime sets the time of the last change, in nanoseconds since 1970.
func setTime(d *folder, name string, modified int64) error {
	ts := unix.NsecToTimespec(modified)
	return unix.UtimesNanoAt(d.fd, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}

// each runs a function for all items on several goroutines, each with a function of
// its own from begin, and after them its end, if any. The first error ends it.
func each(ctx context.Context, items []string, begin func() (do func(string) error, end func() error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan string)
	var wg sync.WaitGroup
	for range min(workers(), max(len(items), 1)) {
		wg.Go(func() {
			do, end := begin()
			for item := range queue {
				if ctx.Err() != nil {
					continue
				}
				if err := do(item); err != nil {
					cancel(err)
				}
			}
			if end != nil {
				if err := end(); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, item := range items {
		if ctx.Err() != nil {
			break
		}
		queue <- item
	}
	close(queue)
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
