package home

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// TestRepositories: what the configuration says of directories, and what is wrong with it.
func TestRepositories(t *testing.T) {
	for text, want := range map[string]string{
		"[repositories.a]\ndir = \"/src\"\ncheck = \"make \\\"x\\\"\"\ncheck-timeout = 5\nsetup = \"npm ci\"\ncarry = [\"node_modules\", \"*/.env\"]\n": "",
		"[repositories.a]\ncheck = \"make\"\n":                   "has no dir",
		"[repositories.a]\ndir = \"src\"\n":                      "begins with / or ~/",
		"[repositories.a]\ndir = \"/src\"\ncheck = \"\"\n":       "must be a shell's line",
		"[repositories.a]\ndir = \"/src\"\ncheck-timeout = 0\n":  "from 1 to 86400",
		"[repositories.a]\ndir = \"/src\"\nchek = \"make\"\n":    `did you mean "check"?`,
		"[repositories.a]\ndir = \"/src\"\ncarry = [\"../x\"]\n": "patterns of paths in the directory",
		"[repositories.a]\ndir = \"/src\"\ncarry = [\"[\"]\n":    "patterns of paths in the directory",
		"[repositories]\na = 1\n":                                "must be a table",
		"repositories = 1\n":                                     "must be tables",
	} {
		var m map[string]any
		if err := toml.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		var r Repositories
		_, err := r.Set(m["repositories"])
		switch {
		case want == "" && (err != nil || !reflect.DeepEqual(r["a"], Repository{Dir: "/src", Check: `make "x"`, CheckTime: 5 * time.Second, Setup: "npm ci", Carry: []string{"node_modules", "*/.env"}})):
			t.Errorf("%s: %v, %+v", text, err, r)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	t.Setenv("HOME", "/home/x")
	var r Repository
	if err := r.set("dir", "~/src/"); err != nil || r.Dir != "/home/x/src" {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestRepositoryOf: settings are those of the directory, or of a worktree of it, by whatever
// path it was named.
func TestRepositoryOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	app, link := filepath.Join(dir, "app"), filepath.Join(dir, "link")
	for _, err := range []error{os.MkdirAll(filepath.Join(app, ".git"), 0o700), os.Symlink(app, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	all := Repositories{"gone": {Dir: filepath.Join(dir, "gone")}, "it": {Dir: link, Check: "x"}}
	for _, c := range []struct {
		dir, common string
		want        bool
	}{
		{app, "", true},
		{app, filepath.Join(app, ".git"), true},
		{filepath.Join(dir, "worktree"), filepath.Join(app, ".git"), true},
		{dir, "", false},
		{filepath.Join(app, "sub"), "", false},
		{filepath.Join(dir, "other"), filepath.Join(dir, "other", ".git"), false},
	} {
		if got := all.of(c.dir, c.common).Dir != ""; got != c.want {
			t.Errorf("%q, %q: %v", c.dir, c.common, got)
		}
	}
}

// TestTail: of what a check prints the end is kept, by whole lines.
func TestTail(t *testing.T) {
	t.Parallel()
	out := Tail{most: 10}
	for _, line := range []string{"first", "second", "abc", "\xff"} {
		out.Line(line)
	}
	if got := string(out.b); got != "abc\n\uFFFD\n" {
		t.Errorf("%q", got)
	}
	out.Line(strings.Repeat("x", 30))
	if got := string(out.b); got != strings.Repeat("x", 9)+"\n" {
		t.Errorf("%q", got)
	}
}
