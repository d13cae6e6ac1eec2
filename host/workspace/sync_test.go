package workspace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandemux/host/workspace/filetree"
	"tandemux/internal/soak"
)

// TestSyncEquality: whatever is done to either side, one at a time, both are the same
// after a synchronisation, and a third copy too.
func TestSyncEquality(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newStore(t)
			rng := seeded(t, seed)
			src := t.TempDir()
			grow(t, rng, src, 60)
			tree := must(s.NewTree(background, "fs", src))(t)
			spec := Spec{Kind: Filesystem, Filesystem: "fs"}
			work := []*Workspace{create(t, s, "a", spec), create(t, s, "b", spec)}
			for round := range 4 {
				w := work[rng.IntN(2)]
				must(w.SyncDown(background, Neither))(t)
				shake(t, rng, w.Dir(), rng.IntN(12))
				up := must(w.SyncUp(background, Neither))(t)
				again := must(w.SyncUp(background, Neither))(t)
				if again.Count != 0 || again.Version != up.Version {
					t.Fatalf("round %d: a second synchronisation changed %v", round, again.Changed)
				}
				want := lines(t, w.Dir())
				for _, other := range work {
					down := must(other.SyncDown(background, Neither))(t)
					if len(down.Conflicts) > 0 {
						t.Fatalf("round %d: conflicts %q", round, down.Conflicts)
					}
					if got := lines(t, other.Dir()); got != want {
						t.Fatalf("round %d: task %s has\n%s\nwant\n%s", round, other.id, got, want)
					}
				}
				out := filepath.Join(t.TempDir(), "out")
				must(pull(tree.WriteArchive, out, false))(t)
				if got := lines(t, out); got != want {
					t.Fatalf("round %d: the filesystem has\n%s\nwant\n%s", round, got, want)
				}
			}
		})
	}
}

// TestSyncBothSides: whatever both sides do at once, what only one did is on both
// afterwards, and what both did otherwise is on each as it was.
func TestSyncBothSides(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(t)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newStore(t)
			rng := seeded(t, 100+seed)
			src := t.TempDir()
			grow(t, rng, src, 50)
			must(s.NewTree(background, "fs", src))(t)
			spec := Spec{Kind: Filesystem, Filesystem: "fs"}
			a, b := create(t, s, "a", spec), create(t, s, "b", spec)
			base := contents(t, src)
			shake(t, rng, a.Dir(), 10)
			shake(t, rng, b.Dir(), 10)
			mine, theirs := contents(t, a.Dir()), contents(t, b.Dir())
			must(b.SyncUp(background, Neither))(t)
			down := must(a.SyncDown(background, Neither))(t)
			up := must(a.SyncUp(background, Neither))(t)
			got := contents(t, a.Dir())
			store := contentsOf(t, s, "fs")
			for path := range union(base, mine, theirs) {
				b0, m, th := base[path], mine[path], theirs[path]
				var onA, onFS string
				switch {
				case m == th:
					onA, onFS = m, m
				case m == b0:
					onA, onFS = th, th
				case th == b0:
					onA, onFS = m, m
				default:
					onA, onFS = m, th
					if isDir(m) || isDir(th) {
						continue // what is in it decides
					}
					if !slices.Contains(down.Conflicts, path) || !slices.Contains(up.Conflicts, path) {
						t.Errorf("%q changed on both sides and is no conflict: was %q, here %q, there %q; down %q, up %q; now %q, %q", path, b0, m, th, down.Conflicts, up.Conflicts, got[path], store[path])
					}
				}
				// A directory that one side removed stays where the other has something in it,
				// and a file's place may be taken by a directory of the other side's.
				if isDir(m) || isDir(th) || isDir(b0) || shadowed(path, mine, theirs) {
					continue
				}
				if got[path] != onA {
					t.Errorf("the workspace has %q at %q, want %q", got[path], path, onA)
				}
				if store[path] != onFS {
					t.Errorf("the filesystem has %q at %q, want %q", store[path], path, onFS)
				}
			}
		})
	}
}

func isDir(s string) bool { return strings.HasPrefix(s, "dir ") }

// shadowed reports whether something above a path is a directory on one side only.
func shadowed(path string, sides ...map[string]string) bool {
	for dir, _ := filetree.Parent(path); dir != ""; dir, _ = filetree.Parent(dir) {
		for _, s := range sides {
			if !isDir(s[dir]) {
				return true
			}
		}
	}
	return false
}

