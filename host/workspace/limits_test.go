package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tandemux/host/workspace/filetree"
	"tandemux/internal/soak"
)

// TestLargeSparseFile: a large file with holes keeps its holes on every way; in
// a soak it has a gigabyte.
func TestLargeSparseFile(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	src := t.TempDir()
	size := int64(soak.Size(t, 40<<20, 1<<30))
	f := must(os.Create(filepath.Join(src, "large")))(t)
	must(0, f.Truncate(size))(t)
	for _, at := range []int64{0, size / 3, size - 5} {
		must(f.WriteAt([]byte("data!"), at))(t)
	}
	must(0, f.Close())(t)
	if used(t, filepath.Join(src, "large")) > 1<<20 {
		t.Skip("no holes on this file system")
	}
	w := create(t, s, "a", Spec{Kind: Copy, Dir: src})
	out := filepath.Join(t.TempDir(), "out")
	must(pull(everything(w), out, false))(t)
	for _, p := range []string{filepath.Join(w.Dir(), "large"), filepath.Join(out, "workspace", "large")} {
		if got := used(t, p); got > 1<<20 {
			t.Errorf("%s takes %d bytes", p, got)
		}
		f := must(os.Open(p))(t)
		b := make([]byte, 5)
		for _, at := range []int64{0, size / 3, size - 5} {
			if must(f.ReadAt(b, at))(t); string(b) != "data!" {
				t.Errorf("%s has %q at %d", p, b, at)
			}
		}
		must(0, f.Close())(t)
	}
	if d := must(w.Diff(background, DiffOptions{}))(t); len(d.Files) != 0 {
		t.Errorf("diff %+v", d)
	}
}

func used(t testing.TB, path string) int64 {
	t.Helper()
	var st syscall.Stat_t
	must(0, syscall.Stat(path, &st))(t)
	return st.Blocks * 512
}

// TestLimits: what is more than a tree may have is refused as a whole.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.Limits = filetree.Limits{Files: 10, Bytes: 1000, FileSize: 600}
	for name, files := range map[string]map[string]string{
		"bytes": {"a": strings.Repeat("x", 550), "b": strings.Repeat("y", 550)}, "file": {"a": strings.Repeat("x", 601)},
		"files": {"1": "", "2": "", "3": "", "4": "", "5": "", "6": "", "7": "", "8": "", "9": "", "10": "", "11": ""},
	} {
		src := t.TempDir()
		write(t, src, files)
		_, err := s.Create(background, "a", Spec{Kind: Copy, Dir: src})
		if !errors.Is(err, filetree.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	deep := t.TempDir()
	write(t, deep, map[string]string{strings.Repeat("d/", 210) + "x": ""})
	s.Limits.Files = 1000
	_, err := s.Create(background, "a", Spec{Kind: Copy, Dir: deep})
	wantIs(t, err, filetree.ErrTooLarge, "deeper")
	if list := must(os.ReadDir(filepath.Join(s.options.State, "filesystems")))(t); len(list) != 0 {
		t.Errorf("left %v", list)
	}
}

// TestDamage: contents and manifests that are not what they were are said to be.
func TestDamage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	packs := filepath.Join(f.options.State, "filesystems", "fs", "packs")
	for _, e := range must(os.ReadDir(packs))(t) {
		p := filepath.Join(packs, e.Name())
		b := must(os.ReadFile(p))(t)
		for i := range b {
			b[i] ^= 0x55
		}
		must(0, os.WriteFile(p, b, 0o600))(t)
	}
	_, r, err := f.tree.Read("a.txt")
	must(0, err)(t)
	_, err = r.Read(make([]byte, 100))
	for err == nil {
		_, err = r.Read(make([]byte, 100))
	}
	wantIs(t, err, filetree.ErrDamaged, "a.txt")
	must(0, r.Close())(t)
	_, err = f.Create(background, "b", Spec{Kind: Filesystem, Filesystem: "fs"})
	wantIs(t, err, filetree.ErrDamaged, "damaged")
	m := filepath.Join(f.options.State, "filesystems", "fs", "manifest")
	b := must(os.ReadFile(m))(t)
	b[len(b)/2] ^= 1
	must(0, os.WriteFile(m, b, 0o600))(t)
	_, err = f.tree.Manifest()
	wantIs(t, err, filetree.ErrDamaged, "nothing of it was changed")
	// A base that is damaged costs time, and loses nothing.
	must(0, os.WriteFile(f.work.path(baseName), []byte("x"), 0o600))(t)
	if got := f.work.loadBase(); len(got.Entries) != 0 {
		t.Errorf("base %v", got)
	}
}
