package files

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/resource"
	"tandemux/internal/fileuri"
	"tandemux/internal/leak"
)

func TestMain(m *testing.M) { leak.InMemory(m) }

// yard is a served directory with one that is not beside it.
type yard struct {
	*Server
	t              *testing.T
	root, out, own string
}

func newYard(t *testing.T) *yard {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{t: t, root: filepath.Join(dir, "root"), out: filepath.Join(dir, "out"), own: filepath.Join(dir, "root", "state", "own")}
	for _, d := range []string{y.own, y.out} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	y.file("../out/secret", "secret")
	y.restart()
	return y
}

// restart is the next host.
func (y *yard) restart() {
	y.Server = New(Options{
		Roots: []string{y.root}, Hostname: "box", Own: []string{y.own},
		Limits: Limits{TreeEntries: 100, WatchEntries: 1000, WatchedDirs: 50, WatchedDirsAll: 80},
	})
}

func (y *yard) path(name string) string { return filepath.Join(y.root, name) }
func (y *yard) uri(name string) ahp.URI { return fileuri.Of(y.root) + "/" + name }

func (y *yard) file(name, content string) {
	y.t.Helper()
	if err := os.MkdirAll(filepath.Dir(y.path(name)), 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(y.path(name), []byte(content), 0o644); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) link(to, name string) {
	y.t.Helper()
	if err := os.Symlink(to, y.path(name)); err != nil {
		y.t.Fatal(err)
	}
}

// has compares a file; "" for one that is not there.
func (y *yard) has(name, content string) {
	y.t.Helper()
	got, err := os.ReadFile(y.path(name))
	if content == "" && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || string(got) != content {
		y.t.Errorf("%s is %q (%v), want %q", name, got, err, content)
	}
}

func (y *yard) code(err error, want int, doing string) {
	y.t.Helper()
	if ahp.CodeOf(err) != want || err != nil && want == 0 {
		y.t.Errorf("%s: %v, want %d", doing, err, want)
	}
}

func (y *yard) write(name, data string, change ...func(*resource.WriteParams)) error {
	p := resource.WriteParams{Params: resource.Params{URI: y.uri(name)}, Data: data, Encoding: resource.UTF8}
	for _, f := range change {
		f(&p)
	}
	return y.Write(p)
}

// clean fails when something of an unfinished change is left.
func (y *yard) clean() {
	y.t.Helper()
	err := filepath.WalkDir(filepath.Dir(y.root), func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(filepath.Base(path), tempPrefix) {
			y.t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		y.t.Error(err)
	}
}

func at(mode string, position int64) func(*resource.WriteParams) {
	return func(p *resource.WriteParams) { p.Mode, p.Position = mode, position }
}

func createOnly(p *resource.WriteParams) { p.CreateOnly = true }

// TestWrite: what each mode makes of a file, in bytes.
func TestWrite(t *testing.T) {
	y := newYard(t)
	for _, c := range []struct {
		before, data string
		mode         string
		position     int64
		want         string
	}{
		{"LONGER", "short", "", 0, "short"},
		{"PREFIX-OLD", "NEW", resource.Truncate, 7, "PREFIX-NEW"},
		{"HEAD", "-TAIL", resource.Truncate, 100, "HEAD-TAIL"},
		{"A\U0001F600B", "Z", resource.Truncate, 5, "A\U0001F600Z"},
		{"BEGIN", "-END", resource.Append, 0, "BEGIN-END"},
		{"BEGIN-END", "-MIDDLE", resource.Append, 4, "BEGIN-MIDDLE-END"},
		{"TAIL", "HEAD-", resource.Append, 100, "HEAD-TAIL"},
		{"ABCD", "12", resource.Insert, 2, "AB12CD"},
		{"ABCD", "12", resource.Insert, 0, "12ABCD"},
		{"HEAD", "-TAIL", resource.Insert, 100, "HEAD-TAIL"},
		{"", "made", resource.Append, 5, "made"},
		{"", "made", resource.Insert, 5, "made"},
	} {
		os.Remove(y.path("f"))
		if c.before != "" {
			y.file("f", c.before)
			if err := os.Chmod(y.path("f"), 0o751); err != nil {
				t.Fatal(err)
			}
		}
		y.code(y.write("f", c.data, at(c.mode, c.position)), 0, fmt.Sprint(c))
		y.has("f", c.want)
		if info, err := os.Stat(y.path("f")); err != nil || c.before != "" && info.Mode().Perm() != 0o751 {
			t.Errorf("%v: mode %v (%v)", c, info.Mode(), err)
		}
	}
	y.code(y.write("bytes", base64.StdEncoding.EncodeToString([]byte{0, 255, 1}), func(p *resource.WriteParams) { p.Encoding = resource.Base64 }), 0, "bytes")
	y.has("bytes", "\x00\xff\x01")
	y.code(y.write("empty", ""), 0, "nothing")
	if info, err := os.Stat(y.path("empty")); err != nil || info.Size() != 0 {
		t.Errorf("an empty file: %v", err)
	}
	y.clean()
}

// TestWriteRefused: nothing is changed by what is refused.
func TestWriteRefused(t *testing.T) {
	y := newYard(t)
	y.file("f", "as it was")
	y.file("dir/f", "")
	y.file("state/own/tokens", "mine")
	if err := os.Mkdir(y.path("locked"), 0o555); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(y.path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	y.link(y.out, "outside")
	y.link(filepath.Join(y.out, "secret"), "to-secret")
	y.link(filepath.Join(y.out, "new"), "to-new")
	y.link("nowhere", "dangling")
	y.link("loop", "loop")
	stale := func(tag string) func(*resource.WriteParams) {
		return func(p *resource.WriteParams) { p.IfMatch = &tag }
	}
	encoded := func(e string) func(*resource.WriteParams) {
		return func(p *resource.WriteParams) { p.Encoding = e }
	}
	for _, c := range []struct {
		name   string
		change func(*resource.WriteParams)
		code   int
	}{
		{"f", encoded("latin1"), ahp.CodeInvalidParams},
		{"f", encoded(""), ahp.CodeInvalidParams},
		{"f", encoded(resource.Base64), ahp.CodeInvalidParams},
		{"f", at("prepend", 0), ahp.CodeInvalidParams},
		{"f", at("", -1), ahp.CodeInvalidParams},
		{"f", createOnly, ahp.CodeAlreadyExists},
		{"f", stale("old"), ahp.CodeConflict},
		{"new", stale("old"), ahp.CodeConflict},
		{"f", func(p *resource.WriteParams) { p.Data = strings.Repeat("x", maxFileBytes+1) }, ahp.CodeConflict},
		{"dir", at("", 0), ahp.CodeInvalidParams},
		{"pipe", at("", 0), ahp.CodePermissionDenied},
		{"no/f", at("", 0), ahp.CodeNotFound},
		{"f/under", at("", 0), ahp.CodeNotFound},
		{"dangling", at("", 0), ahp.CodeNotFound},
		{"dangling", createOnly, ahp.CodeNotFound},
		{"loop", at("", 0), ahp.CodePermissionDenied},
		{"", at("", 0), ahp.CodePermissionDenied},
		{"..", at("", 0), ahp.CodePermissionDenied},
		{"../out/secret", at("", 0), ahp.CodePermissionDenied},
		{"%2e%2e/out/secret", at("", 0), ahp.CodePermissionDenied},
		{"outside/secret", at("", 0), ahp.CodePermissionDenied},
		{"outside/new", at("", 0), ahp.CodePermissionDenied},
		{"to-secret", at(resource.Append, 0), ahp.CodePermissionDenied},
		{"to-new", createOnly, ahp.CodePermissionDenied},
		{"state/own/tokens", at("", 0), ahp.CodePermissionDenied},
		{"state/own", at("", 0), ahp.CodePermissionDenied},
	} {
		y.code(y.write(c.name, "!", c.change), c.code, c.name)
	}
	if os.Getuid() != 0 {
		y.code(y.write("locked/f", "!"), ahp.CodePermissionDenied, "locked/f")
	}
	y.has("f", "as it was")
	y.has("../out/secret", "secret")
	y.has("../out/new", "")
	y.has("state/own/tokens", "mine")
	y.code(y.Write(resource.WriteParams{Encoding: resource.UTF8}), ahp.CodeInvalidParams, "no uri")
	y.clean()
}

// TestWriteThroughLinks: a link within the root stays one, and what it leads to is written.
func TestWriteThroughLinks(t *testing.T) {
	y := newYard(t)
	y.file("real/f", "old")
	y.link("real", "dir")
	y.link(y.path("real/f"), "f")
	y.code(y.write("f", "one"), 0, "an absolute link")
	y.has("real/f", "one")
	y.code(y.write("dir/f", "two"), 0, "below a link")
	y.code(y.write("dir/new", "three"), 0, "new below a link")
	y.has("real/f", "two")
	y.has("real/new", "three")
	if _, err := os.Readlink(y.path("f")); err != nil {
		t.Error(err)
	}
}

// TestEtags: of writers that know the same etag, or create the same file, one wins; of
// those that append, all.
func TestEtags(t *testing.T) {
	y := newYard(t)
	y.file("f", "seed")
	tag := func(name string) string {
		r, err := y.Resolve(y.uri(name), true)
		if err != nil {
			t.Fatal(err)
		}
		return r.(resource.ResolveResult).ETag
	}
	first := tag("f")
	race := func(name string, change func(*resource.WriteParams)) (won int, codes []int) {
		var wg sync.WaitGroup
		results := make(chan error, 8)
		for i := range cap(results) {
			wg.Go(func() { results <- y.write(name, fmt.Sprint(i), change) })
		}
		wg.Wait()
		close(results)
		for err := range results {
			if err == nil {
				won++
			} else {
				codes = append(codes, ahp.CodeOf(err))
			}
		}
		return won, codes
	}
	won, codes := race("f", func(p *resource.WriteParams) { p.IfMatch = &first })
	if won != 1 || len(codes) != 7 {
		t.Errorf("%d won, others got %v", won, codes)
	}
	for _, c := range codes {
		if c != ahp.CodeConflict {
			t.Errorf("a loser got %d", c)
		}
	}
	if tag("f") == first {
		t.Error("the etag is as before")
	}
	if won, codes = race("made", createOnly); won != 1 || len(codes) != 7 || codes[0] != ahp.CodeAlreadyExists {
		t.Errorf("of creators %d won, others got %v", won, codes)
	}
	if won, _ = race("log", at(resource.Append, 0)); won != 8 {
		t.Errorf("%d of 8 appended", won)
	}
	if text, err := os.ReadFile(y.path("log")); err != nil || len(text) != 8 {
		t.Errorf("appended %q (%v)", text, err)
	}
	y.clean()
}

// TestMkdir makes what is missing, and nothing in place of a file.
func TestMkdir(t *testing.T) {
	y := newYard(t)
	y.file("f", "x")
	y.link(y.out, "outside")
	y.link("state", "inside")
	y.link("nowhere", "dangling")
	for name, code := range map[string]int{
		"a/b/c": 0, "a/b": 0, "": 0, "inside/new/er": 0, "f": ahp.CodeAlreadyExists, "f/x": ahp.CodeNotFound, "outside": ahp.CodePermissionDenied,
		"outside/a": ahp.CodePermissionDenied, "dangling/a": ahp.CodeNotFound, "../x": ahp.CodePermissionDenied,
		"state/own/x": ahp.CodePermissionDenied,
	} {
		y.code(y.Mkdir(y.uri(name)), code, "make "+name)
	}
	for _, name := range []string{"a/b/c", "state/new/er"} {
		if info, err := os.Stat(y.path(name)); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", name, err)
		}
	}
	y.has("../out/a", "")
	y.has("f", "x")
}

// TestDelete: one thing, a link itself, a tree only if that is asked for and not too large.
func TestDelete(t *testing.T) {
	y := newYard(t)
	ctx := context.Background()
	y.file("f", "x")
	y.file("tree/sub/f", "x")
	y.file("other/f", "x")
	y.link(y.out, "tree/outside")
	y.link(y.out, "outside")
	for i := range 101 {
		y.file(fmt.Sprintf("large/%d", i), "")
	}
	if err := os.Mkdir(y.path("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		recursive bool
		code      int
	}{
		{"f", false, 0},
		{"f", false, ahp.CodeNotFound},
		{"f", true, ahp.CodeNotFound},
		{"tree", false, ahp.CodeConflict},
		{"tree", true, 0},
		{"empty", false, 0},
		{"outside/secret", false, ahp.CodePermissionDenied},
		{"outside", true, 0},
		{"large", true, ahp.CodeConflict},
		{"", true, ahp.CodePermissionDenied},
		{"../out", true, ahp.CodePermissionDenied},
		{"state", true, ahp.CodePermissionDenied},
		{"other/f", true, 0},
	} {
		y.code(y.Delete(ctx, y.uri(c.name), c.recursive), c.code, "delete "+c.name)
	}
	y.has("tree/sub/f", "")
	y.has("../out/secret", "secret")
	if left, err := os.ReadDir(y.path("large")); err != nil || len(left) != 101 {
		t.Errorf("%d left of 101 (%v)", len(left), err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := y.Delete(gone, y.uri("large"), true); !errors.Is(err, context.Canceled) {
		t.Errorf("of a connection that ended: %v", err)
	}
}

// TestTransfers: copies and moves replace what has the name, unless they must not, whatever
// it is; links are links.
func TestTransfers(t *testing.T) {
	ctx := context.Background()
	for verb, do := range map[string]func(*Server, context.Context, resource.TransferParams) error{"copy": (*Server).Copy, "move": (*Server).Move} {
		t.Run(verb, func(t *testing.T) {
			y := newYard(t)
			both := func(from, to string, must bool) error {
				return do(y.Server, ctx, resource.TransferParams{Source: y.uri(from), Destination: y.uri(to), FailIfExists: must})
			}
			stays := func(name, content string) {
				t.Helper()
				if verb == "move" {
					content = ""
				}
				y.has(name, content)
			}
			reset := func() {
				y.t.Helper()
				for _, name := range []string{"f", "g", "tree", "old", "link", "out-link"} {
					os.RemoveAll(y.path(name))
				}
				y.file("f", "\x00F")
				y.file("g", "G")
				y.file("tree/sub/f", "T")
				y.file("old/stale", "S")
				y.link("sub/f", "tree/inner")
				y.link(y.out, "out-link")
				os.Chmod(y.path("f"), 0o700)
				os.Chmod(y.path("tree/sub"), 0o750)
			}
			reset()
			y.code(both("f", "new", true), 0, "to a free name")
			y.has("new", "\x00F")
			stays("f", "\x00F")
			if info, err := os.Stat(y.path("new")); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("mode %v (%v)", info.Mode(), err)
			}
			reset()
			y.code(both("f", "g", true), ahp.CodeAlreadyExists, "to a name that is taken")
			y.code(both("tree", "old", true), ahp.CodeAlreadyExists, "a tree to one")
			y.has("g", "G")
			y.has("old/stale", "S")
			y.code(both("f", "g", false), 0, "over a file")
			y.has("g", "\x00F")
			y.code(both("tree", "old", false), 0, "a tree over a tree")
			y.has("old/sub/f", "T")
			y.has("old/stale", "")
			stays("tree/sub/f", "T")
			if to, err := os.Readlink(y.path("old/inner")); to != "sub/f" {
				t.Errorf("a link has become %q (%v)", to, err)
			}
			if info, err := os.Stat(y.path("old/sub")); err != nil || info.Mode().Perm() != 0o750 {
				t.Errorf("mode %v (%v)", info.Mode(), err)
			}
			reset()
			y.code(both("f", "old", false), 0, "a file over a tree")
			y.has("old", "\x00F")
			reset()
			y.code(both("tree", "g", false), 0, "a tree over a file")
			y.has("g/sub/f", "T")
			reset()
			y.code(both("f", "out-link", false), 0, "over a link")
			y.has("out-link", "\x00F")
			reset()
			for _, c := range []struct {
				from, to string
				code     int
			}{
				{"missing", "new2", ahp.CodeNotFound},
				{"f", "missing/new", ahp.CodeNotFound},
				{"tree", "tree/sub/new", ahp.CodeConflict},
				{"tree/sub", "tree", ahp.CodeConflict},
				{"f", "f", ahp.CodeConflict},
				{"out-link/secret", "new2", ahp.CodePermissionDenied},
				{"f", "out-link/new", ahp.CodePermissionDenied},
				{"f", "../out/new", ahp.CodePermissionDenied},
				{"../out/secret", "new2", ahp.CodePermissionDenied},
				{"f", "state/own/f", ahp.CodePermissionDenied},
				{"f", "state", ahp.CodePermissionDenied},
				{"f", "", ahp.CodePermissionDenied},
			} {
				y.code(both(c.from, c.to, false), c.code, c.from+" to "+c.to)
			}
			if verb == "copy" {
				y.code(both("out-link", "new2", false), ahp.CodePermissionDenied, "what a link outside leads to")
				for i := range 101 {
					y.file(fmt.Sprintf("large/%d", i), "")
				}
				y.code(both("large", "new2", false), ahp.CodeConflict, "too much")
				if err := syscall.Mkfifo(y.path("tree/pipe"), 0o600); err != nil {
					t.Fatal(err)
				}
				y.code(both("tree", "new2", false), ahp.CodePermissionDenied, "a pipe")
			} else {
				y.code(both("state", "new2", false), ahp.CodePermissionDenied, "what holds the host's own")
				y.code(both("out-link", "new2", false), 0, "a link")
				os.Remove(y.path("new2"))
			}
			y.has("new2", "")
			y.has("f", "\x00F")
			y.has("../out/secret", "secret")
			y.has("../out/new", "")
			y.clean()
		})
	}
}

// TestDeletedRoot: with a root that is gone everything is refused, and it comes back.
func TestDeletedRoot(t *testing.T) {
	y := newYard(t)
	if err := os.RemoveAll(y.root); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	to := resource.TransferParams{Source: y.uri("f"), Destination: y.uri("g")}
	for what, err := range map[string]error{
		"write": y.write("f", "x"), "mkdir": y.Mkdir(y.uri("d")), "delete": y.Delete(ctx, y.uri("f"), true),
		"copy": y.Copy(ctx, to), "move": y.Move(ctx, to),
	} {
		y.code(err, ahp.CodeNotFound, what)
	}
	if err := os.Mkdir(y.root, 0o755); err != nil {
		t.Fatal(err)
	}
	y.code(y.write("f", "x"), 0, "write when it is there again")
}

// FuzzWrite: whatever is written where, the file is what it is by the text of the protocol.
func FuzzWrite(f *testing.F) {
	f.Add("before", "data", uint8(0), int64(3))
	f.Add("", "data", uint8(1), int64(0))
	f.Add("before", "", uint8(2), int64(1<<62))
	f.Fuzz(func(t *testing.T, before, data string, mode uint8, position int64) {
		y := newYard(t)
		y.file("f", before)
		name := []string{resource.Truncate, resource.Append, resource.Insert}[mode%3]
		err := y.write("f", data, at(name, position))
		want := before
		if err == nil {
			from := min(position, int64(len(before)))
			if name == resource.Append {
				from = max(int64(len(before))-position, 0)
			}
			want = before[:from] + data
			if name != resource.Truncate {
				want += before[from:]
			}
		} else if position >= 0 {
			t.Error(err)
		}
		if got, _ := os.ReadFile(y.path("f")); string(got) != want {
			t.Errorf("%s at %d of %q to %q: %q, want %q", name, position, data, before, got, want)
		}
		y.clean()
	})
}
