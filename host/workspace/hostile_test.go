package workspace

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/folders"
	"tandemux/internal/soak"

	"github.com/klauspost/compress/zstd"
)

// tarOf makes an archive of headers, contents in PAXRecords' place by name.
func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		body := []byte("body of " + h.Name)
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(body))
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(body); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func reg(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
func lnk(name, to string) tar.Header {
	return tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: to}
}

func sym(name, to string) tar.Header {
	return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
}

var badArchives = map[string][]tar.Header{
	"climbs":              {reg("../x")},
	"climbs inside":       {reg("a/../../x")},
	"absolute":            {reg("/tmp/x")},
	"dots":                {reg("a/./b")},
	"double slash":        {reg("a//b")},
	"device":              {{Typeflag: tar.TypeChar, Name: "null", Devmajor: 1, Devminor: 3}},
	"block device":        {{Typeflag: tar.TypeBlock, Name: "disk"}},
	"FIFO":                {{Typeflag: tar.TypeFifo, Name: "fifo"}},
	"hard link out":       {lnk("x", "../../etc/passwd")},
	"hard link absolute":  {lnk("x", "/etc/passwd")},
	"hard link ahead":     {lnk("x", "y"), reg("y")},
	"hard link to a link": {sym("s", "/etc/passwd"), lnk("x", "s")},
	"through a symlink":   {sym("s", "/tmp"), reg("s/x")},
	"through a symlink 2": {sym("s", ".."), {Typeflag: tar.TypeDir, Name: "s/d/"}, reg("s/d/x")},
	"file as a directory": {reg("f"), reg("f/x")},
	"long name":           {reg(strings.Repeat("x", 256))},
	"deep":                {reg(strings.Repeat("x/", 201) + "y")},
	"after good ones":     {reg("good"), reg("../bad")},
}

func TestArchivesRefused(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	src := t.TempDir()
	write(t, src, map[string]string{"keep": "me"})
	tree := must(s.NewTree(background, "fs", src))(t)
	version := must(tree.Summary())(t).Version
	for name, headers := range badArchives {
		t.Run(name, func(t *testing.T) {
			b := tarOf(t, headers...)
			_, err := tree.ReadArchive(background, bytes.NewReader(b), "")
			wantIs(t, err, filetree.ErrInvalid, "nothing of it was taken")
			home := t.TempDir()
			_, err = filetree.Unpack(background, bytes.NewReader(b), filepath.Join(home, "out"), filetree.PullOptions{})
			wantIs(t, err, filetree.ErrInvalid, "nothing of it was taken")
			if got := lines(t, home); got != "" {
				t.Errorf("unpacking left:\n%s", got)
			}
		})
	}
	if now := must(tree.Summary())(t).Version; now != version {
		t.Error("a refused archive changed the filesystem")
	}
}