func union(maps ...map[string]string) map[string]bool {
	all := map[string]bool{}
	for _, m := range maps {
		for k := range m {
			all[k] = true
		}
	}
	return all
}

// contents describes each path of a directory.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	top := must(filetree.OpenFolder(dir))(t)
	defer top.Close()
	seen := must(filetree.Scan(background, top, anyLimits, nil, nil))(t)
	if err := filetree.Take(background, top, seen, nil); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for i := range seen.Files {
		all[seen.Files[i].Path] = describe(&seen.Files[i])
	}
	return all
}

func contentsOf(t testing.TB, s *Store, id string) map[string]string {
	t.Helper()
	m := must(must(s.Tree(id))(t).Manifest())(t)
	all := map[string]string{}
	for i := range m.Entries {
		all[m.Entries[i].Path] = describe(&m.Entries[i])
	}
	return all
}

func describe(e *filetree.Entry) string {
	if e.Mode.IsDir() {
		return "dir " + e.Mode.String()
	}
	return fmt.Sprint(e.Mode, " ", e.Sum)
}

func TestSyncConflicts(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	src := t.TempDir()
	write(t, src, map[string]string{"f": "1", "g": "1", "h": "1"})
	tree := must(s.NewTree(background, "fs", src))(t)
	spec := Spec{Kind: Filesystem, Filesystem: "fs"}
	a, b := create(t, s, "a", spec), create(t, s, "b", spec)
	write(t, a.Dir(), map[string]string{"f": "a", "g": "a"})
	write(t, b.Dir(), map[string]string{"f": "b"})
	must(os.Remove(filepath.Join(b.Dir(), "g")), error(nil))(t)
	must(b.SyncUp(background, Neither))(t)
	up := must(a.SyncUp(background, Neither))(t)
	if fmt.Sprint(up.Conflicts) != "[f g]" || up.Count != 0 {
		t.Fatalf("up %+v", up)
	}
	if got := must(a.SyncUp(background, Neither))(t); fmt.Sprint(got.Conflicts) != "[f g]" {
		t.Errorf("a conflict went away by itself: %+v", got)
	}
	needGit(t)
	_, err := a.Merge(background, MergeOptions{})
	wantIs(t, err, filetree.ErrConflict, `"f"`)
	if down := must(a.SyncDown(background, PreferSource))(t); down.Count != 2 {
		t.Errorf("deciding for the filesystem: %+v", down)
	}
	if got := contents(t, a.Dir()); got["f"] != contentsOf(t, s, "fs")["f"] || got["g"] != "" {
		t.Errorf("after deciding for the filesystem: %v", got)
	}
	write(t, a.Dir(), map[string]string{"h": "a"})
	write(t, b.Dir(), map[string]string{"h": "b"})
	must(b.SyncUp(background, Neither))(t)
	if up := must(a.SyncUp(background, PreferWorkspace))(t); up.Count != 1 || len(up.Conflicts) != 0 {
		t.Errorf("deciding for the workspace: %+v", up)
	}
	if got := read(t, tree, "h"); got != "a" {
		t.Errorf("the filesystem has %q", got)
	}
}

