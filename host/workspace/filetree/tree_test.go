package filetree

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzPath: a path that is taken leads inside, and is its own clean form.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"a", "../a", "a/../b", "/", "", "a//b", "a/.", "a/..", "..", "a\x00", ".git/x", "a/b/c", "\xff"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if CheckPath(p) != nil {
			return
		}
		at := filepath.Join("/top", p)
		if !strings.HasPrefix(at, "/top/") || at != "/top/"+p || !filepath.IsLocal(p) {
			t.Errorf("%q leads to %q", p, at)
		}
		dir, name := Parent(p)
		if name == "" || filepath.Join(dir, name) != p || !Under(p, dir) {
			t.Errorf("%q is %q in %q", p, name, dir)
		}
		if got := archivePath("./" + p + "/"); got != p && !strings.HasPrefix(p, "./") {
			t.Errorf("in an archive %q is %q", p, got)
		}
	})
}

// FuzzManifest: bytes that are no manifest are an error, and what is one comes out as
// it went in.
func FuzzManifest(f *testing.F) {
	m := NewManifest([]Entry{{Path: "a", Size: 1}, {Path: "b\xff", Mode: 0o644}})
	f.Add((&Sheet{Manifest: m, answers: []answer{{Key: "k"}}}).Encode())
	m.Entries[0].Stamp.mode = 1
	f.Add((&Sheet{Manifest: m, Local: true, Pending: []Change{{Path: "a"}, {"b", &m.Entries[1], nil}}}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		// With a checksum that fits, as whoever can write the file could make it.
		for _, b := range [][]byte{b, resum(b)} {
			m, err := DecodeSheet(b)
			if err != nil {
				continue
			}
			again, err := DecodeSheet(m.Encode())
			if err != nil || len(again.Entries) != len(m.Entries) || again.version != m.version || !slices.Equal(again.Entries, m.Entries) || len(again.Pending) != len(m.Pending) {
				t.Errorf("%v", err)
			}
		}
	})
}

func resum(b []byte) []byte {
	if len(b) < 4 {
		return b
	}
	body := bytes.Clone(b[:len(b)-4])
	return binary.BigEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
}

// TestFormer: a filesystem that a build of the former name made is read, also when
// something else of it has changed.
func TestFormer(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "fs"), os.DirFS("testdata/former")); err != nil {
		t.Fatal(err)
	}
	tree, err := NewTrees(dir, Limits{}).Tree("fs")
	if err != nil {
		t.Fatal(err)
	}
	now, err := tree.Summary()
	if err != nil || now != (Summary{"13c50623651048893ab2205bca0acd2afa3cc404df68279c1988c63474ee58ff", 8, 23}) {
		t.Fatalf("%+v, %v", now, err)
	}
	check := func() {
		t.Helper()
		for path, want := range map[string]string{"a.txt": "one\n", "dir/b": "two\n", "link": "a.txt", "\xff": "odd\n", "none": "", "later": "later\n"} {
			e, r, err := tree.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil || string(text) != want || int64(len(want)) != e.Size {
				t.Errorf("%q is %q, %v", path, text, err)
			}
			_ = r.Close()
		}
	}
	check()
	if err := tree.Pin("task"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second removes what the first made needless
		if _, err := tree.Write(t.Context(), Write{Path: "new", Body: strings.NewReader("new\n")}); err != nil {
			t.Fatal(err)
		}
	}
	check()
	v, err := tree.ViewOf(PinName("task"))
	if err != nil {
		t.Fatal(err)
	}
	v.Close()
	if e, ok := v.Find("link"); !ok || e.Target != "a.txt" {
		t.Errorf("pinned: %+v", e)
	}
}

// A symlink that a file has replaced since it was seen has vanished.
func TestLinkThatIsAFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.readlink("a"); !Absent(err) {
		t.Error(err)
	}
}
