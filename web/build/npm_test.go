package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// entry is a file of a tarball.
type entry struct {
	name, text string
	kind       byte
	link       string
}

func tarball(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, e := range entries {
		kind := e.kind
		if kind == 0 {
			kind = tar.TypeReg
		}
		if err := w.WriteHeader(&tar.Header{Name: e.name, Typeflag: kind, Linkname: e.link, Mode: 0o644, Size: int64(len(e.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if w.Close() != nil || z.Close() != nil {
		t.Fatal("no tarball")
	}
	return b.Bytes()
}

// files are those below a folder, and beside it.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestUnpack: what a tarball holds is written below its folder, as plain files, or not at
// all.
func TestUnpack(t *testing.T) {
	plain := entry{name: "package/LICENSE", text: "MIT"}
	for name, c := range map[string]struct {
		entries []entry
		refused bool
		want    string
	}{
		"plain files":      {[]entry{plain, {name: "package/lib/a.js", text: "x"}}, false, "p/LICENSE p/lib/a.js"},
		"another folder":   {[]entry{{name: "other/LICENCE.md", text: "MIT"}}, false, "p/LICENCE.md"},
		"a way up":         {[]entry{plain, {name: "package/../../evil", text: "x"}}, true, "p/LICENSE"},
		"a way up inside":  {[]entry{{name: "package/lib/../../../evil", text: "x"}}, true, ""},
		"an absolute name": {[]entry{{name: "package//etc/evil", text: "x"}}, true, ""},
		"no folder":        {[]entry{{name: "evil", text: "x"}, plain}, false, "p/LICENSE"},
		"links":            {[]entry{plain, {name: "package/l", kind: tar.TypeSymlink, link: "/etc"}, {name: "package/h", kind: tar.TypeLink, link: "package/LICENSE"}}, false, "p/LICENSE"},
		"a device":         {[]entry{plain, {name: "package/null", kind: tar.TypeChar}}, false, "p/LICENSE"},
	} {
		dir := t.TempDir()
		_, err := unpack(tarball(t, c.entries...), filepath.Join(dir, "p"))
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Join(files(t, dir), " "); got != c.want {
			t.Errorf("%s: there are %q, want %q", name, got, c.want)
		}
	}
	for name, text := range map[string][]byte{"nothing": nil, "no gzip": []byte("x"), "cut short": tarball(t, plain)[:20]} {
		if _, err := unpack(text, t.TempDir()); err == nil {
			t.Errorf("%s was unpacked", name)
		}
	}
	// More than it may have, in one file, of which the header is believed before it is read.
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "package/large", Typeflag: tar.TypeReg, Size: maxFiles + 1}); err != nil {
		t.Fatal(err)
	}
	z.Close()
	if _, err := unpack(b.Bytes(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a package that is too large: %v", err)
	}
}

// TestFetch: only what the lock promises is taken, from the registry and from the cache.
func TestFetch(t *testing.T) {
	good := tarball(t, entry{name: "package/LICENSE", text: "MIT"})
	sum := sha512.Sum512(good)
	lock := locked{Name: "@a/b", Version: "1.0.0", Integrity: "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
	give, asked := []byte("something else"), ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		w.Write(give)
	}))
	defer s.Close()
	t.Setenv("NPM_CONFIG_REGISTRY", s.URL)
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	if _, err := fetch(lock); err == nil || !strings.Contains(err.Error(), "not what lock.json promises") {
		t.Errorf("another tarball: %v", err)
	}
	if n := len(files(t, cache)); n != 0 {
		t.Errorf("%d files are kept of what was refused", n)
	}
	give = good
	if got, err := fetch(lock); err != nil || !bytes.Equal(got, good) || asked != "/@a/b/-/b-1.0.0.tgz" {
		t.Errorf("%d bytes of %s, %v", len(got), asked, err)
	}
	// From the cache, and not when that was changed.
	asked = ""
	if _, err := fetch(lock); err != nil || asked != "" {
		t.Errorf("it was fetched again: %s, %v", asked, err)
	}
	kept := filepath.Join(cache, files(t, cache)[0])
	if err := os.WriteFile(kept, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := fetch(lock); err != nil || !bytes.Equal(got, good) || asked == "" {
		t.Errorf("a changed cache: %d bytes, asked %q, %v", len(got), asked, err)
	}
	for _, integrity := range []string{"", "sha512-", "sha512-AAAA", "sha512-!", "sha1-AAAA"} {
		bad := lock
		bad.Integrity = integrity
		if _, err := fetch(bad); err == nil {
			t.Errorf("%q is an integrity", integrity)
		}
	}
	s.Config.Handler = http.NotFoundHandler()
	other := lock
	other.Version = "2.0.0"
	other.Integrity = "sha512-" + base64.StdEncoding.EncodeToString(make([]byte, 64))
	if _, err := fetch(other); err == nil {
		t.Error("a registry that has it not gave it")
	}
}

// TestLock: names that would be paths elsewhere, and packages without a sum, are refused.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.json")
	for text, ok := range map[string]bool{
		`[{"name":"preact","version":"1","integrity":"sha512-AA"}]`:      true,
		`[{"name":"@xterm/xterm","version":"1","integrity":"sha512-A"}]`: true,
		`[{"name":"../x","version":"1","integrity":"sha512-AA"}]`:        false,
		`[{"name":"a/../b","version":"1","integrity":"sha512-AA"}]`:      false,
		`[{"name":"/etc","version":"1","integrity":"sha512-AA"}]`:        false,
		`[{"name":"a","version":"1","integrity":"sha1-AA"}]`:             false,
		`[{"name":"a","version":"1"}]`:                                   false,
		`{`:                                                              false,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readLock(path); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	if all, err := readLock("lock.json"); err != nil || len(all) == 0 {
		t.Errorf("ours: %d packages, %v", len(all), err)
	}
}
