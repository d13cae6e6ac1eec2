package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/workspace/filetree"
	"tandemux/internal/smalldisk"
)

// TestFullDisk: on a disk that is full everything fails as such, and nothing is lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if smalldisk.Mount(t, dir, "6m") {
		return
	}
	s := openStore(t, filepath.Join(dir, "state"))
	src := t.TempDir()
	write(t, src, map[string]string{"f": "1", "g": strings.Repeat("x", 1<<20)})
	tree := must(s.NewTree(background, "fs", src))(t)
	w := create(t, s, "a", Spec{Kind: Filesystem, Filesystem: "fs"})
	repo := repository(t, map[string]string{"f": "1\n"})
	gw := create(t, s, "g", Spec{Kind: Worktree, Dir: repo})
	before := must(tree.Summary())(t)
	write(t, w.Dir(), map[string]string{"new": strings.Repeat("y", 1<<20)})
	work := lines(t, w.Dir())
	// Somebody else fills it up.
	smalldisk.Fill(t, filepath.Join(dir, "filler"))
	big := t.TempDir()
	write(t, big, map[string]string{"big": strings.Repeat("z", 3<<20)})
	for what, err := range map[string]error{
		"up": second(w.SyncUp(background, Neither)), "write": second(tree.Write(background, filetree.Write{Path: "h", Body: strings.NewReader(strings.Repeat("z", 2<<20))})),
		"small write": second(tree.Write(background, filetree.Write{Path: "h", Body: strings.NewReader("z")})),
		"create":      second(s.Create(background, "b", Spec{Kind: Copy, Dir: big})), "attach": second(s.Create(background, "c", Spec{Kind: Filesystem, Filesystem: "fs"})),
		"tree": second(s.NewTree(background, "fs2", big)), "worktree": second(s.Create(background, "d", Spec{Kind: Worktree, Dir: repo})),
		"folder": second(w.SystemFolders().Make(".claude")),
	} {
		if !errors.Is(err, filetree.ErrFull) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if after := must(tree.Summary())(t); after != before {
		t.Errorf("the filesystem changed: %+v, was %+v", after, before)
	}
	if got := lines(t, w.Dir()); got != work {
		t.Error("the workspace changed")
	}
	whole(t, tree)
	must(0, os.Remove(filepath.Join(dir, "filler")))(t)
	if up := must(w.SyncUp(background, Neither))(t); fmt.Sprint(up.Changed) != "[new]" {
		t.Errorf("when there is space again: %+v", up)
	}
	if got := run(t, repo, "git", "for-each-ref", "refs/heads"); strings.Count(got, "\n") != 2 {
		t.Errorf("branches: %s", got)
	}
	must(gw.Delete(background, false))(t)
}
