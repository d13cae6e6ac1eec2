package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/folders"
)

// fixture is a filesystem with a task on it.
type fixture struct {
	*Store
	tree *filetree.Tree
	work *Workspace
	src  string
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{Store: newStore(t), src: t.TempDir()}
	write(t, f.src, map[string]string{"a.txt": "one\n", "dir/b.md": "two\n", "dir/deep/c.png": "three\n", "empty/": "", "run.sh!": "#!/bin/sh\n", "link -> a.txt": ""})
	f.tree = must(f.NewTree(background, "fs", f.src))(t)
	f.work = create(t, f.Store, "task", Spec{Kind: Filesystem, Filesystem: "fs"})
	return f
}

// TestRequirements goes through the requirements on filesystems by their numbers.
func TestRequirements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		number, says string
		check        func(t *testing.T, f *fixture)
	}{
		{"U1", "sync down and up between /workspace and a filesystem, with what changed", func(t *testing.T, f *fixture) {
			write(t, f.work.Dir(), map[string]string{"new": "x"})
			up := must(f.work.SyncUp(background, Neither))(t)
			if up.Count != 1 || fmt.Sprint(up.Changed) != "[new]" || read(t, f.tree, "new") != "x" {
				t.Errorf("up %+v", up)
			}
			must(f.tree.Write(background, filetree.Write{Path: "down", Body: strings.NewReader("y")}))(t)
			down := must(f.work.SyncDown(background, Neither))(t)
			if fmt.Sprint(down.Changed) != "[down]" || file(t, f.work.Dir(), "down") != "y" {
				t.Errorf("down %+v", down)
			}
		}},
		{"U2", "checksums decide, and nothing is moved when they are equal", func(t *testing.T, f *fixture) {
			at := filepath.Join(f.work.Dir(), "a.txt")
			write(t, f.work.Dir(), map[string]string{"a.txt": "one\n"}) // other times, the same contents
			version := must(f.tree.Summary())(t)
			up := must(f.work.SyncUp(background, Neither))(t)
			if up.Count != 0 || up.Version != version.Version {
				t.Errorf("up of a file that was only touched: %+v", up)
			}
			before := must(os.Stat(at))(t)
			if down := must(f.work.SyncDown(background, Neither))(t); down.Count != 0 || must(os.Stat(at))(t).ModTime() != before.ModTime() {
				t.Errorf("down with nothing new: %+v", down)
			}
		}},
		{"U3", "a manifest: only changed files are stored anew", func(t *testing.T, f *fixture) {
			size := func() (n int64) {
				for _, e := range must(os.ReadDir(filepath.Join(f.options.State, "filesystems", "fs", "packs")))(t) {
					n += must(e.Info())(t).Size()
				}
				return n
			}
			before := size()
			write(t, f.work.Dir(), map[string]string{"a.txt": "ONE\n", "copy of b": "two\n"})
			must(f.work.SyncUp(background, Neither))(t)
			if after := size(); after > before+4 {
				t.Errorf("4 bytes changed, and %d were added", after-before)
			}
		}},
		{"U4", "each synchronisation is one change of the filesystem", func(t *testing.T, f *fixture) {
			write(t, f.work.Dir(), map[string]string{"a.txt": "1", "dir/b.md": "2", "n": "3"})
			seen := map[string]bool{must(f.tree.Summary())(t).Version: true}
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case <-stop:
						return
					default:
						if now, err := f.tree.Summary(); err == nil {
							seen[now.Version] = true
						}
					}
				}
			}()
			up := must(f.work.SyncUp(background, Neither))(t)
			close(stop)
			<-done
			seen[up.Version] = true
			if len(seen) != 2 {
				t.Errorf("readers saw %d versions", len(seen))
			}
		}},
		{"U6", "system folders are the task's own", func(t *testing.T, f *fixture) {
			claude := must(f.work.SystemFolders().Make(".claude"))(t)
			must(f.work.SystemFolders().Make(".config/opencode"))(t)
			write(t, claude, map[string]string{"settings.json": "{}"})
			other := create(t, f.Store, "other", Spec{Kind: Filesystem, Filesystem: "fs"})
			if got := must(other.SystemFolders().Make(".claude"))(t); got == claude || lines(t, got) != "" {
				t.Errorf("another task's folder is %s: %s", got, lines(t, got))
			}
			if got := must(f.work.SystemFolders().Names())(t); fmt.Sprint(got) != "[.claude .config/opencode]" {
				t.Errorf("folders %v", got)
			}
			for _, bad := range []string{"", "claude", "../x", ".", "..", "./x", "/x", ".x/../y"} {
				if _, err := f.work.SystemFolders().Make(bad); !errors.Is(err, filetree.ErrInvalid) {
					t.Errorf("folder %q: %v", bad, err)
				}
			}
		}},
		{"U6", "system folders are synchronised by type, both ways", testFolderTypes},
		{"U7", "archives are of the whole", testArchiveWhole},
		{"U46", "a filesystem is shared by those it is attached to, and by nobody else", func(t *testing.T, f *fixture) {
			must(f.NewTree(background, "fs2", ""))(t)
			b, other := create(t, f.Store, "b", Spec{Kind: Filesystem, Filesystem: "fs"}), create(t, f.Store, "c", Spec{Kind: Filesystem, Filesystem: "fs2"})
			write(t, f.work.Dir(), map[string]string{"shared": "x"})
			must(f.work.SyncUp(background, Neither))(t)
			must(b.SyncDown(background, Neither))(t)
			must(other.SyncDown(background, Neither))(t)
			if file(t, b.Dir(), "shared") != "x" || lines(t, other.Dir()) != "" {
				t.Errorf("the other filesystem's task has %s", lines(t, other.Dir()))
			}
		}},
		{"U59", "create with a directory's files, list, get", func(t *testing.T, f *fixture) {
			_, err := f.NewTree(background, "fs", "")
			wantIs(t, err, filetree.ErrConflict, "already")
			_, err = f.NewTree(background, "../x", "")
			wantIs(t, err, filetree.ErrInvalid, "id")
			_, err = f.NewTree(background, "fs3", filepath.Join(f.src, "nothing"))
			wantIs(t, err, filetree.ErrInvalid, "does not exist")
			if now := must(f.tree.Summary())(t); now.Entries != 8 || now.Bytes != 4+4+6+10+5 || now.Version != must(f.tree.Manifest())(t).Version() {
				t.Errorf("summary %+v", now)
			}
			_, err = f.Tree("nothing")
			wantIs(t, err, filetree.ErrNotFound, "no filesystem")
		}},
		{"U60", "list by directory, MIME, pages, recursively; get from the manifest", testList},
		{"U61", "download one file by its path", func(t *testing.T, f *fixture) {
			if got := read(t, f.tree, "dir/deep/c.png"); got != "three\n" {
				t.Errorf("read %q", got)
			}
			for path, kind := range map[string]error{"nothing": filetree.ErrNotFound, "dir": filetree.ErrInvalid, "../a": filetree.ErrInvalid, "": filetree.ErrInvalid, "a.txt/x": filetree.ErrNotFound} {
				if _, _, err := f.tree.Read(path); !errors.Is(err, kind) {
					t.Errorf("read %q: %v", path, err)
				}
			}
		}},
		{"U62", "write one file, overwriting", func(t *testing.T, f *fixture) {
			out := must(f.tree.Write(background, filetree.Write{Path: "x/y/z", Body: strings.NewReader("1"), Executable: true}))(t)
			if !out.Created || out.Size != 1 || out.Version != must(f.tree.Summary())(t).Version {
				t.Errorf("create %+v", out)
			}
			again := must(f.tree.Write(background, filetree.Write{Path: "x/y/z", Mode: filetree.Overwrite, Body: strings.NewReader("22")}))(t)
			if again.Created || read(t, f.tree, "x/y/z") != "22" {
				t.Errorf("replace %+v", again)
			}
			if e := must(stat(f.tree, "x/y/z"))(t); e.Mode != 0o755 || e.Version() != again.File {
				t.Errorf("entry %+v", e)
			}
			if e := must(stat(f.tree, "x/y"))(t); !e.Mode.IsDir() {
				t.Errorf("directory %+v", e)
			}
		}},
		{"U63", "conditional writes", testConditional},
		{"U64", "versions come from answers, and are checksums", testConditional},
		{"U65", "the statuses", testStatuses},
		{"U66", "idempotency keys", testKeys},
		{"U67", "archives out and in", testArchiveWhole},
		{"U70", "/workspace is writable, read-only, or a tmpfs", func(t *testing.T, f *fixture) {
			for want, spec := range map[string]Spec{
				fmt.Sprintf("[{%s /workspace true}]", f.src):  {Kind: ReadWrite, Dir: f.src},
				fmt.Sprintf("[{%s /workspace false}]", f.src): {Kind: ReadOnly, Dir: f.src},
				"[{ /workspace true}]":                        {Kind: None},
			} {
				w := create(t, f.Store, "k-"+string(spec.Kind), spec)
				if got := fmt.Sprint(must(w.Mounts(background))(t)); got != want {
					t.Errorf("mounts of %s: %s, want %s", spec.Kind, got, want)
				}
				must(w.Delete(background, true))(t)
			}
			if lines(t, f.src) == "" {
				t.Error("deleting a task removed the directory that it was bound to")
			}
		}},
		{"U108", "pull writes workspace/ and system folders", func(t *testing.T, f *fixture) {
			claude := must(f.work.SystemFolders().Make(".claude"))(t)
			write(t, claude, map[string]string{"x": "y"})
			out := filepath.Join(t.TempDir(), "deep", "out")
			p := must(pull(everything(f.work), out, false))(t)
			if lines(t, filepath.Join(out, "workspace")) != lines(t, f.work.Dir()) || file(t, out, ".claude/x") != "y" {
				t.Errorf("pulled %+v\n%s", p, lines(t, out))
			}
			_, err := pull(everything(f.work), out, false)
			wantIs(t, err, filetree.ErrConflict, "not empty")
			write(t, out, map[string]string{"workspace/a.txt": "mine", "mine": "mine"})
			must(pull(everything(f.work), out, true))(t)
			if file(t, out, "workspace/a.txt") != "one\n" || file(t, out, "mine") != "mine" {
				t.Errorf("overwritten:\n%s", lines(t, out))
			}
			_, err = pull(everything(f.work), "relative", false)
			wantIs(t, err, filetree.ErrInvalid, "absolute")
		}},
		{"U109", "push and pull", func(t *testing.T, f *fixture) {
			shake(t, seeded(t, 5), f.src, 20)
			var b bytes.Buffer
			must(filetree.PackDir(background, f.src, &b))(t)
			must(f.tree.ReadArchive(background, &b, ""))(t)
			out := filepath.Join(t.TempDir(), "out")
			must(pull(f.tree.WriteArchive, out, false))(t)
			if lines(t, out) != lines(t, f.src) {
				t.Errorf("pulled\n%s\npushed\n%s", lines(t, out), lines(t, f.src))
			}
		}},
	} {
		t.Run(c.number, func(t *testing.T) { c.check(t, newFixture(t)) })
	}
}

