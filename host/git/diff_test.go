package git

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDiffLeavesFiles: trees are compared by their objects, and no file of the work tree
// is read for one, as the index would have it: somebody may be writing to it.
func TestDiffLeavesFiles(t *testing.T) {
	dir, _, _ := repository(t)
	g, path := Git{Dir: dir}, filepath.Join(dir, "a")
	run := func(args ...string) string {
		t.Helper()
		out, err := g.Line(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	write := func(text string) {
		t.Helper()
		then := time.Unix(1_000_000_000, 0)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	// What is written last looks to git like what was staged.
	run("config", "core.trustctime", "false")
	write("one\ntwo\n")
	run("add", "a")
	tree := run("write-tree")
	write("one two\n")

	files, err := g.Diff(t.Context(), "main", tree, nil)
	if err != nil || len(files) != 1 || files[0].Added != 2 {
		t.Errorf("%+v, %v: want one file with two lines", files, err)
	}
}
