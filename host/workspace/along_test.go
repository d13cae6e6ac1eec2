package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"tandemux/host/workspace/filetree"
)

// TestCarry: what git ignores and the configuration names is in a new worktree, a copy of
// its own; nothing else is, and none of it is a change.
func TestCarry(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n", ".gitignore": "node_modules/\n.env*\n!.env.example\n*.secret\n", ".env.example": "x\n", "pkg/one/index": "1\n"})
	write(t, repo, map[string]string{
		"node_modules/left/pad.js": "pad\n", "node_modules/bin/run!": "#!\n", "node_modules/.bin/run -> ../bin/run": "", "node_modules/empty/": "",
		"pkg/one/node_modules/x": "x\n", ".env": "SECRET=1\n", "mine": "untracked\n", "my.secret": "not named\n",
	})
	asked := []string{}
	s.options.Carry = func(dir, common string) []string {
		asked = append(asked, dir, common)
		return []string{"node_modules", "node_modules/left", "*/*/node_modules", ".env*", "mine", "a", "nothing", "../*", ".git"}
	}
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	if len(asked) != 2 || asked[0] != repo || asked[1] != filepath.Join(repo, ".git") {
		t.Errorf("asked %q", asked)
	}
	for name, want := range map[string]string{"node_modules/left/pad.js": "pad\n", "node_modules/.bin/run": "#!\n", "pkg/one/node_modules/x": "x\n", ".env": "SECRET=1\n", ".env.example": "x\n"} {
		if got := text(t, w.Dir(), name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"mine", "my.secret"} {
		if _, err := os.Lstat(filepath.Join(w.Dir(), name)); err == nil {
			t.Errorf("%s came along", name)
		}
	}
	if st, err := os.Stat(filepath.Join(w.Dir(), "node_modules/bin/run")); err != nil || st.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", st, err)
	}
	write(t, w.Dir(), map[string]string{"node_modules/left/pad.js": "evil\n"})
	if got := text(t, repo, "node_modules/left/pad.js"); got != "pad\n" {
		t.Errorf("the person's own is %q", got)
	}
	if d := must(w.Diff(background, DiffOptions{}))(t); len(d.Files) != 0 {
		t.Errorf("changes: %+v", d.Files)
	}
	s.options.Carry = func(string, string) []string { return []string{"["} }
	_, err := s.Create(background, "t2", Spec{Kind: Worktree, Dir: repo, Name: "m"})
	wantIs(t, err, filetree.ErrInvalid, `the pattern "["`)
	if got := run(t, repo, "git", "branch", "--list", "tandemux/m"); got != "" {
		t.Errorf("it left %q", got)
	}
}
