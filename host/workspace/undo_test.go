package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/workspace/filetree"
	"tandemux/internal/soak"
)

// changed gives a task's worktree with changes of all kinds, some of them committed, and
// what it was before.
func changed(t *testing.T) (repo string, c *Changes, before string) {
	t.Helper()
	repo = repository(t, map[string]string{"a": "1\n", "dir/gone": "1\n", "mode": "1\n", "link": "1\n", "old": "some lines\nthat are\nmoved\n", "same": "1\n", ".gitignore": "ignored\n"})
	s := newStore(t)
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	c, dir := s.ChangesAt(w.Dir()), w.Dir()
	before = lines(t, dir)
	write(t, dir, map[string]string{"a": "2\n", "new/n": "new\n"})
	run(t, dir, "git", "add", "-A")
	run(t, dir, "git", "commit", "-qm", "the agent's")
	write(t, dir, map[string]string{"a": "3\n"})
	run(t, dir, "sh", "-c", "rm -r dir link; ln -s /etc/passwd link; chmod +x mode; mv old moved")
	return repo, c, before
}

// TestUndo: files are what they were where the worktree began, committed or not, what they
// had is kept, and what is undone does not come home.
func TestUndo(t *testing.T) {
	t.Parallel()
	repo, c, before := changed(t)
	tip := run(t, repo, "git", "rev-parse", "tandemux/n")
	files := must(c.Diff(background))(t)
	if len(files) != 6 {
		t.Fatalf("%+v", files)
	}
	u := must(c.Undo(background, files))(t)
	if got := lines(t, c.Top()); got != before {
		t.Errorf("undone:\n%s\nwant\n%s", got, before)
	}
	if left := must(c.Diff(background))(t); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
	if now := run(t, repo, "git", "rev-parse", "tandemux/n"); now != tip {
		t.Errorf("the branch went from %s to %s", tip, now)
	}
	if got := run(t, repo, "git", "show", u.Ref()+":a", u.Ref()+":new/n"); got != "3\nnew\n" {
		t.Errorf("kept: %q", got)
	}
	run(t, c.Top(), "git", "restore", "--source="+u.Ref(), ".")
	only := files[:1]
	must(c.Undo(background, only))(t)
	if got := string(must(os.ReadFile(filepath.Join(c.Top(), only[0].Path)))(t)); only[0].Path != "a" || got != "1\n" {
		t.Errorf("%s is %q", only[0].Path, got)
	}
	must(c.Merge(background, "m"))(t)
	if a, n := must(os.ReadFile(filepath.Join(repo, "a")))(t), must(os.ReadFile(filepath.Join(repo, "new/n")))(t); string(a) != "1\n" || string(n) != "new\n" {
		t.Errorf("at home: a %q, new/n %q", a, n)
	}
}

// TestRefusedUndo: what was written since, or leads elsewhere, is left as it is, and so
// is all else.
func TestRefusedUndo(t *testing.T) {
	soak.Long(t, "each way to refuse")
	t.Parallel()
	outside := t.TempDir()
	write(t, outside, map[string]string{"gone": "outside\n", "n": "new\n"})
	for name, c := range map[string]struct{ script, says string }{
		"written":            {"echo 4 > a", `"a" has changed`},
		"removed":            {"rm a", `"a" is not what it was`},
		"back":               {"mkdir dir; echo 1 > dir/gone", `"dir/gone" is not what it was`},
		"a link above":       {"ln -s '" + outside + "' dir", `"dir" is in the way`},
		"a link where it is": {"rm -r new; ln -s '" + outside + "' new", `"new/n" is not what it was`},
		"a file above":       {"echo x > dir", `"dir" is in the way`},
		"a FIFO":             {"rm a; mkfifo a", `"a" has changed`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, w, _ := changed(t)
			files := must(w.Diff(background))(t)
			run(t, w.Top(), "sh", "-c", c.script)
			list := func() string { return lines(t, w.Top()) + run(t, repo, "git", "for-each-ref") }
			was, there := list(), lines(t, outside)
			_, err := w.Undo(background, files)
			if !errors.Is(err, filetree.ErrConflict) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %s", err, c.says)
			}
			if now := list(); now != was {
				t.Errorf("it is\n%s\nand was\n%s", now, was)
			}
			if now := lines(t, outside); now != there {
				t.Errorf("outside is %s, and was %s", now, there)
			}
		})
	}
}

// TestUndoUnderSandbox: what an agent has committed in a sandbox's git directory is taken,
// kept and undone, too.
func TestUndoUnderSandbox(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n"})
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	must(w.Mounts(background))(t)
	private := w.path(gitName)
	if err := os.WriteFile(filepath.Join(private, "objects/info/alternates"), []byte(filepath.Join(repo, ".git/objects")+"\n"), 0o600); err != nil {
		t.Fatal(err) // as the sandbox would see it
	}
	write(t, w.Dir(), map[string]string{"a": "2\n"})
	run(t, w.Dir(), "git", "--git-dir="+private, "--work-tree="+w.Dir(), "commit", "-qam", "in the sandbox")
	c := s.ChangesAt(w.Dir())
	u := must(c.Undo(background, must(c.Diff(background))(t)))(t)
	if got := string(must(os.ReadFile(filepath.Join(w.Dir(), "a")))(t)); got != "1\n" {
		t.Errorf("a is %q", got)
	}
	if got := run(t, repo, "git", "log", "--format=%s", u.Ref()); !strings.HasPrefix(got, "in the sandbox\n") && !strings.HasPrefix(got, "What was undone\nin the sandbox\n") {
		t.Errorf("kept:\n%s", got)
	}
}