func TestArchivesTaken(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	tree := must(s.NewTree(background, "fs", ""))(t)
	b := tarOf(t, tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755}, reg("./a"), lnk("hard", "a"), lnk("dir/hard", "./a"), sym("out", "/etc/passwd"),
		reg("twice"), tar.Header{Typeflag: tar.TypeReg, Name: "twice", Mode: 0o4755}, reg("no/parents/here"), reg("new\nline"), reg("\xff\xfe"), reg(".git/config"))
	must(tree.ReadArchive(background, bytes.NewReader(b), ""))(t)
	for path, want := range map[string]string{"a": "body of ./a", "hard": "body of ./a", "dir/hard": "body of ./a", "out": "/etc/passwd", "twice": "body of twice", "\xff\xfe": "body of \xff\xfe"} {
		if got := read(t, tree, path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
	if e := must(stat(tree, "twice"))(t); e.Mode != 0o755 {
		t.Errorf("mode %v: set-user-id is not kept", e.Mode)
	}
	out, stored := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	p := must(filetree.Unpack(background, bytes.NewReader(b), out, filetree.PullOptions{}))(t)
	must(pull(tree.WriteArchive, stored, false))(t)
	if lines(t, out) != lines(t, stored) || fmt.Sprint(p.Skipped) != "[.git/config]" && fmt.Sprint(p.Skipped) != "[]" {
		t.Errorf("unpacked %+v\n%s\nstored\n%s", p, lines(t, out), lines(t, stored))
	}
	if _, err := os.Lstat(filepath.Join(out, ".git")); err == nil {
		t.Error("git's own files came along")
	}
}

// TestUnpackLarge: large contents are moved to their place, but to one place only.
func TestUnpackLarge(t *testing.T) {
	t.Parallel()
	src := t.TempDir()
	large := strings.Repeat("0123456789abcdef", 100_000)
	write(t, src, map[string]string{"once": large + "1", "twice": large, "again": large, "small": "x"})
	var b bytes.Buffer
	must(filetree.PackDir(background, src, &b))(t)
	out := t.TempDir() // which is there, and empty
	must(filetree.Unpack(background, &b, out, filetree.PullOptions{}))(t)
	if lines(t, out) != lines(t, src) {
		t.Errorf("unpacked\n%s\nwant\n%s", lines(t, out), lines(t, src))
	}
	write(t, out, map[string]string{"twice": "other"})
	if file(t, out, "again") != large {
		t.Error("files of the same contents are tied together")
	}
}

func TestArchiveBombs(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.Limits = filetree.Limits{Files: 100, Bytes: 1 << 20, FileSize: 1 << 19}
	tree := must(s.NewTree(background, "fs", ""))(t)
	bomb := func(headers ...tar.Header) []byte {
		var b bytes.Buffer
		z := must(zstd.NewWriter(&b))(t)
		w := tar.NewWriter(z)
		for _, h := range headers {
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			for n := h.Size; n > 0; n -= 1 << 16 {
				if _, err := w.Write(make([]byte, min(n, 1<<16))); err != nil {
					t.Fatal(err)
				}
			}
		}
		must(0, errors.Join(w.Close(), z.Close()))(t)
		return b.Bytes()
	}
	var many, much []tar.Header
	for i := range 101 {
		many = append(many, tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprint(i)})
	}
	for i := range 3 {
		much = append(much, tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprint(i), Size: 1 << 19})
	}
	for name, b := range map[string][]byte{
		"files": bomb(many...), "bytes": bomb(much...), "one file": bomb(tar.Header{Typeflag: tar.TypeReg, Name: "x", Size: 1<<19 + 1}),
	} {
		_, err := tree.ReadArchive(background, bytes.NewReader(b), "")
		if !errors.Is(err, filetree.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPathsThatClimb: no method takes one.
func TestPathsThatClimb(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, p := range []string{"..", "../x", "a/../../x", "/etc/passwd", "", ".", "a/", "a//b", "a\x00", "dir/../a.txt", "./a.txt"} {
		for what, err := range map[string]error{
			"stat": second(stat(f.tree, p)), "remove": second(f.tree.Remove(p, "")),
			"write": second(f.tree.Write(background, filetree.Write{Path: p, Body: strings.NewReader("x")})),
			"diff":  second(f.work.Diff(background, DiffOptions{Paths: []string{p}})),
		} {
			if !errors.Is(err, filetree.ErrInvalid) {
				t.Errorf("%s of %q: %v", what, p, err)
			}
		}
	}
	for _, id := range []string{"", "..", "a/b", ".new-x", "-x", "_x", strings.Repeat("x", 65), "a b", "ü"} {
		_, err := f.Create(background, id, Spec{Kind: None})
		wantIs(t, err, filetree.ErrInvalid, "id")
		_, err = f.NewTree(background, id, "")
		wantIs(t, err, filetree.ErrInvalid, "id")
	}
}

// outsider is a directory that nothing may change.
func outsider(t testing.TB) (dir string, check func()) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "outside")
	write(t, dir, map[string]string{"secret": "s3cret\n", "sub/x": "x\n", "a.txt": "outside\n"})
	before := lines(t, dir)
	return dir, func() {
		t.Helper()
		if after := lines(t, dir); after != before {
			t.Errorf("what is outside was changed:\n%s\n---\n%s", before, after)
		}
	}
}

