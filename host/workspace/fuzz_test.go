package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzArchive: whatever an archive is, what comes of it stays where it belongs, and
// both readers of archives agree on what they refuse.
func FuzzArchive(f *testing.F) {
	for _, headers := range badArchives {
		f.Add(tarOf(f, headers...))
	}
	f.Add(tarOf(f, reg("a"), reg("d/b"), sym("s", ".."), lnk("h", "a")))
	f.Add([]byte("\x28\xb5\x2f\xfd"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	s, err := Open(Options{State: filepath.Join(f.TempDir(), "state"), Limits: Limits{Files: 1000, Bytes: 1 << 20, FileSize: 1 << 20}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	tree := must(s.NewTree(background, "fs", ""))(f)
	out, _ := outsider(f)
	before := lines(f, out)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		home := t.TempDir()
		in := filepath.Join(home, "in")
		mkdirs(t, in)
		mkdirs(t, filepath.Join(in, "d"))
		write(t, in, map[string]string{"s -> " + out: "", "keep": "x"})
		_, stored := tree.ReadArchive(background, bytes.NewReader(b), "")
		_, fresh := Unpack(background, bytes.NewReader(b), filepath.Join(home, "new"), PullOptions{})
		_, _ = Unpack(background, bytes.NewReader(b), in, PullOptions{Overwrite: true})
		if lines(t, out) != before {
			t.Error("what is outside was changed")
		}
		for _, e := range must(os.ReadDir(home))(t) {
			if e.Name() != "in" && e.Name() != "new" {
				t.Errorf("left %s", e.Name())
			}
		}
		if errors.Is(stored, ErrTooLarge) || errors.Is(fresh, ErrTooLarge) {
			return
		}
		// In a directory a file takes the place of an earlier one, and git's own files
		// are left out; in a filesystem neither is a matter. Else they agree.
		if stored != nil && fresh == nil && !strings.Contains(stored.Error(), "no directory") && !bytes.Contains(b, []byte("git")) {
			t.Errorf("unpacked though it can't be stored: %v", stored)
		}
		if stored != nil && !errors.Is(stored, ErrInvalid) {
			t.Errorf("error %v", stored)
		}
		if stored == nil {
			m := must(tree.Manifest())(t)
			for i := range m.entries {
				if err := checkPath(m.entries[i].Path); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// FuzzPath: a path that is taken leads inside, and is its own clean form.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"a", "../a", "a/../b", "/", "", "a//b", "a/.", "a/..", "..", "a\x00", ".git/x", "a/b/c", "\xff"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if checkPath(p) != nil {
			return
		}
		at := filepath.Join("/top", p)
		if !strings.HasPrefix(at, "/top/") || at != "/top/"+p || !filepath.IsLocal(p) {
			t.Errorf("%q leads to %q", p, at)
		}
		dir, name := parent(p)
		if name == "" || filepath.Join(dir, name) != p || !under(p, dir) {
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
	m := newManifest([]Entry{{Path: "a", Size: 1}, {Path: "b\xff", Mode: 0o644}})
	f.Add((&sheet{Manifest: m, answers: []answer{{Key: "k"}}}).encode())
	f.Add((&sheet{Manifest: m, index: index{"a": {stamp: stamp{mode: 1}}}, pending: []change{{path: "a"}, {"b", &m.entries[1], nil}}}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		// With a checksum that fits, as whoever can write the file could make it.
		for _, b := range [][]byte{b, resum(b)} {
			m, err := decodeSheet(b)
			if err != nil {
				continue
			}
			again, err := decodeSheet(m.encode())
			if err != nil || len(again.entries) != len(m.entries) || again.version != m.version || len(again.index) != len(m.index) || len(again.pending) != len(m.pending) {
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