func read(t testing.TB, tree *filetree.Tree, path string) string {
	t.Helper()
	_, r, err := tree.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSyncReadOnly: a task that may only read never changes the filesystem (U83).
func TestSyncReadOnly(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	src := t.TempDir()
	write(t, src, map[string]string{"f": "1"})
	tree := must(s.NewTree(background, "fs", src))(t)
	w := create(t, s, "a", Spec{Kind: Filesystem, Filesystem: "fs", NoUpdate: true})
	write(t, w.Dir(), map[string]string{"f": "2"})
	if up := must(w.SyncUp(background, PreferWorkspace))(t); up.Count != 0 || read(t, tree, "f") != "1" {
		t.Errorf("up %+v", up)
	}
	_, err := w.Merge(background, MergeOptions{})
	wantIs(t, err, filetree.ErrUnsupported, "may only be read")
	for _, m := range must(w.Mounts(background))(t) {
		if m.Writable {
			t.Errorf("mount %+v", m)
		}
	}
}

// TestSyncUnreadable: what can't be read at the moment is not taken for deleted.
func TestSyncUnreadable(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	src := t.TempDir()
	write(t, src, map[string]string{"d/f": "1", "g": "1", "h": "1"})
	tree := must(s.NewTree(background, "fs", src))(t)
	w := create(t, s, "a", Spec{Kind: Filesystem, Filesystem: "fs"})
	if err := os.Remove(filepath.Join(w.Dir(), "g")); err != nil {
		t.Fatal(err)
	}
	run(t, w.Dir(), "mkfifo", "g")
	if !isRoot() { // root reads everything
		if err := os.Chmod(filepath.Join(w.Dir(), "d"), 0); err != nil {
			t.Fatal(err)
		}
	}
	write(t, w.Dir(), map[string]string{"h": "2"})
	up := must(w.SyncUp(background, Neither))(t)
	if up.Count != 1 || read(t, tree, "g") != "1" || read(t, tree, "d/f") != "1" || read(t, tree, "h") != "2" {
		t.Errorf("up %+v", up)
	}
	if !slices.Contains(up.Skipped, "g") {
		t.Errorf("skipped %v", up.Skipped)
	}
	must(w.Delete(background, true))(t)
}

// TestSyncSameSizeAndTime: a change that leaves size and time as they were is seen.
func TestSyncSameSizeAndTime(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	src := t.TempDir()
	write(t, src, map[string]string{"f": "one", "g": "one"})
	tree := must(s.NewTree(background, "fs", src))(t)
	w := create(t, s, "a", Spec{Kind: Filesystem, Filesystem: "fs"})
	must(w.SyncUp(background, Neither))(t)
	for i, text := range []string{"two", "six", "ten"} {
		at := filepath.Join(w.Dir(), "f")
		info := must(os.Stat(at))(t)
		write(t, w.Dir(), map[string]string{"f": text})
		if err := os.Chtimes(at, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if up := must(w.SyncUp(background, Neither))(t); up.Count != 1 || read(t, tree, "f") != text {
			t.Errorf("change %d: %+v", i, up)
		}
	}
}

// TestSyncWhileWriting: a program that writes all the time meanwhile breaks nothing,
// and when it is done everything is taken.
func TestSyncWhileWriting(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	must(s.NewTree(background, "fs", ""))(t)
	w := create(t, s, "a", Spec{Kind: Filesystem, Filesystem: "fs"})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		rng := seeded(t, 3)
		for {
			select {
			case <-stop:
				return
			default:
				shake(t, rng, w.Dir(), 5)
			}
		}
	}()
	for range soak.Short(8, 30) {
		if _, err := w.SyncUp(background, Neither); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-done
	must(w.SyncUp(background, Neither))(t)
	if got, want := fmt.Sprint(contentsOf(t, s, "fs")), fmt.Sprint(contents(t, w.Dir())); got != want {
		t.Errorf("the filesystem has\n%s\nthe workspace\n%s", got, want)
	}
}

// TestPacksAreCollected: contents that nobody needs go, those that are needed stay.
func TestPacksAreCollected(t *testing.T) {
	t.Parallel()
	soak.Long(t, "hundreds of writes")
	s := newStore(t)
	tree := must(s.NewTree(background, "fs", ""))(t)
	big := strings.Repeat("x", 300<<10)
	const writes = 150
	for i := range writes {
		must(tree.Write(background, filetree.Write{Path: fmt.Sprintf("f%d", i%80), Body: strings.NewReader(fmt.Sprint(i))}))(t)
		if i%8 > 0 {
			continue
		}
		must(tree.Write(background, filetree.Write{Path: "big", Body: strings.NewReader(big + fmt.Sprint(i))}))(t)
	}
	list := must(os.ReadDir(filepath.Join(s.options.State, "filesystems", "fs", "packs")))(t)
	if len(list) > 83 { // the one that was replaced last goes at the next change
		t.Errorf("%d packs for 81 files", len(list))
	}
	for i := writes - 80; i < writes; i++ {
		if got := read(t, tree, fmt.Sprintf("f%d", i%80)); got != fmt.Sprint(i) {
			t.Errorf("f%d is %q, want %d", i%80, got, i)
		}
	}
	// What a task began with is there for comparing, however much has changed since.
	w := create(t, s, "a", Spec{Kind: Filesystem, Filesystem: "fs"})
	for i := range 70 {
		must(tree.Write(background, filetree.Write{Path: fmt.Sprintf("f%d", i%80), Body: strings.NewReader(fmt.Sprint("new", i))}))(t)
	}
	write(t, w.Dir(), map[string]string{"f1": "changed\n"})
	needGit(t)
	d := must(w.Diff(background, DiffOptions{}))(t)
	if len(d.Files) != 1 || d.Deleted != 1 {
		t.Errorf("diff %+v", d)
	}
}
