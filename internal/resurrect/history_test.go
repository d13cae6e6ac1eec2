package resurrect

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
)

func names(t *testing.T, dir string) string {
	t.Helper()
	all, err := Histories(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, h := range all {
		list = append(list, h.Name)
	}
	return strings.Join(list, " ")
}

// TestHistory: a terminal's text is for this user's eyes only, is read with a line
// that says when, and goes when it is forgotten or its terminal does.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
	const a, odd = "ahp-terminal:/a", "Other:/../../x"
	if text, err := readHistory(dir, a); text != "" || err != nil {
		t.Errorf("nothing kept: %q, %v", text, err)
	}
	for _, uri := range []ahp.URI{a, odd} {
		for _, text := range []string{"old\n", "of " + uri + "\nlast\n\n"} {
			if err := writeHistory(dir, uri, text, 1<<20); err != nil {
				t.Fatal(err)
			}
		}
	}
	for path, want := range map[string]os.FileMode{historyDir: 0o700, historyDir + "/a": 0o600, historyDir + "/" + historyName(odd): 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	when := time.Date(2026, 11, 21, 2, 40, 0, 0, time.Local)
	if err := os.Chtimes(filepath.Join(dir, historyDir, "a"), when, when); err != nil {
		t.Fatal(err)
	}
	if text, err := readHistory(dir, a); err != nil || text != "of ahp-terminal:/a\nlast\n── until 2026-11-21 02:40 ──\n" {
		t.Errorf("read %q, %v", text, err)
	}
	left := filepath.Join(dir, historyDir, "a.1"+tempSuffix)
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := keepOnly(dir, map[ahp.URI]bool{odd: true}); err != nil || names(t, dir) != historyName(odd) {
		t.Errorf("%q is kept, %v", names(t, dir), err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was begun is left: %v", err)
	}
	if err := ForgetHistory(dir, historyName(odd)); err != nil || names(t, dir) != "" {
		t.Errorf("%q is kept, %v", names(t, dir), err)
	}
}

// TestHistoryLimit: beyond the limit the oldest go, and a text is cut at its front.
func TestHistoryLimit(t *testing.T) {
	dir := t.TempDir()
	for i, uri := range []ahp.URI{"ahp-terminal:/a", "ahp-terminal:/b", "ahp-terminal:/c"} {
		if err := writeHistory(dir, uri, strings.Repeat("x", 400), 1000); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(filepath.Join(dir, historyDir, historyName(uri)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, dir); got != "c b" {
		t.Errorf("%q is kept", got)
	}
}

// TestHistoryNames: a file's name leads nowhere else, whatever a URI is.
func TestHistoryNames(t *testing.T) {
	safe := regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$`)
	seen := map[string]ahp.URI{}
	for _, uri := range []ahp.URI{
		"", "ahp-terminal:/a", "ahp-terminal:/A/a", "ahp-terminal:/..", "x:/a", "ahp-terminal:/" + strings.Repeat("a", 300),
		"ahp-terminal:/a.1" + tempSuffix, "ahp-terminal:/uri.0",
	} {
		name := historyName(uri)
		if !safe.MatchString(name) || strings.HasSuffix(name, tempSuffix) || seen[name] != "" {
			t.Errorf("%q has the file %q, like %q", uri, name, seen[name])
		}
		seen[name] = uri
	}
}

// TestPast: nothing is written before it is asked for nor after Stop; turned off,
// what was kept goes. Of a disk that takes nothing one failure is told, and that
// it is over.
func TestPast(t *testing.T) {
	dir := t.TempDir()
	var told []error
	k := New(dir, func(about string, err error) {
		if about != aboutHistory {
			t.Errorf("told about %q", about)
		}
		told = append(told, err)
	})
	const uri = "ahp-terminal:/a"
	put := func() bool {
		wrote, err := k.put(uri, "text")
		if wrote || err != nil {
			k.tell(err)
		}
		return wrote
	}
	if put() || names(t, dir) != "" {
		t.Errorf("%q was written unasked", names(t, dir))
	}
	k.SetHistory(HistoryOptions{On: true, Limit: 1 << 20})
	if !put() || names(t, dir) != "a" {
		t.Errorf("%q was written", names(t, dir))
	}
	k.SetHistory(HistoryOptions{})
	if _, err := os.Stat(filepath.Join(dir, historyDir)); !errors.Is(err, os.ErrNotExist) || put() {
		t.Errorf("turned off: %v", err)
	}
	k.SetHistory(HistoryOptions{On: true, Limit: 1 << 20})
	if err := os.WriteFile(filepath.Join(dir, historyDir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	put()
	put()
	if len(told) != 1 || told[0] == nil {
		t.Errorf("told %v", told)
	}
	if err := os.Remove(filepath.Join(dir, historyDir)); err != nil {
		t.Fatal(err)
	}
	if !put() || len(told) != 2 || told[1] != nil {
		t.Errorf("told %v", told)
	}
	k.Stop()
	k.SetHistory(HistoryOptions{})
	if put() || names(t, dir) != "a" {
		t.Errorf("after Stop %q is kept", names(t, dir))
	}
}
