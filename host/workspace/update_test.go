package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/workspace/filetree"
	"tandemux/internal/soak"
)

// behind gives a task with work, some of it committed, and a branch main that went on.
func behind(t *testing.T, task, home map[string]string) (repo string, w *Workspace) {
	t.Helper()
	repo = repository(t, map[string]string{"a": "1\n2\n3\n4\n5\n", "b": "b\n", "gone": "x\n", "dir/c": "c\n", ".gitignore": "*.log\n"})
	w = create(t, newStore(t), "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	write(t, w.Dir(), map[string]string{"own": "own\n"})
	run(t, w.Dir(), "git", "add", "-A")
	run(t, w.Dir(), "git", "commit", "-qm", "the agent's")
	write(t, w.Dir(), task)
	for name, text := range home {
		write(t, repo, map[string]string{name: text})
		run(t, repo, "git", "add", "-A")
		run(t, repo, "git", "commit", "-qm", "home "+name)
	}
	return repo, w
}

func text(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(b)
}

// TestUpdate: what is new in the branch that a task was made from comes into its branch
// and files, its own work stays, and its sandbox sees the commits.
func TestUpdate(t *testing.T) {
	t.Parallel()
	repo, w := behind(t, map[string]string{"a": "1\n2\n3\n4\nfive\n", "x.log": "ignored\n"}, map[string]string{"a": "one\n2\n3\n4\n5\n", "dir/new!": "new\n"})
	must(w.Mounts(background))(t)
	run(t, repo, "git", "rm", "-q", "gone")
	run(t, repo, "git", "commit", "-qm", "home gone")
	home := strings.TrimSpace(run(t, repo, "git", "rev-parse", "main"))
	status := run(t, repo, "git", "status", "--porcelain=v2")
	u := must(w.Update(background, UpdateOptions{}))(t)
	if u.From != "main" || u.Commits != 3 || len(u.Conflicts) != 0 {
		t.Errorf("updated %+v", u)
	}
	for name, want := range map[string]string{"a": "one\n2\n3\n4\nfive\n", "own": "own\n", "dir/new": "new\n", "x.log": "ignored\n"} {
		if got := text(t, w.Dir(), name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if _, err := os.Lstat(filepath.Join(w.Dir(), "gone")); err == nil {
		t.Error("what was removed at home is still there")
	}
	if got := run(t, repo, "git", "rev-parse", "tandemux/n"); strings.TrimSpace(got) != u.Commit {
		t.Errorf("the branch is at %s, not %s", got, u.Commit)
	}
	merges := run(t, repo, "git", "rev-list", "--merges", "--count", "main..tandemux/n")
	if merges != "1\n" {
		t.Errorf("%s merges", merges)
	}
	if got := run(t, repo, "git", "status", "--porcelain=v2") + run(t, repo, "git", "rev-parse", "main"); got != status+home+"\n" {
		t.Errorf("the user's own: %s", got)
	}
	d := must(w.Diff(background, DiffOptions{}))(t)
	if d.Base != home || len(d.Files) != 2 {
		t.Errorf("the task's own changes: %+v", d)
	}
	if got := inSandbox(t, w, "git status --porcelain; git rev-parse main; git log --format=%s -1 main; echo more >>own; git commit -qam more"); got != home+"\nhome gone\n" {
		t.Errorf("in the sandbox:\n%s", got)
	}
	if u := must(w.Update(background, UpdateOptions{}))(t); u.Commits != 0 {
		t.Errorf("again: %+v", u)
	}
	m := must(w.Merge(background, MergeOptions{}))(t)
	if len(m.Files) != 2 || m.Behind != 0 || text(t, repo, "own") != "own\nmore\n" || text(t, repo, "a") != "one\n2\n3\n4\nfive\n" {
		t.Errorf("merged %+v", m)
	}
	// main's own line goes on: what the task merged is no part of it.
	if got := strings.TrimSpace(run(t, repo, "git", "rev-list", "--first-parent", "main")); !strings.Contains(got, home) {
		t.Errorf("main's first parents:\n%s", got)
	}
	if u := must(w.Update(background, UpdateOptions{}))(t); u.Commits != 0 {
		t.Errorf("after the merge: %+v", u)
	}
}

// TestUpdateConflicts: where both sides changed the same nothing is changed, unless it is
// said that conflicts are left; then they are as git leaves them, and the agent's commit
// joins both.
func TestUpdateConflicts(t *testing.T) {
	t.Parallel()
	repo, w := behind(t, map[string]string{"a": "task\n2\n3\n4\n5\n"}, map[string]string{"a": "home\n2\n3\n4\n5\n", "new": "new\n"})
	must(w.Mounts(background))(t)
	before, tip := lines(t, w.Dir()), run(t, repo, "git", "rev-parse", "tandemux/n")
	_, err := w.Update(background, UpdateOptions{})
	wantIs(t, err, filetree.ErrConflict, `both the task and main changed "a"; nothing was changed`)
	_, err = w.Merge(background, MergeOptions{DryRun: true})
	wantIs(t, err, filetree.ErrConflict, "`tandemux ws update n --ask` has the agent resolve that")
	_, err = w.Merge(background, MergeOptions{})
	wantIs(t, err, filetree.ErrConflict, "nothing was changed")
	if after := lines(t, w.Dir()); after != before || run(t, repo, "git", "rev-parse", "tandemux/n") != tip {
		t.Errorf("what was refused changed:\n%s", after)
	}
	u := must(w.Update(background, UpdateOptions{Leave: true}))(t)
	if len(u.Conflicts) != 1 || u.Conflicts[0] != "a" || u.Commits != 2 {
		t.Errorf("left %+v", u)
	}
	if got := text(t, w.Dir(), "a"); got != "<<<<<<< tandemux/n\ntask\n=======\nhome\n>>>>>>> main\n2\n3\n4\n5\n" {
		t.Errorf("left %q", got)
	}
	_, err = w.Merge(background, MergeOptions{})
	wantIs(t, err, filetree.ErrConflict, `conflicts with main are not resolved in "a"`)
	_, err = w.Update(background, UpdateOptions{})
	wantIs(t, err, filetree.ErrConflict, "waits for its conflicts to be resolved")
	if d := must(w.Diff(background, DiffOptions{}))(t); len(d.Files) != 2 {
		t.Errorf("what came is not the task's: %+v", d)
	}
	got := inSandbox(t, w, `git status --porcelain; git rev-parse MERGE_HEAD main | uniq | wc -l
		printf 'both\n2\n3\n4\n5\n' >a; git add a; git commit -q --no-edit; git log --format=%s -1; git rev-list --parents -1 HEAD | wc -w; git status --porcelain`)
	if want := "UU a\nA  new\n1\nMerge main into tandemux/n\n3\n"; got != want {
		t.Errorf("in the sandbox:\n%s\nwant\n%s", got, want)
	}
	m := must(w.Merge(background, MergeOptions{}))(t)
	if len(m.Files) != 2 || text(t, repo, "a") != "both\n2\n3\n4\n5\n" {
		t.Errorf("merged %+v", m)
	}
	if u := must(w.Update(background, UpdateOptions{}))(t); u.Commits != 0 {
		t.Errorf("after: %+v", u)
	}
}

// TestUpdateAmbiguous: a tag of the branch's name is not what comes.
func TestUpdateAmbiguous(t *testing.T) {
	t.Parallel()
	repo, w := behind(t, map[string]string{"a": "task\n2\n3\n4\n5\n"}, map[string]string{"a": "home\n2\n3\n4\n5\n"})
	run(t, repo, "git", "tag", "main")
	write(t, repo, map[string]string{"later": "than the tag\n"})
	run(t, repo, "git", "add", "-A")
	run(t, repo, "git", "commit", "-qm", "later")
	u := must(w.Update(background, UpdateOptions{Leave: true}))(t)
	if u.Commits != 2 || text(t, w.Dir(), "later") != "than the tag\n" {
		t.Errorf("%+v", u)
	}
}

// TestUpdateResolved: an agent that only edits files has resolved them, too; the merge
// home is a merge of both.
func TestUpdateResolved(t *testing.T) {
	soak.Long(t, "TestUpdateConflicts has the conflicts")
	t.Parallel()
	for _, sandboxed := range []bool{false, true} {
		t.Run(fmt.Sprint("sandboxed ", sandboxed), func(t *testing.T) {
			t.Parallel()
			repo, w := behind(t, map[string]string{"a": "task\n2\n3\n4\n5\n"}, map[string]string{"a": "home\n2\n3\n4\n5\n"})
			if sandboxed {
				must(w.Mounts(background))(t)
			}
			must(w.Update(background, UpdateOptions{Leave: true}))(t)
			write(t, w.Dir(), map[string]string{"a": "both\n2\n3\n4\n5\n"})
			must(w.Merge(background, MergeOptions{Message: "both"}))(t)
			if got := run(t, repo, "git", "show", "-s", "--format=%s", "main", "main^2"); got != "both\nMerge main into tandemux/n\n" || text(t, repo, "a") != "both\n2\n3\n4\n5\n" {
				t.Errorf("merged by %q: %q", got, text(t, repo, "a"))
			}
			if sandboxed {
				if got := inSandbox(t, w, "git status"); !strings.Contains(got, "nothing to commit, working tree clean") {
					t.Errorf("in the sandbox: %s", got)
				}
			} else if got := run(t, w.Dir(), "git", "status"); !strings.Contains(got, "nothing to commit, working tree clean") {
				t.Errorf("in the worktree: %s", got)
			}
		})
	}
}

// TestUpdateAborted: given up by us or by the agent, files are what they were, and what was
// done of it is kept.
func TestUpdateAborted(t *testing.T) {
	soak.Long(t, "TestUpdateConflicts has the conflicts")
	t.Parallel()
	repo, w := behind(t, map[string]string{"a": "task\n2\n3\n4\n5\n"}, map[string]string{"a": "home\n2\n3\n4\n5\n", "new": "n\n"})
	must(w.Mounts(background))(t)
	_, err := w.Update(background, UpdateOptions{Abort: true})
	wantIs(t, err, filetree.ErrConflict, "no update is under way")
	before := lines(t, w.Dir())
	must(w.Update(background, UpdateOptions{Leave: true}))(t)
	write(t, w.Dir(), map[string]string{"a": "half\n"})
	u := must(w.Update(background, UpdateOptions{Abort: true}))(t)
	if after := lines(t, w.Dir()); after != before {
		t.Errorf("given up:\n%s\nwant\n%s", after, before)
	}
	if got := run(t, repo, "git", "show", u.Kept+":a"); got != "half\n" {
		t.Errorf("kept %q", got)
	}
	if got := inSandbox(t, w, "git status --porcelain; git merge -q main || git merge --abort; git status --porcelain"); !strings.HasSuffix(got, "fix conflicts and then commit the result.\n") {
		t.Errorf("in the sandbox: %s", got)
	}
	must(w.Update(background, UpdateOptions{Leave: true}))(t)
	inSandbox(t, w, "git merge --abort")
	if after := lines(t, w.Dir()); after != before {
		t.Errorf("the agent gave it up:\n%s\nwant\n%s", after, before)
	}
	must(w.Diff(background, DiffOptions{}))(t)
	if _, err := w.Update(background, UpdateOptions{}); !errors.As(err, new(*Conflicts)) {
		t.Errorf("again: %v", err)
	}
}

// TestUpdateRefused: what can't be brought up to date is said to be so.
func TestUpdateRefused(t *testing.T) {
	t.Parallel()
	_, w := behind(t, nil, map[string]string{"b": "bb\n"})
	busy := errors.New("busy")
	_, err := w.Update(background, UpdateOptions{Ready: func() error { return busy }})
	wantIs(t, err, busy, "busy")
	_, err = w.Update(background, UpdateOptions{From: "--all"})
	wantIs(t, err, filetree.ErrInvalid, "no branch or commit")
	write(t, w.Dir(), map[string]string{"b": "mine\n"})
	run(t, w.Dir(), "git", "branch", "-q", "other", "HEAD~")
	run(t, w.Dir(), "git", "commit", "-qam", "x")
	inWorktree := func(script string) { run(t, w.Dir(), "sh", "-c", script) }
	inWorktree("git merge -q main || true")
	_, err = w.Update(background, UpdateOptions{})
	wantIs(t, err, filetree.ErrConflict, "in the midst of a merge")
	inWorktree("git merge --abort")
	c := create(t, w.store, "t2", Spec{Kind: ReadWrite, Dir: t.TempDir()})
	_, err = c.Update(background, UpdateOptions{})
	wantIs(t, err, filetree.ErrUnsupported, "nothing to bring up to date: it")
}

// TestUpdateInTheWay: a file that git ignores, where one would come, is left alone and
// nothing else is changed.
func TestUpdateInTheWay(t *testing.T) {
	t.Parallel()
	repo, w := behind(t, map[string]string{"x.log": "precious\n"}, map[string]string{"b": "bb\n"})
	write(t, repo, map[string]string{"x.log": "home\n"})
	run(t, repo, "git", "add", "-f", "x.log")
	run(t, repo, "git", "commit", "-qm", "log")
	before := lines(t, w.Dir())
	_, err := w.Update(background, UpdateOptions{})
	wantIs(t, err, filetree.ErrConflict, `"x.log" is in the way of what would come`)
	if after := lines(t, w.Dir()); after != before {
		t.Errorf("changed:\n%s", after)
	}
	must(0, os.Remove(filepath.Join(w.Dir(), "x.log")))(t)
	must(w.Update(background, UpdateOptions{}))(t)
	if got := text(t, w.Dir(), "x.log") + text(t, w.Dir(), "b"); got != "home\nbb\n" {
		t.Errorf("then: %q", got)
	}
}

// TestUpdateInterrupted: files that were half brought up to date when the host died are
// whole the next time that anything is asked; files that were written since stay, and the
// update has not been.
func TestUpdateInterrupted(t *testing.T) {
	soak.Long(t, "an update is cut off in each of its steps")
	t.Parallel()
	for name, c := range map[string]struct {
		since map[string]string
		a     string
		done  bool
	}{
		"nothing yet":     {nil, "home\n2\n3\n4\n5\n", true},
		"half":            {map[string]string{"a": "home\n2\n3\n4\n5\n"}, "home\n2\n3\n4\n5\n", true},
		"written since":   {map[string]string{"a": "else\n", "dir/c": "cc\n"}, "else\n", false},
		"in the way":      {map[string]string{"x.log": "mine\n"}, "1\n2\n3\n4\n5\n", false},
		"all but the end": {map[string]string{"a": "home\n2\n3\n4\n5\n", "dir/c": "cc\n", "x.log": "log\n"}, "home\n2\n3\n4\n5\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, w := behind(t, nil, map[string]string{"a": "home\n2\n3\n4\n5\n", "dir/c": "cc\n"})
			write(t, repo, map[string]string{"x.log": "log\n"})
			run(t, repo, "git", "add", "-f", "x.log")
			run(t, repo, "git", "commit", "-qm", "log")
			must(w.Mounts(background))(t)
			r := must(w.load())(t)
			work, base := strings.TrimSpace(run(t, repo, "git", "rev-parse", "tandemux/n")), strings.TrimSpace(run(t, repo, "git", "rev-parse", "main"))
			tree, _, err := w.sourceGit(r).Join(background, work, base)
			if err != nil {
				t.Fatal(err)
			}
			to := must(w.sourceGit(r).Commit(background, tree, "m", work, base))(t)
			r.Update = &updating{From: work, To: to, Base: base, Ref: "refs/heads/main"}
			must(0, w.save(r))(t)
			write(t, w.Dir(), c.since)
			must(w.Diff(background, DiffOptions{}))(t)
			if got := text(t, w.Dir(), "a"); got != c.a {
				t.Errorf("a is %q", got)
			}
			if got := strings.TrimSpace(run(t, repo, "git", "rev-parse", "tandemux/n")); (got == to) != c.done || !c.done && got != work {
				t.Errorf("the branch is at %s; %s to %s", got, work, to)
			}
			if c.done {
				if d := must(w.Diff(background, DiffOptions{}))(t); len(d.Files) != 1 {
					t.Errorf("changes %+v", d)
				}
			} else if got := text(t, w.Dir(), "dir/c"); got != "c\n" {
				t.Errorf("half of it stayed: %q", got)
			}
			if must(w.load())(t).Update != nil {
				t.Error("it is still under way")
			}
		})
	}
}
