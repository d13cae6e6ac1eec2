package files

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/resource"
	"tandemux/internal/fileuri"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/fsnotify/fsnotify"
)

// Bounds of watches.
const (
	maxPatterns = 64 // of each kind
	maxPattern  = 256
	maxBraces   = 2    // of a pattern: each multiplies what it stands for
	maxPending  = 4096 // changes told at once; more are the root's
	gather      = 100 * time.Millisecond
)

// everyFile says that the system watches a directory's files one by one.
const everyFile = runtime.GOOS != "linux"

// Watch begins to watch what p says. ctx is for that alone: the Watcher must be run, or
// closed.
func (s *Server) Watch(ctx context.Context, p resource.WatchParams) (*Watcher, error) {
	for _, list := range []*resource.Patterns{p.Excludes, p.Includes} {
		if err := checkPatterns(list); err != nil {
			return nil, err
		}
	}
	given, err := s.path(p.URI)
	if err != nil {
		return nil, err
	}
	at, err := s.find(given, p.URI, true)
	if err != nil {
		return nil, err
	}
	info, err := at.lstat()
	if err != nil {
		return nil, fileError(p.URI, err)
	}
	root, err := os.OpenRoot(at.root)
	if err != nil {
		return nil, fileError(p.URI, err)
	}
	w := &Watcher{
		s: s, p: p, at: at, given: given,
		tree: tree{root: root, lenient: true}, dirs: map[string]int{}, pending: map[string]string{},
	}
	if w.notify, err = fsnotify.NewWatcher(); err != nil {
		root.Close()
		return nil, watchError(p.URI, err)
	}
	if err := w.arm(ctx, info.IsDir()); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func checkPatterns(list *resource.Patterns) error {
	if list == nil {
		return nil
	}
	if len(list.Items) > maxPatterns {
		return ahp.InvalidParams("watch: more than %d patterns", maxPatterns)
	}
	for _, p := range list.Items {
		if len(p) > maxPattern || strings.Count(p, "{") > maxBraces || !doublestar.ValidatePattern(p) {
			return ahp.InvalidParams("watch: %q is no pattern of at most %d bytes and %d braces", clip(p), maxPattern, maxBraces)
		}
	}
	return nil
}

// watchError says why the system does not watch something.
func watchError(uri ahp.URI, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return ahp.Conflict("watch %q: the system watches as much as it is allowed to already (%v)", clip(uri), err)
	}
	return fileError(uri, err)
}

// Watcher is a watch. It belongs to one goroutine.
type Watcher struct {
	s     *Server
	p     resource.WatchParams
	at    place
	given string // the path of p.URI, by which changes are named
	tree
	notify  *fsnotify.Watcher
	dirs    map[string]int    // those that are watched, from the place's root on, and how many each counts for
	count   int               // of dirs
	pending map[string]string // what has changed, from the watch's root on, and how
	over    bool              // there is more than could be kept, or watched
}

// Close ends a watch that is not run.
func (w *Watcher) Close() {
	w.notify.Close() //nolint:errcheck // nothing is written
	w.root.Close()   //nolint:errcheck // as above
	w.s.watched.Add(-int64(w.count))
}

// arm watches the root, as a name in its directory too, so that it is seen to go and come
// back, and what is in it.
func (w *Watcher) arm(ctx context.Context, dir bool) error {
	if w.at.rel != "." {
		if err := w.add(filepath.Dir(w.at.rel)); err != nil {
			return watchError(w.p.URI, err)
		}
	}
	if dir {
		if err := w.scan(ctx, w.at.rel, func(string) {}); err != nil {
			return err
		}
	}
	if w.count == 0 || dir && w.dirs[w.at.rel] == 0 {
		return fileError(w.p.URI, fs.ErrPermission)
	}
	return nil
}

// scan watches a directory and those in it, if they are to be; found is told of all
// entries.
func (w *Watcher) scan(ctx context.Context, dir string, found func(rel string)) error {
	w.left = w.s.limits.WatchEntries
	err := w.add(dir)
	if err == nil && (w.p.Recursive || everyFile) {
		err = w.walk(ctx, dir, func(rel string, kind fs.FileMode) error {
			switch {
			case w.excluded(w.from(rel)):
				return fs.SkipDir
			case !w.p.Recursive:
				w.charge(dir, 1)
				return fs.SkipDir
			}
			found(rel)
			if !kind.IsDir() {
				w.charge(filepath.Dir(rel), 1)
				return nil
			}
			return w.add(rel)
		})
	}
	if errors.Is(err, errTooMany) || w.count > w.s.limits.WatchedDirs || w.s.watched.Load() > int64(w.s.limits.WatchedDirsAll) {
		return w.tooMuch()
	}
	if err != nil {
		return watchError(w.p.URI, err)
	}
	return nil
}

func (w *Watcher) tooMuch() error {
	l := w.s.limits
	return ahp.Conflict("watch %q: there is too much in it: a watch is of %d directories with %d entries at most, all watches of %d: exclude some",
		clip(w.p.URI), l.WatchedDirs, l.WatchEntries, l.WatchedDirsAll)
}

// charge counts files that the system watches one by one.
func (w *Watcher) charge(dir string, n int) {
	if !everyFile {
		return
	}
	w.dirs[dir] += n
	w.count += n
	w.s.watched.Add(int64(n))
}

