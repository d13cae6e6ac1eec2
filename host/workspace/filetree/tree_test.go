package filetree

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"path/filepath"
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
	f.Add((&Sheet{Manifest: m, Index: Index{"a": {stamp: Stamp{mode: 1}}}, Pending: []Change{{Path: "a"}, {"b", &m.Entries[1], nil}}}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		// With a checksum that fits, as whoever can write the file could make it.
		for _, b := range [][]byte{b, resum(b)} {
			m, err := DecodeSheet(b)
			if err != nil {
				continue
			}
			again, err := DecodeSheet(m.Encode())
			if err != nil || len(again.Entries) != len(m.Entries) || again.version != m.version || len(again.Index) != len(m.Index) || len(again.Pending) != len(m.Pending) {
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
