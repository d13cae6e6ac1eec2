package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tree makes /base/a/b with a file, and beside it /base/a/bc with a secret.
func tree(t *testing.T) (base string, r *Roots) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"a/b/sub", "a/bc", "second"} {
		if err := os.MkdirAll(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"a/b/file": "one\ntwo\nthree\n", "a/bc/secret": "secret\n", "second/file": "2\n"} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"a/b/out": base + "/a/bc", "a/b/in": base + "/a/b/sub", "a/b/over": base + "/second", "a/b/secret": base + "/a/bc/secret",
		"a/b/dangling": base + "/a/bc/new", "entry": base + "/a/b",
	} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	r, err = NewRoots([]string{base + "/entry", base + "/second"})
	if err != nil {
		t.Fatal(err)
	}
	return base, r
}

// Working directories are confined by what they are, not by how they begin
// (P15).
func TestDirConfinement(t *testing.T) {
	base, r := tree(t)
	for _, c := range []struct{ path, want string }{
		{"", "/a/b"},
		{"/a/b", "/a/b"},
		{"/entry/sub", "/a/b/sub"},
		{"/a/b/in", "/a/b/sub"},
		{"/a/b/over", "/second"},
		{"/a/b/../b/sub", "/a/b/sub"},
		{"/a/bc", "Access denied: working directory outside allowed path"},
		{"/a", "Access denied: working directory outside allowed path"},
		{"/a/b/out", "Access denied: working directory outside allowed path"},
		{"/a/b/../bc", "Access denied: working directory outside allowed path"},
		{"/a/b/sub/../../bc", "Access denied: working directory outside allowed path"},
		{"/nowhere", "Access denied: working directory outside allowed path"},
	} {
		path := base + c.path
		if c.path == "" {
			path = ""
		}
		got, err := r.Dir(path)
		if err != nil {
			got = err.Error()
		} else {
			got = strings.TrimPrefix(got, base)
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.path, got, c.want)
		}
	}
	for _, path := range []string{"a/b", ".", base + "/a/b/none", base + "/a/b/file", base + "/a/b\x00"} {
		if dir, err := r.Dir(path); err == nil {
			t.Errorf("%q is the directory %q", path, dir)
		}
	}
}

func TestReadConfinement(t *testing.T) {
	base, r := tree(t)
	ctx := context.Background()
	for _, c := range []struct {
		path        string
		line, limit int
		want        string
	}{
		{"/a/b/file", 0, 0, "one\ntwo\nthree\n"},
		{"/entry/file", 1, 1, "one\n"},
		{"/a/b/file", 2, 0, "two\nthree\n"},
		{"/a/b/file", 2, 1, "two\n"},
		{"/a/b/file", 9, 1, ""},
		{"/a/b/over/file", 0, 0, "2\n"},
	} {
		if got, err := r.Read(ctx, base+c.path, c.line, c.limit); err != nil || got != c.want {
			t.Errorf("%s from %d, %d lines: %q, %v; want %q", c.path, c.line, c.limit, got, err, c.want)
		}
	}
	for _, path := range []string{"/a/bc/secret", "/a/b/secret", "/a/b/out/secret", "/a/b/../bc/secret", "/a/b/out/none"} {
		if got, err := r.Read(ctx, base+path, 0, 0); !errors.Is(err, error(ErrFileOutside)) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
		if err := r.Write(ctx, base+path, "x"); !errors.Is(err, error(ErrFileOutside)) {
			t.Errorf("write %s: %v", path, err)
		}
	}
	if _, err := r.Read(ctx, base+"/a/b/none", 0, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := r.Write(ctx, base+"/a/b/dangling", "x"); err == nil {
		t.Error("a link that leads out was written through")
	}
	if _, err := os.Stat(base + "/a/bc/new"); err == nil {
		t.Error("a file was made outside")
	}
}

// What is no text file is refused at once, a pipe too.
func TestReadOddFiles(t *testing.T) {
	base, r := tree(t)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := syscall.Mkfifo(base+"/a/b/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(base+"/a/b/binary", []byte{0xff, 0xfe, 0}, 0o600)
	os.WriteFile(base+"/a/b/huge", []byte(strings.Repeat("line\n", maxFile/5+1)), 0o600)
	for _, name := range []string{"pipe", "binary", "huge", "sub"} {
		var refused *Refusal
		if _, err := r.Read(ctx, base+"/a/b/"+name, 0, 0); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := r.Read(ctx, base+"/a/b/huge", 2_000_000, 2); err != nil || got != "line\nline\n" {
		t.Errorf("a part of a huge file: %q, %v", got, err)
	}
	if err := r.Write(ctx, base+"/a/b/pipe", "x"); err == nil {
		t.Error("a pipe was written")
	}
}

func TestWrite(t *testing.T) {
	base, r := tree(t)
	ctx := context.Background()
	for _, path := range []string{"/a/b/file", "/a/b/new", "/a/b/x/y/z", "/a/b/in/file"} {
		if err := r.Write(ctx, base+path, "written"); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if b, err := os.ReadFile(base + path); string(b) != "written" {
			t.Errorf("%s holds %q, %v", path, b, err)
		}
	}
	if info, _ := os.Stat(base + "/a/b/file"); info.Mode().Perm() != 0o640 {
		t.Errorf("the mode has become %v", info.Mode())
	}
	left, _ := filepath.Glob(base + "/a/b/.*")
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := r.Write(ctx, base+"/a/b/file", strings.Repeat("x", maxFile+1)); err == nil {
		t.Error("a file that is too large was written")
	}
}
