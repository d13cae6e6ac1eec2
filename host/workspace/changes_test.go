package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/workspace/filetree"
)

// TestChanges: a worktree's changes are committed and brought home, and a conflict
// changes nothing there.
func TestChanges(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n", "b": "1\n"})
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	for _, dir := range []string{repo, filepath.Dir(w.Dir()), filepath.Join(w.Dir(), "x"), w.Dir() + "/../../t1/workspace", ""} {
		if c := s.ChangesAt(dir); c != nil {
			t.Errorf("%q is a workspace at %s", dir, c.Top())
		}
	}
	copied := create(t, s, "t2", Spec{Kind: Copy, Dir: repo})
	if s.ChangesAt(copied.Dir()) != nil {
		t.Error("a copy has changes as worktrees do")
	}
	c := s.ChangesAt(w.Dir())
	if c == nil || c.Top() != w.Dir() {
		t.Fatalf("%+v at %s", c, w.Dir())
	}
	write(t, w.Dir(), map[string]string{"a": "2\n", "n": "new\n"})
	files := must(c.Diff(background))(t)
	if len(files) != 2 || files[0].Path != "a" || files[0].Old.ID == "" || files[1].Old.ID != "" {
		t.Fatalf("differences %+v", files)
	}
	if got := string(must(c.Blob(background, files[0].Old.ID, 10))(t)); got != "1\n" {
		t.Errorf("it was %q", got)
	}
	if _, err := c.Blob(background, files[0].Old.ID, 1); !errors.Is(err, filetree.ErrTooLarge) {
		t.Errorf("more than may be: %v", err)
	}
	tip := must(c.Commit(background, "some work"))(t)
	if got := run(t, repo, "git", "log", "-1", "--format=%H %s", "tandemux/n"); strings.TrimSpace(got) != tip+" some work" {
		t.Errorf("the branch is at %q, want %s", got, tip)
	}
	write(t, repo, map[string]string{"a": "other\n"})
	run(t, repo, "git", "commit", "-qam", "other")
	_, err := c.Merge(background, "m")
	wantIs(t, err, filetree.ErrConflict, `changed "a"`)
	if got := string(must(os.ReadFile(filepath.Join(repo, "a")))(t)); got != "other\n" {
		t.Errorf("at home it is %q", got)
	}
	write(t, w.Dir(), map[string]string{"a": "1\n"})
	into := must(c.Merge(context.Background(), "m"))(t)
	if got := string(must(os.ReadFile(filepath.Join(repo, "n")))(t)); into == "" || got != "new\n" {
		t.Errorf("merged into %q, n is %q", into, got)
	}
}
