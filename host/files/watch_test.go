package files

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/resource"
)

// observer is a watch whose changes are kept by what they were about, as the last was.
type observer struct {
	y    *yard
	mu   sync.Mutex
	seen map[string]string
	stop func()

	marks int
}

func (y *yard) watch(name string, change ...func(*resource.WatchParams)) *observer {
	y.t.Helper()
	p := resource.WatchParams{Params: resource.Params{URI: y.uri(name)}, Recursive: true}
	for _, f := range change {
		f(&p)
	}
	w, err := y.Watch(context.Background(), p)
	if err != nil {
		y.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := &observer{y: y, seen: map[string]string{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx, o.tell)
	}()
	o.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	y.t.Cleanup(o.stop)
	return o
}

func (o *observer) tell(changes []resource.Change) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range changes {
		name := strings.TrimPrefix(c.URI, o.y.uri(""))
		if c.Type != resource.Updated || o.seen[name] != resource.Added { // made, and written to later
			o.seen[name] = c.Type
		}
	}
}

// until waits until all of want, name and type after each other, were seen, and gives what
// was seen besides.
func (o *observer) until(want ...string) (besides map[string]string) {
	o.y.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		o.mu.Lock()
		besides = maps.Clone(o.seen)
		missing := ""
		for i := 0; i < len(want); i += 2 {
			if besides[want[i]] != want[i+1] {
				missing = want[i]
			}
			delete(besides, want[i])
		}
		if missing == "" {
			clear(o.seen)
			o.mu.Unlock()
			return besides
		}
		o.mu.Unlock()
		if time.Now().After(deadline) {
			o.y.t.Fatalf("nothing is told of %q; besides there is %v", missing, besides)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// settle waits until all that was done is told, by what is done last, and forgets it.
func (o *observer) settle(dir string) {
	o.y.t.Helper()
	o.marks++
	name := fmt.Sprintf("%s/mark-%d", dir, o.marks)
	o.y.file(name, "")
	o.until(name, resource.Added)
}

func none(t *testing.T, besides map[string]string) {
	t.Helper()
	if len(besides) > 0 {
		t.Errorf("it is told of %v, too", besides)
	}
}

// TestWatchTree: what is made, changed, moved and removed at any depth, by others and by
// requests, and nothing of a request's own files.
func TestWatchTree(t *testing.T) {
	y := newYard(t)
	y.file("work/sub/f", "")
	o := y.watch("work")
	y.file("work/new", "x")
	o.until("work/new", resource.Added)
	o.settle("work")
	y.file("work/sub/f", "changed")
	none(t, o.until("work/sub/f", resource.Updated))
	y.file("work/a/b/c/deep", "") // directories that are watched from now on
	o.until("work/a", resource.Added, "work/a/b/c/deep", resource.Added)
	o.settle("work")
	y.code(y.write("work/a/b/c/deep", "by a request"), 0, "write")
	o.until("work/a/b/c/deep", resource.Added) // another file has the name
	o.settle("work")
	y.code(y.write("work/a/b/c/deep", "!", at(resource.Append, 0)), 0, "append")
	none(t, o.until("work/a/b/c/deep", resource.Updated))
	y.code(y.Copy(context.Background(), resource.TransferParams{Source: y.uri("work/a"), Destination: y.uri("work/copy")}), 0, "copy")
	for name := range o.until("work/copy", resource.Added, "work/copy/b/c/deep", resource.Added) {
		if strings.Contains(name, tempPrefix) {
			t.Errorf("it is told of %s", name)
		}
	}
	o.settle("work")
	if err := os.Rename(y.path("work/a"), y.path("moved")); err != nil {
		t.Fatal(err)
	}
	o.until("work/a", resource.Deleted)
	o.settle("work")
	y.file("moved/b/c/deep", "not in it any more")
	if err := os.RemoveAll(y.path("work/copy")); err != nil {
		t.Fatal(err)
	}
	for name := range o.until("work/copy", resource.Deleted, "work/copy/b/c/deep", resource.Deleted) {
		if !strings.HasPrefix(name, "work/copy/") {
			t.Errorf("it is told of %s", name)
		}
	}
	if err := os.RemoveAll(y.path("work")); err != nil {
		t.Fatal(err)
	}
	o.until("work", resource.Deleted)
	y.file("work/again/f", "")
	o.until("work", resource.Added, "work/again/f", resource.Added)
	o.settle("work")
	y.file("work/again/f", "changed")
	none(t, o.until("work/again/f", resource.Updated))
	o.stop()
	if n := y.watched.Load(); n != 0 {
		t.Errorf("%d directories count as watched when none is", n)
	}
}

// TestWatchOneLevel: a directory and what is directly in it, or a file.
func TestWatchOneLevel(t *testing.T) {
	y := newYard(t)
	y.file("work/sub/f", "")
	y.file("work/one", "")
	flat := func(p *resource.WatchParams) { p.Recursive = false }
	dir, file := y.watch("work", flat), y.watch("work/one", flat)
	y.file("work/sub/f", "changed")
	y.file("work/sub/g", "changed")
	y.file("work/other", "changed")
	for name := range dir.until("work/other", resource.Added) {
		if strings.HasPrefix(name, "work/sub/") {
			t.Errorf("it is told of %s", name)
		}
	}
	y.file("work/one", "changed")
	none(t, file.until("work/one", resource.Updated))
	dir.until("work/one", resource.Updated)
	if err := os.Remove(y.path("work/one")); err != nil {
		t.Fatal(err)
	}
	none(t, file.until("work/one", resource.Deleted))
	y.file("work/one", "again")
	none(t, file.until("work/one", resource.Added))
}

// TestWatchPatterns: what is excluded is not looked into either, and of the rest only what
// is included is told.
func TestWatchPatterns(t *testing.T) {
	y := newYard(t)
	for i := range 60 { // more than may be watched
		y.file(fmt.Sprintf("work/node_modules/%d/f", i), "")
	}
	y.file("work/src/deep/f", "")
	o := y.watch("work", func(p *resource.WatchParams) {
		p.Excludes = &resource.Patterns{Items: []string{"**/node_modules/**", "*.tmp"}}
		p.Includes = &resource.Patterns{Items: []string{"src", "**/*.{txt,tmp}"}}
	})
	for _, name := range []string{"work/node_modules/1/x.txt", "work/x.tmp", "work/x.go", "work/src/deep/new", "work/src/x.tmp", "work/a.txt", "work/last.txt"} {
		y.file(name, "x")
	}
	none(t, o.until("work/src/deep/new", resource.Added, "work/src/x.tmp", resource.Added, "work/a.txt", resource.Added, "work/last.txt", resource.Added))
	for _, bad := range [][]string{{"["}, {"{a,b}{c,d}{e,f}"}, {strings.Repeat("a", 257)}, slices.Repeat([]string{"a"}, 65)} {
		_, err := y.Watch(context.Background(), resource.WatchParams{Params: resource.Params{URI: y.uri("work")}, Includes: &resource.Patterns{Items: bad}})
		y.code(err, ahp.CodeInvalidParams, fmt.Sprint(bad))
	}
}

// TestWatchTooMuch: more than may be watched is refused and leaves nothing behind; what
// grows to that says that the root was updated.
func TestWatchTooMuch(t *testing.T) {
	y := newYard(t)
	const dirs = 4000
	for i := range dirs {
		if err := os.MkdirAll(filepath.Join(y.path("many"), fmt.Sprint(i/200), fmt.Sprint(i%200)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1100 {
		y.file(fmt.Sprintf("flat/%d", i), "")
	}
	try := func(name string, recursive bool) error {
		w, err := y.Watch(context.Background(), resource.WatchParams{Params: resource.Params{URI: y.uri(name)}, Recursive: recursive})
		if err == nil {
			w.Close()
		}
		return err
	}
	y.code(try("many", true), ahp.CodeConflict, "too many directories")
	y.code(try("flat", true), ahp.CodeConflict, "too many entries")
	y.code(try("flat", false), 0, "many files in one directory")
	if n := y.watched.Load(); n != 0 {
		t.Fatalf("%d directories count as watched when none is", n)
	}
	y.file("grows/f", "")
	o := y.watch("grows")
	for i := range 60 {
		y.file(fmt.Sprintf("grows/%d/f", i), "")
	}
	o.until("grows", resource.Updated)
	if n := y.watched.Load(); n > 50 {
		t.Errorf("%d directories are watched, the limit is 50", n)
	}
	for i := range 35 {
		y.file(fmt.Sprintf("second/%d/f", i), "")
	}
	y.code(try("second", true), ahp.CodeConflict, "more than all watches may")
	o.stop()
	y.code(try("second", true), 0, "when there is room again")
}

// TestWatchCoalesces: of each file the last is told, and of too many only that there were.
func TestWatchCoalesces(t *testing.T) {
	y := newYard(t)
	w, err := y.Watch(context.Background(), resource.WatchParams{Params: resource.Params{URI: y.uri("")}, Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, c := range [][]string{
		{resource.Added, resource.Updated, resource.Added},
		{resource.Added, resource.Deleted, ""},
		{resource.Deleted, resource.Added, resource.Updated},
		{resource.Updated, resource.Deleted, resource.Deleted},
		{resource.Updated, resource.Updated, resource.Updated},
	} {
		w.note("f", c[0])
		w.note("f", c[1])
		got := ""
		for _, change := range w.take() {
			got += change.Type
		}
		if got != c[2] {
			t.Errorf("%s, then %s is told as %q, want %q", c[0], c[1], got, c[2])
		}
	}
	for i := range maxPending {
		w.note(fmt.Sprint(i), resource.Added)
	}
	if n := len(w.take()); n != maxPending {
		t.Errorf("%d told of %d", n, maxPending)
	}
	for i := range 2 * maxPending {
		w.note(fmt.Sprint(i), resource.Added)
	}
	if n := len(w.pending); n > maxPending+1 {
		t.Errorf("%d are kept, the bound is %d", n, maxPending)
	}
	if got := w.take(); !slices.Equal(got, []resource.Change{{URI: y.uri(""), Type: resource.Updated}}) {
		t.Errorf("of too many is told %v", got)
	}
	if got := w.take(); len(got) > 0 {
		t.Errorf("and again %v", got)
	}
}

// TestWatchConfined: nothing outside is watched, and links are not followed.
func TestWatchConfined(t *testing.T) {
	y := newYard(t)
	y.link(y.out, "outside")
	y.file("work/f", "")
	y.link(y.out, "work/outside")
	y.link("work", "inside")
	for name, code := range map[string]int{
		"outside": ahp.CodePermissionDenied, "outside/secret": ahp.CodePermissionDenied, "../out": ahp.CodePermissionDenied, "missing": ahp.CodeNotFound,
		"..": ahp.CodePermissionDenied,
	} {
		_, err := y.Watch(context.Background(), resource.WatchParams{Params: resource.Params{URI: y.uri(name)}, Recursive: true})
		y.code(err, code, "watch "+name)
	}
	o, linked := y.watch("work"), y.watch("inside")
	y.file("../out/new", "x")
	y.file("work/new", "x")
	none(t, o.until("work/new", resource.Added))
	none(t, linked.until("inside/new", resource.Added)) // by the name that was asked for
	root := y.watch("")
	if err := os.RemoveAll(y.root); err != nil {
		t.Fatal(err)
	}
	root.until("", resource.Deleted)
}

// FuzzPatterns: a pattern that is taken is compared with any path, and not for ever.
func FuzzPatterns(f *testing.F) {
	f.Add("**/*.{ts,js}", "a/b/c.ts")
	f.Add("{a,aa}{a,aa}aaaa", "aaaaaaaaaab")
	f.Add(strings.Repeat("**/a*/", 40)+"x", strings.Repeat("aa/", 60)+"c")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if checkPatterns(&resource.Patterns{Items: []string{pattern}}) != nil || len(path) > maxURI {
			return
		}
		matches(pattern, path)
	})
}