// TestSymlinksOut: links that an agent makes lead nothing out, in either direction.
func TestSymlinksOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	out, check := outsider(t)
	ws := f.work.Dir()
	// The directory that the filesystem changes is a link when that comes down.
	must(f.tree.Write(background, filetree.Write{Path: "dir/b.md", Body: strings.NewReader("changed\n")}))(t)
	must(f.tree.Write(background, filetree.Write{Path: "dir/deep/new", Body: strings.NewReader("new\n")}))(t)
	must(f.tree.Write(background, filetree.Write{Path: "a.txt", Body: strings.NewReader("changed\n")}))(t)
	must(0, os.RemoveAll(filepath.Join(ws, "dir")))(t)
	write(t, ws, map[string]string{"dir -> " + out: "", "a.txt -> " + filepath.Join(out, "a.txt"): "", "in -> " + out: ""})
	must(f.work.SyncDown(background, Neither))(t)
	must(f.work.SyncDown(background, PreferSource))(t)
	check()
	up := must(f.work.SyncUp(background, PreferWorkspace))(t)
	check()
	m := must(f.tree.Manifest())(t)
	for i := range m.Entries {
		if strings.HasPrefix(m.Entries[i].Path, "in/") {
			t.Errorf("%q was taken through a symlink: %+v", m.Entries[i].Path, up)
		}
	}
	var text strings.Builder
	needGit(t)
	must(f.work.Diff(background, DiffOptions{Text: &text}))(t)
	if strings.Contains(text.String(), "s3cret") {
		t.Error("a diff shows what is outside")
	}
	pulled := filepath.Join(t.TempDir(), "out")
	must(pull(everything(f.work), pulled, false))(t)
	// And where the user's own directory has links, they are not followed either.
	must(0, os.RemoveAll(filepath.Join(pulled, "workspace", "empty")))(t)
	write(t, pulled, map[string]string{"workspace/empty -> " + out: ""})
	write(t, ws, map[string]string{"empty/secret": "agent\n"})
	_, err := pull(everything(f.work), pulled, true)
	check()
	if err == nil {
		if info := must(os.Lstat(filepath.Join(pulled, "workspace", "empty")))(t); info.Mode()&fs.ModeSymlink != 0 {
			t.Error("the pull says that it was done, and it was not")
		}
	}
	must(f.work.Delete(background, true))(t)
	check()
}

// TestMergeThroughSymlinks: a link in the user's directory is not followed by a merge.
func TestMergeThroughSymlinks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	out, check := outsider(t)
	home := t.TempDir()
	write(t, home, map[string]string{"sub/x": "x\n", "a.txt": "outside\n", ".git/config": "[core]\n"})
	w := create(t, f.Store, "copy", Spec{Kind: Copy, Dir: home})
	write(t, w.Dir(), map[string]string{"sub/x": "agent\n", "a.txt": "agent\n", ".git/config": "[core]\n\tfsmonitor = touch /tmp/x\n", ".git/hooks/pre-commit!": "x"})
	must(0, os.RemoveAll(filepath.Join(home, "sub")))(t)
	must(0, os.Remove(filepath.Join(home, "a.txt")))(t)
	write(t, home, map[string]string{"sub -> " + filepath.Join(out, "sub"): "", "a.txt -> " + filepath.Join(out, "a.txt"): ""})
	needGit(t)
	_, err := w.Merge(background, MergeOptions{})
	var conflicts *Conflicts
	if !errors.As(err, &conflicts) || fmt.Sprint(conflicts.Paths) != "[a.txt sub/x]" {
		t.Errorf("merge: %v", err)
	}
	check()
	must(0, os.Remove(filepath.Join(home, "sub")))(t)
	must(0, os.Remove(filepath.Join(home, "a.txt")))(t)
	write(t, home, map[string]string{"sub/x": "x\n", "a.txt": "outside\n"})
	m := must(w.Merge(background, MergeOptions{}))(t)
	if len(m.Files) != 2 || file(t, home, ".git/config") != "[core]\n" || len(m.Left) == 0 {
		t.Errorf("merge %+v; git's own: %q", m, file(t, home, ".git/config"))
	}
	if _, err := os.Lstat(filepath.Join(home, ".git/hooks")); err == nil {
		t.Error("a hook came home")
	}
	check()
}