// add watches a directory, which is named to the system by its path: one that has become
// a link meanwhile is not watched on.
func (w *Watcher) add(dir string) error {
	if w.dirs[dir] > 0 {
		return nil
	}
	if w.count >= w.s.limits.WatchedDirs || w.s.watched.Load() >= int64(w.s.limits.WatchedDirsAll) {
		return w.tooMuch()
	}
	path := filepath.Join(w.at.root, dir)
	if err := w.notify.Add(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	} else if err != nil {
		return err
	}
	meant, err := w.root.Lstat(dir)
	if is, statErr := os.Stat(path); err != nil || statErr != nil || !os.SameFile(meant, is) {
		w.notify.Remove(path) //nolint:errcheck // it is gone
		return nil
	}
	w.dirs[dir] = 1
	w.count++
	w.s.watched.Add(1)
	return nil
}

// forget watches a directory no more; one that has another name now nor those in it.
func (w *Watcher) forget(dir string, moved bool) {
	if w.dirs[dir] == 0 {
		return
	}
	for d, n := range w.dirs {
		if d == dir || moved && strings.HasPrefix(d, dir+"/") {
			w.notify.Remove(filepath.Join(w.at.root, d)) //nolint:errcheck // it may be gone
			delete(w.dirs, d)
			w.count -= n
			w.s.watched.Add(-int64(n))
		}
	}
	if at := w.from(dir); moved {
		maps.DeleteFunc(w.pending, func(sub, _ string) bool { return at == "." || strings.HasPrefix(sub, at+"/") })
	}
}

// from is a path from the watch's root on; "" for what is not in it.
func (w *Watcher) from(rel string) string {
	sub, in := below(rel, w.at.rel)
	if !in {
		return ""
	}
	return sub
}

// excluded reports whether nothing is to be told of a path, nor of what is in it.
func (w *Watcher) excluded(sub string) bool {
	return strings.Contains("/"+sub, "/"+tempPrefix) ||
		sub != "." && w.p.Excludes != nil && slices.ContainsFunc(w.p.Excludes.Items, func(p string) bool { return matches(p, sub) })
}

// concerns reports whether a change is to be told.
func (w *Watcher) concerns(sub string) bool {
	switch {
	case sub == ".":
		return true
	case sub == "", !w.p.Recursive && strings.ContainsRune(sub, filepath.Separator), w.excluded(sub):
		return false
	case w.p.Includes == nil:
		return true
	}
	for at := sub; at != "."; at = filepath.Dir(at) { // a path stands for what is in it, too
		if slices.ContainsFunc(w.p.Includes.Items, func(p string) bool { return matches(p, at) }) {
			return true
		}
	}
	return false
}

func matches(pattern, sub string) bool {
	ok, err := doublestar.Match(strings.TrimPrefix(pattern, "./"), filepath.ToSlash(sub))
	return ok && err == nil
}

// Run calls tell with what has changed, until ctx ends, and closes the watch. When there is
// too much to say, or to watch, the root was updated.
func (w *Watcher) Run(ctx context.Context, tell func([]resource.Change)) {
	defer w.Close()
	timer := time.NewTimer(gather)
	timer.Stop()
	defer timer.Stop()
	waiting := false
	for {
		select {
		case <-ctx.Done():
			return
		case ev, ok := <-w.notify.Events:
			if !ok {
				return
			}
			w.happened(ctx, ev)
		case _, ok := <-w.notify.Errors:
			if !ok {
				return
			}
			w.over = true // the system's queue was full
		case <-timer.C:
			waiting = false
			if changes := w.take(); len(changes) > 0 {
				tell(changes)
			}
		}
		if !waiting && (w.over || len(w.pending) > 0) {
			waiting = true
			timer.Reset(gather)
		}
	}
}

// happened notes what the system says.
func (w *Watcher) happened(ctx context.Context, ev fsnotify.Event) {
	rel, in := below(ev.Name, w.at.root)
	sub := w.from(rel)
	if !in || sub == "" || ev.Name == "" {
		return
	}
	kind := resource.Updated
	switch {
	case ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename):
		w.forget(rel, ev.Has(fsnotify.Rename))
		kind = resource.Deleted
	case ev.Has(fsnotify.Create):
		kind = resource.Added
	}
	w.note(sub, kind)
	if kind != resource.Added || w.excluded(sub) || !w.p.Recursive && sub != "." {
		return
	}
	if info, err := w.root.Lstat(rel); err == nil && info.IsDir() {
		if w.scan(ctx, rel, func(rel string) { w.note(w.from(rel), resource.Added) }) != nil {
			w.over = true
		}
	}
}

// note adds a change to those that are to be told.
func (w *Watcher) note(sub, kind string) {
	if w.over || !w.concerns(sub) {
		return
	}
	before, known := w.pending[sub]
	switch {
	case known && before == resource.Added && kind == resource.Deleted:
		delete(w.pending, sub)
		return
	case known && before == resource.Added:
		kind = resource.Added
	case known && before == resource.Deleted:
		kind = resource.Updated
	}
	w.pending[sub] = kind
	w.over = len(w.pending) > maxPending
}

// take gives what is to be told.
func (w *Watcher) take() []resource.Change {
	if w.over {
		clear(w.pending)
		w.pending["."] = resource.Updated
	}
	changes := make([]resource.Change, 0, len(w.pending))
	for _, sub := range slices.Sorted(maps.Keys(w.pending)) {
		uri := w.p.URI
		if sub != "." {
			uri = fileuri.Of(filepath.Join(w.given, sub))
		}
		changes = append(changes, resource.Change{URI: uri, Type: w.pending[sub]})
	}
	clear(w.pending)
	w.over = false
	return changes
}