func file(t testing.TB, dir, path string) string {
	t.Helper()
	return string(must(os.ReadFile(filepath.Join(dir, path)))(t))
}

func testList(t *testing.T, f *fixture) {
	for name, c := range map[string]struct {
		q    filetree.ListQuery
		want string
	}{
		"top":        {filetree.ListQuery{}, "a.txt dir empty link run.sh"},
		"directory":  {filetree.ListQuery{Dir: "dir"}, "dir/b.md dir/deep"},
		"recursive":  {filetree.ListQuery{Recursive: true}, "a.txt dir dir/b.md dir/deep dir/deep/c.png empty link run.sh"},
		"below":      {filetree.ListQuery{Dir: "dir", Recursive: true}, "dir/b.md dir/deep dir/deep/c.png"},
		"type":       {filetree.ListQuery{Recursive: true, MIME: "text/markdown"}, "dir/b.md"},
		"kind":       {filetree.ListQuery{Recursive: true, MIME: "image/*"}, "dir/deep/c.png"},
		"empty":      {filetree.ListQuery{Dir: "empty"}, ""},
		"first page": {filetree.ListQuery{Recursive: true, Limit: 3}, "a.txt dir dir/b.md next=dir/b.md"},
		"next page":  {filetree.ListQuery{Recursive: true, Limit: 3, After: "dir/b.md"}, "dir/deep dir/deep/c.png empty next=empty"},
		"last page":  {filetree.ListQuery{Recursive: true, Limit: 3, After: "empty"}, "link run.sh"},
	} {
		l := must(f.tree.List(c.q))(t)
		var got []string
		for _, e := range l.Entries {
			got = append(got, e.Path)
		}
		if l.Next != "" {
			got = append(got, "next="+l.Next)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
	for _, q := range []filetree.ListQuery{{Dir: "nothing"}, {Dir: "a.txt"}} {
		_, err := f.tree.List(q)
		wantIs(t, err, filetree.ErrNotFound, "no directory")
	}
	for _, q := range []filetree.ListQuery{{Dir: "../x"}, {Limit: 1001}, {Limit: -1}} {
		_, err := f.tree.List(q)
		wantIs(t, err, filetree.ErrInvalid, "")
	}
	e := must(stat(f.tree, "link"))(t)
	if e.MIME() != "inode/symlink" || e.Size != 5 || read(t, f.tree, "link") != "a.txt" {
		t.Errorf("symlink %+v", e)
	}
}

func testConditional(t *testing.T, f *fixture) {
	base, old := must(f.tree.Summary())(t).Version, must(stat(f.tree, "a.txt"))(t).Version()
	if old != checksum([]byte("one\n")).String() {
		t.Errorf("the file's version %s is not its checksum", old)
	}
	out := must(f.tree.Write(background, filetree.Write{Path: "a.txt", Mode: filetree.Conditional, Base: base, Expected: old, Body: strings.NewReader("2\n")}))(t)
	if out.Created || out.File != checksum([]byte("2\n")).String() {
		t.Errorf("replace %+v", out)
	}
	made := must(f.tree.Write(background, filetree.Write{Path: "new", Mode: filetree.Conditional, Base: out.Version, CreateOnly: "*", Body: strings.NewReader("n")}))(t)
	if !made.Created {
		t.Errorf("create %+v", made)
	}
	// Of many that start from the same version one is done.
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i := range 8 {
		wg.Go(func() {
			_, err := f.tree.Write(background, filetree.Write{Path: "a.txt", Mode: filetree.Conditional, Base: made.Version, Expected: out.File, Body: strings.NewReader(fmt.Sprint(i))})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			} else if !errors.Is(err, filetree.ErrConflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if done != 1 {
		t.Errorf("%d of eight conditional writes were done", done)
	}
}

func testStatuses(t *testing.T, f *fixture) {
	base, sum := must(f.tree.Summary())(t).Version, must(stat(f.tree, "a.txt"))(t).Version()
	f.Limits.FileSize = 100
	other := strings.Repeat("0", 64)
	for _, c := range []struct {
		status int
		w      filetree.Write
	}{
		{400, filetree.Write{Path: ""}},
		{400, filetree.Write{Path: "/etc/passwd"}},
		{400, filetree.Write{Path: "../x"}},
		{400, filetree.Write{Path: "a/../../x"}},
		{400, filetree.Write{Path: "a//b"}},
		{400, filetree.Write{Path: "./a"}},
		{400, filetree.Write{Path: "a/"}},
		{400, filetree.Write{Path: "a\x00b"}},
		{400, filetree.Write{Path: strings.Repeat("x", 256)}},
		{400, filetree.Write{Path: strings.Repeat("x/", 201) + "x"}},
		{400, filetree.Write{Path: "dir"}},
		{400, filetree.Write{Path: "a.txt/x"}},
		{400, filetree.Write{Path: "link/x"}},
		{400, filetree.Write{Path: "x", Digest: "md5:1"}},
		{400, filetree.Write{Path: "x", Digest: "sha256:" + other}},
		{400, filetree.Write{Path: "x", Digest: "zz"}},
		{400, filetree.Write{Path: "x", Mode: "append"}},
		{400, filetree.Write{Path: "x", Base: base}},
		{400, filetree.Write{Path: "x", CreateOnly: "*"}},
		{400, filetree.Write{Path: "x", Key: strings.Repeat("k", 256)}},
		{428, filetree.Write{Path: "a.txt", Mode: filetree.Conditional}},
		{428, filetree.Write{Path: "a.txt", Mode: filetree.Conditional, Base: base}},
		{428, filetree.Write{Path: "a.txt", Mode: filetree.Conditional, Expected: sum}},
		{428, filetree.Write{Path: "a.txt", Mode: filetree.Conditional, CreateOnly: "*"}},
		{428, filetree.Write{Path: "a.txt", Mode: filetree.Conditional, Base: base, Expected: sum, CreateOnly: "*"}},
		{428, filetree.Write{Path: "new", Mode: filetree.Conditional, Base: base, CreateOnly: "yes"}},
		{409, filetree.Write{Path: "a.txt", Mode: filetree.Conditional, Base: other, Expected: sum}},
		{409, filetree.Write{Path: "new", Mode: filetree.Conditional, Base: other, CreateOnly: "*"}},
		{412, filetree.Write{Path: "a.txt", Mode: filetree.Conditional, Base: base, Expected: other}},
		{412, filetree.Write{Path: "new", Mode: filetree.Conditional, Base: base, Expected: sum}},
		{412, filetree.Write{Path: "a.txt", Mode: filetree.Conditional, Base: base, CreateOnly: "*"}},
		{413, filetree.Write{Path: "x", Body: strings.NewReader(strings.Repeat("x", 101))}},
	} {
		w := c.w
		if w.Body == nil {
			w.Body = strings.NewReader("body")
		}
		_, err := f.tree.Write(background, w)
		var coded interface{ StatusCode() int }
		if !errors.As(err, &coded) || coded.StatusCode() != c.status {
			c.w.Body = nil
			t.Errorf("%+v: %v, want status %d", c.w, err, c.status)
		}
		if err != nil && len(err.Error()) < 20 {
			t.Errorf("the error %q says too little", err)
		}
	}
	if now := must(f.tree.Summary())(t).Version; now != base {
		t.Error("refused writes changed the filesystem")
	}
	if list := must(os.ReadDir(filepath.Join(f.options.State, "filesystems", "fs", "packs")))(t); len(list) > 2 {
		t.Errorf("refused writes left %d packs", len(list))
	}
	_, err := f.tree.Remove("a.txt", other)
	wantIs(t, err, filetree.ErrConflict, "version")
	_, err = f.tree.Remove("nothing", "")
	wantIs(t, err, filetree.ErrNotFound, "")
	must(f.tree.Remove("dir", base))(t)
	if _, err := stat(f.tree, "dir/deep/c.png"); !errors.Is(err, filetree.ErrNotFound) {
		t.Errorf("a removed directory left %v", err)
	}
}

func testKeys(t *testing.T, f *fixture) {
	w := func(key, path, text string) filetree.Write {
		return filetree.Write{Path: path, Key: key, Body: strings.NewReader(text)}
	}
	first := must(f.tree.Write(background, w("k", "x", "1")))(t)
	must(f.tree.Write(background, w("", "x", "2")))(t)
	again := must(f.tree.Write(background, w("k", "x", "1")))(t)
	if !again.Replay || again.Version != first.Version || !again.Created || read(t, f.tree, "x") != "2" {
		t.Errorf("replay %+v of %+v", again, first)
	}
	for _, other := range []filetree.Write{w("k", "x", "3"), w("k", "y", "1"), {Path: "x", Key: "k", Mode: filetree.Overwrite, Executable: true, Body: strings.NewReader("1")}} {
		_, err := f.tree.Write(background, other)
		wantIs(t, err, filetree.ErrConflict, "another request")
	}
	// A replay needs no conditions that hold any more, and survives another opening.
	base := must(f.tree.Summary())(t).Version
	c := filetree.Write{Path: "z", Mode: filetree.Conditional, Base: base, CreateOnly: "*", Key: "c"}
	c.Body = strings.NewReader("z")
	must(f.tree.Write(background, c))(t)
	f.tree = must(openStore(t, f.options.State).Tree("fs"))(t)
	c.Body = strings.NewReader("z")
	if got := must(f.tree.Write(background, c))(t); !got.Replay {
		t.Errorf("after another opening: %+v", got)
	}
	// A failure is not remembered.
	c = filetree.Write{Path: "q", Mode: filetree.Conditional, Base: strings.Repeat("0", 64), CreateOnly: "*", Key: "f", Body: strings.NewReader("q")}
	_, err := f.tree.Write(background, c)
	wantIs(t, err, filetree.ErrConflict, "")
	must(f.tree.Write(background, w("f", "q", "other")))(t)
}

func testArchiveWhole(t *testing.T, f *fixture) {
	grow(t, seeded(t, 9), f.work.Dir(), 150)
	write(t, f.work.Dir(), map[string]string{"large": strings.Repeat("0123456789", 300_000), strings.Repeat("n", 255): "long", strings.Repeat("d/", 150) + "deep": "deep"})
	must(f.work.SyncUp(background, Neither))(t)
	var b bytes.Buffer
	version := must(f.tree.WriteArchive(background, &b))(t)
	other := must(f.NewTree(background, "other", ""))(t)
	in := must(other.ReadArchive(background, bytes.NewReader(b.Bytes()), ""))(t)
	if in.Version != version {
		t.Errorf("an archive out and in is another version")
	}
	out := filepath.Join(t.TempDir(), "out")
	must(filetree.Unpack(background, &b, out, filetree.PullOptions{}))(t)
	if lines(t, out) != lines(t, f.work.Dir()) {
		t.Errorf("unpacked\n%s\nwant\n%s", lines(t, out), lines(t, f.work.Dir()))
	}
	_, err := other.ReadArchive(background, &bytes.Buffer{}, "")
	wantIs(t, err, filetree.ErrInvalid, "empty")
	_, err = other.ReadArchive(background, strings.NewReader("no archive at all, but long enough for a header"+strings.Repeat("x", 600)), "")
	wantIs(t, err, filetree.ErrInvalid, "nothing of it was taken")
	var c bytes.Buffer
	must(f.tree.WriteArchive(background, &c))(t)
	_, err = other.ReadArchive(background, bytes.NewReader(c.Bytes()[:c.Len()/2]), "")
	wantIs(t, err, filetree.ErrInvalid, "")
	_, err = other.ReadArchive(background, bytes.NewReader(c.Bytes()), strings.Repeat("0", 64))
	wantIs(t, err, filetree.ErrConflict, "version")
	if now := must(other.Summary())(t).Version; now != version {
		t.Error("refused archives changed the filesystem")
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := other.ReadArchive(ctx, bytes.NewReader(c.Bytes()), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := f.tree.WriteArchive(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// testFolderTypes: folders go out and come in by themselves: what differs is written, what is
// not named stays, logins neither leave nor come, and nothing gets out of its folder.
func testFolderTypes(t *testing.T, f *fixture) {
	names := []string{".claude", ".codex", ".config/opencode"}
	for _, name := range names {
		write(t, must(f.work.SystemFolders().Make(name))(t), map[string]string{"own": name, "sub/token": "secret"})
	}
	system, files := f.work.path(systemName), lines(t, f.work.Dir())
	login := []string{".claude/sub/token"}

	// Out: one, then two of them, without the files that the task works on.
	out := filepath.Join(t.TempDir(), "out")
	only := func(names ...string) func(context.Context, io.Writer) (filetree.Pulled, error) {
		return func(ctx context.Context, to io.Writer) (filetree.Pulled, error) {
			return f.work.WriteArchive(ctx, to, folders.Selection{Names: names, Leave: login})
		}
	}
	must(pull(only(".claude"), out, false))(t)
	if got := tops(t, out); got != ".claude" || file(t, out, ".claude/own") != ".claude" {
		t.Errorf("pulled %s:\n%s", got, lines(t, out))
	}
	if _, err := os.Lstat(filepath.Join(out, ".claude", "sub", "token")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the login came out: %v", err)
	}
	must(pull(only(".codex", ".config/opencode"), out, true))(t)
	if got := tops(t, out); got != ".claude .codex .config" || file(t, out, ".config/opencode/own") != ".config/opencode" || file(t, out, ".codex/sub/token") != "secret" {
		t.Errorf("pulled %s:\n%s", got, lines(t, out))
	}

	// In: the same again changes nothing.
	push := func(o folders.Selection, from ...string) (folders.Brought, error) {
		var b bytes.Buffer
		must(filetree.PackDir(background, out, &b, from...))(t)
		o.Leave = login
		return f.work.SystemFolders().Read(background, &b, o)
	}
	before := lines(t, system)
	if got := must(push(folders.Selection{Names: names}))(t); got.Count != 0 || fmt.Sprint(got.Folders) != fmt.Sprint(names) || lines(t, system) != before {
		t.Errorf("the same again: %+v\n%s", got, lines(t, system))
	}
	// One of them: what differs; the others, and the workspace, stay.
	write(t, out, map[string]string{".claude/own": "mine", ".claude/new/x!": "x", ".claude/sub/token": "theirs", ".codex/own": "mine", "workspace/a.txt": "mine", ".claude/l -> /etc": ""})
	got := must(push(folders.Selection{Names: []string{".claude"}}))(t)
	if fmt.Sprint(got.Changed) != "[.claude/l .claude/new .claude/new/x .claude/own]" || got.Count != 4 || fmt.Sprint(got.Skipped) != "[.claude/sub/token .codex .config workspace]" {
		t.Errorf("pushed %+v", got)
	}
	if file(t, system, ".claude/own") != "mine" || file(t, system, ".codex/own") != ".codex" || file(t, system, ".claude/sub/token") != "secret" || lines(t, f.work.Dir()) != files {
		t.Errorf("pushed:\n%s", lines(t, system))
	}
	// What is not there stays, unless it is to go; the login does anyway.
	must(0, os.RemoveAll(filepath.Join(out, ".claude", "new")))(t)
	must(0, os.RemoveAll(filepath.Join(out, ".claude", "sub")))(t)
	if got := must(push(folders.Selection{Names: names[:1]}, ".claude"))(t); got.Count != 0 {
		t.Errorf("it removed %+v", got)
	}
	got = must(push(folders.Selection{Names: names, Delete: true}, ".claude"))(t)
	if got.Count < 2 || file(t, system, ".claude/sub/token") != "secret" || file(t, system, ".codex/own") != ".codex" {
		t.Errorf("it removed %+v:\n%s", got, lines(t, system))
	}
	if _, err := os.Lstat(filepath.Join(system, ".claude", "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what the archive has not is there: %v", err)
	}
	// A turn that runs, nothing of a folder, and a folder that is none: nothing is changed.
	before = lines(t, system)
	busy := errors.New("busy")
	if _, err := push(folders.Selection{Names: names, Ready: func() error { return busy }}); !errors.Is(err, busy) {
		t.Errorf("during a turn: %v", err)
	}
	_, err := f.work.SystemFolders().Read(background, bytes.NewReader(tarOf(t, reg("settings.json"))), folders.Selection{Names: names})
	wantIs(t, err, filetree.ErrInvalid, "paths in it begin with a folder's name, such as .claude/settings.json")
	for _, bad := range []string{".claude", ".config"} {
		_, err = f.work.SystemFolders().Read(background, bytes.NewReader(tarOf(t, sym(bad, "/etc"))), folders.Selection{Names: names})
		wantIs(t, err, filetree.ErrInvalid, "is no directory in the archive")
	}
	_, err = f.work.SystemFolders().Read(background, bytes.NewReader(nil), folders.Selection{})
	wantIs(t, err, filetree.ErrUnsupported, "runs without a sandbox")
	if lines(t, system) != before {
		t.Errorf("what was refused changed\n%s\nto\n%s", before, lines(t, system))
	}
	if left := must(filepath.Glob(f.work.path("workspace.*")))(t); slices.ContainsFunc(left, func(p string) bool { return strings.HasSuffix(p, incomingName) || strings.HasSuffix(p, stageName) }) {
		t.Errorf("left %v", left)
	}
	if _, err := folders.Choose([]string{".claude", ".codex"}, []string{"dot_claude", "dot_x"}); err == nil || err.Error() != `there is no folder type "dot_x"; the task has dot_claude, dot_codex` {
		t.Errorf("an unknown type: %v", err)
	}
	if got := folders.Of(folders.Type(".config/opencode")); got != ".config/opencode" {
		t.Errorf("the type of a folder names %q", got)
	}
}

// tops names what is in a directory.
func tops(t testing.TB, dir string) string {
	t.Helper()
	var names []string
	for _, e := range must(os.ReadDir(dir))(t) {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