// TestSwapRaces: something swaps directories for links to the outside, and back, all
// the time, while files are moved every way.
func TestSwapRaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	out, check := outsider(t)
	copyHome := t.TempDir()
	write(t, copyHome, map[string]string{"dir/secret": "1\n", "dir/x": "1\n"})
	cw := create(t, f.Store, "copy", Spec{Kind: Copy, Dir: copyHome})
	repo := repository(t, map[string]string{"dir/secret": "1\n", "dir/x": "1\n", "a.txt": "1\n"})
	gw := create(t, f.Store, "git", Spec{Kind: Worktree, Dir: repo})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i, dir := range []string{f.work.Dir(), cw.Dir(), gw.Dir()} {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			real := filepath.Join(dir, "dir")
			for {
				select {
				case <-stop:
					return
				default:
				}
				_ = os.Rename(real, real+".aside")
				_ = os.Symlink(out, real)
				_ = os.Remove(filepath.Join(dir, "a.txt"))
				_ = os.Symlink(filepath.Join(out, "secret"), filepath.Join(dir, "a.txt"))
				_ = os.Remove(real)
				_ = os.Rename(real+".aside", real)
				_ = os.Remove(filepath.Join(dir, "a.txt"))
				_ = os.WriteFile(filepath.Join(dir, "a.txt"), noise(rng, 50), 0o600)
				_ = os.WriteFile(filepath.Join(real, "secret"), noise(rng, 50), 0o600)
			}
		})
	}
	// What goes wrong meanwhile is no matter; what must not be, is.
	for i := range soak.Size(t, soak.Short(1, 3), 100) {
		_, _ = f.tree.Write(background, filetree.Write{Path: "dir/secret", Body: strings.NewReader(fmt.Sprint("new", i))})
		_, _ = f.tree.Write(background, filetree.Write{Path: "dir/sub/x", Body: strings.NewReader(fmt.Sprint("new", i))})
		_, _ = f.tree.Write(background, filetree.Write{Path: "a.txt", Body: strings.NewReader(fmt.Sprint("new", i))})
		_, _ = f.work.SyncDown(background, PreferSource)
		_, _ = f.work.SyncUp(background, PreferWorkspace)
		var text strings.Builder
		_, _ = cw.Diff(background, DiffOptions{Text: &text})
		_, _ = gw.Diff(background, DiffOptions{Text: &text})
		if strings.Contains(text.String(), "s3cret") {
			t.Fatal("a diff shows what is outside")
		}
		var b bytes.Buffer
		if _, err := gw.WriteArchive(background, &b, folders.Selection{}); err == nil && bytes.Contains(unzip(t, b.Bytes()), []byte("s3cret")) {
			t.Fatal("an archive has what is outside")
		}
		_, _ = cw.Merge(background, MergeOptions{})
	}
	close(stop)
	wg.Wait()
	check()
	for _, id := range []string{"fs", "copy"} {
		m := must(must(f.Tree(id))(t).Manifest())(t)
		for i := range m.Entries {
			if m.Entries[i].Mode.IsRegular() && m.Entries[i].Sum == checksum([]byte("s3cret\n")) {
				t.Errorf("%s of %s is what is outside", m.Entries[i].Path, id)
			}
		}
	}
	for _, w := range []*Workspace{f.work, cw, gw} {
		must(w.Delete(background, true))(t)
	}
	check()
}

func unzip(t testing.TB, b []byte) []byte {
	t.Helper()
	r := must(zstd.NewReader(bytes.NewReader(b)))(t)
	defer r.Close()
	var out bytes.Buffer
	must(out.ReadFrom(r))(t)
	return out.Bytes()
}

// TestOddFiles: what can't be kept is named and skipped, and makes nobody wait.
func TestOddFiles(t *testing.T) {
	s := newStore(t)
	src := t.TempDir()
	write(t, src, map[string]string{"f": "1", "hard": "same"})
	must(0, os.Link(filepath.Join(src, "hard"), filepath.Join(src, "link")))(t)
	must(0, syscall.Mkfifo(filepath.Join(src, "fifo"), 0o644))(t)
	fd := must(syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0))(t)
	defer syscall.Close(fd)
	here := must(os.Getwd())(t)
	must(0, os.Chdir(src))(t) // a socket's path is short
	err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: "sock"})
	must(0, os.Chdir(here))(t)
	must(0, err)(t)
	w := create(t, s, "a", Spec{Kind: Copy, Dir: src})
	if got := contents(t, w.Dir()); len(got) != 3 || got["link"] != got["hard"] {
		t.Errorf("copied %v", got)
	}
	write(t, w.Dir(), map[string]string{"hard": "other"})
	if file(t, w.Dir(), "link") != "same" || file(t, src, "link") != "same" {
		t.Error("a hard link ties the copy's files together, or to the user's")
	}
	must(0, syscall.Mkfifo(filepath.Join(w.Dir(), "pipe"), 0o644))(t)
	if up := must(w.SyncUp(background, Neither))(t); fmt.Sprint(up.Skipped) != "[pipe]" || up.Count != 1 {
		t.Errorf("up %+v", up)
	}
	p := must(w.WriteArchive(background, io.Discard, folders.Selection{}))(t)
	if fmt.Sprint(p.Skipped) != "[workspace/pipe]" {
		t.Errorf("pulled %+v", p)
	}
	var b bytes.Buffer
	if skipped := must(filetree.PackDir(background, src, &b))(t); len(skipped) != 2 {
		t.Errorf("packed without %v", skipped)
	}
}
