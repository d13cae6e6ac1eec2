package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/folders"
	"tandemux/internal/soak"
)

var background = context.Background()

func TestWorktreeHomeIsUntouched(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n", ".gitignore": "*.log\n"})
	write(t, repo, map[string]string{"a.txt": "dirty\n", "untracked": "mine\n", "x.log": "ignored\n"})
	run(t, repo, "git", "add", "b.txt")
	before, status := lines(t, filepath.Join(repo, "..")), run(t, repo, "git", "status", "--porcelain=v2")
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	if got := string(must(os.ReadFile(filepath.Join(w.Dir(), "a.txt")))(t)); got != "one\n" {
		t.Errorf("the worktree has %q, not what is committed", got)
	}
	if _, err := os.Lstat(filepath.Join(w.Dir(), "untracked")); err == nil {
		t.Error("the worktree has an untracked file")
	}
	must(w.Delete(background, true))(t)
	if got := run(t, repo, "git", "status", "--porcelain=v2"); got != status {
		t.Errorf("status %q, was %q", got, status)
	}
	if after := lines(t, filepath.Join(repo, "..")); notGit(after) != notGit(before) {
		t.Errorf("the user's files changed:\n%s\n---\n%s", before, after)
	}
	if refs := run(t, repo, "git", "for-each-ref", "refs/heads"); strings.Count(refs, "\n") != 1 {
		t.Errorf("refs: %s", refs)
	}
}

// notGit leaves out what git writes for itself.
func notGit(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.Contains(line, ".git/") && !strings.Contains(line, ".git\"") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func TestWorktreeBranches(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n"})
	run(t, repo, "git", "branch", "tandemux/n")
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	if w.Info().Branch != "tandemux/n-2" {
		t.Errorf("branch %q beside one that exists", w.Info().Branch)
	}
	_, err := s.Create(background, "t2", Spec{Kind: Worktree, Dir: repo, Branch: "tandemux/n"})
	wantIs(t, err, filetree.ErrConflict, "exists already")
	_, err = s.Create(background, "t2", Spec{Kind: Worktree, Dir: repo, Branch: "a..b"})
	wantIs(t, err, filetree.ErrInvalid, "can't be a branch's name")
	_, err = s.Create(background, "t2", Spec{Kind: Worktree, Dir: repo, From: "nothing"})
	wantIs(t, err, filetree.ErrInvalid, "no commit")
	if _, err := os.Lstat(s.taskDir("t2")); err == nil {
		t.Error("a workspace that could not be made left its directory")
	}
	if got := run(t, repo, "git", "branch", "--list"); strings.Count(got, "\n") != 3 {
		t.Errorf("branches after failures:\n%s", got)
	}
	// A branch named tandemux is where the directory of branches would be.
	other := repository(t, map[string]string{"a": "1\n"})
	run(t, other, "git", "branch", "tandemux")
	if w := create(t, s, "t3", Spec{Kind: Worktree, Dir: other, Name: "n"}); w.Info().Branch != "tandemux-n" {
		t.Errorf("branch %q beside one named tandemux", w.Info().Branch)
	}
}

func TestWorktreeRepositories(t *testing.T) {
	soak.Long(t, "each kind of repository")
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n", "dir/b": "2\n"})
	for name, c := range map[string]struct {
		make func(t *testing.T) string
		kind error
		says string
	}{
		"none":   {func(t *testing.T) string { return t.TempDir() }, filetree.ErrInvalid, "is in no git repository"},
		"absent": {func(t *testing.T) string { return filepath.Join(t.TempDir(), "x") }, filetree.ErrInvalid, "does not exist"},
		"file":   {func(*testing.T) string { return filepath.Join(repo, "a") }, filetree.ErrInvalid, "not a directory"},
		"unborn": {func(t *testing.T) string {
			dir := t.TempDir()
			run(t, dir, "git", "init", "-q")
			return dir
		}, filetree.ErrUnsupported, "no commit yet"},
		"subdirectory": {func(t *testing.T) string {
			return filepath.Join(repository(t, map[string]string{"a": "1\n", "dir/b": "2\n"}), "dir")
		}, nil, ""},
		"detached": {func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "clone")
			run(t, repo, "git", "clone", "-q", repo, dir)
			run(t, dir, "git", "checkout", "-q", "--detach")
			return dir
		}, nil, ""},
		"bare": {func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "bare.git")
			run(t, repo, "git", "clone", "-q", "--bare", repo, dir)
			return dir
		}, nil, ""},
		"worktree of the user's": {func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "wt")
			run(t, repo, "git", "worktree", "add", "-q", "-b", "other", dir)
			return dir
		}, nil, ""},
		"odd name": {func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "a new\nline: \"x\"")
			run(t, repo, "git", "clone", "-q", repo, dir)
			return dir
		}, nil, ""},
		"shallow": {func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "clone")
			run(t, repo, "git", "clone", "-q", "--depth=1", "file://"+repo, dir)
			return dir
		}, nil, ""},
		"borrowing": {func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "clone")
			run(t, repo, "git", "clone", "-q", "--shared", repo, dir)
			return dir
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := c.make(t)
			w, err := s.Create(background, "t1", Spec{Kind: Worktree, Dir: dir, Name: "n"})
			if c.kind != nil {
				wantIs(t, err, c.kind, c.says)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			write(t, w.Dir(), map[string]string{"a": "changed\n", "dir/new": "new\n"})
			if d := must(w.Diff(background, DiffOptions{}))(t); len(d.Files) != 2 {
				t.Errorf("diff %+v", d)
			}
			must(w.Mounts(background))(t)
			m, err := w.Merge(background, MergeOptions{})
			switch name {
			case "detached":
				wantIs(t, err, filetree.ErrUnsupported, "HEAD is detached")
			default:
				if err != nil || len(m.Files) != 2 {
					t.Errorf("merge %+v, %v", m, err)
				}
				if got := run(t, dir, "git", "show", "HEAD:a"); got != "changed\n" {
					t.Errorf("merged %q", got)
				}
			}
			must(w.Delete(background, true))(t)
		})
	}
}

// TestWorktreeConfiguration: nothing that a repository configures is run, but what
// says how contents look.
func TestWorktreeConfiguration(t *testing.T) {
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n", "b.up": "text\n", ".gitattributes": "*.up filter=up\n"})
	mark := filepath.Join(t.TempDir(), "ran")
	hooks := filepath.Join(repo, ".git", "hooks")
	mkdirs(t, hooks)
	for _, name := range []string{"post-checkout", "pre-commit", "post-commit", "post-merge", "pre-merge-commit", "commit-msg", "reference-transaction", "post-index-change", "fsmonitor", "post-rewrite"} {
		write(t, hooks, map[string]string{name + "!": "#!/bin/sh\necho " + name + " >>" + mark + "\n"})
	}
	run(t, repo, "git", "config", "core.fsmonitor", filepath.Join(hooks, "fsmonitor"))
	run(t, repo, "git", "config", "diff.external", filepath.Join(hooks, "fsmonitor"))
	run(t, repo, "git", "config", "core.pager", "touch "+mark)
	run(t, repo, "git", "config", "alias.status", "!touch "+mark)
	run(t, repo, "git", "config", "filter.up.smudge", "tr a-z A-Z")
	run(t, repo, "git", "config", "filter.up.clean", "tr A-Z a-z")
	_ = os.Remove(mark)
	t.Setenv("GIT_DIR", "/nonexistent")
	t.Setenv("GIT_INDEX_FILE", "/nonexistent")
	t.Setenv("GIT_CONFIG_PARAMETERS", "'core.bare=true'")
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo})
	if got := string(must(os.ReadFile(filepath.Join(w.Dir(), "b.up")))(t)); got != "TEXT\n" {
		t.Errorf("the filter was not used: %q", got)
	}
	write(t, w.Dir(), map[string]string{"a": "2\n", "b.up": "TEXT\nMORE\n"})
	var text strings.Builder
	must(w.Diff(background, DiffOptions{Text: &text}))(t)
	if !strings.Contains(text.String(), "+more\n") {
		t.Errorf("the filter was not used in comparing:\n%s", text.String())
	}
	must(w.Merge(background, MergeOptions{}))(t)
	must(w.Delete(background, false))(t)
	if got, err := os.ReadFile(mark); err == nil {
		t.Errorf("the repository ran: %s", got)
	}
}

// TestWorktreeAgentsGit: what the agent makes of .git in the workspace is not believed.
func TestWorktreeAgentsGit(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n", "sub/x": "1\n"})
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo})
	must(w.Mounts(background))(t)
	mark := filepath.Join(t.TempDir(), "ran")
	evil := func(dir string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
			t.Fatal(err)
		}
		mkdirs(t, dir)
		run(t, dir, "git", "init", "-q")
		run(t, dir, "git", "config", "user.name", "a")
		run(t, dir, "git", "config", "user.email", "a@b")
		write(t, dir, map[string]string{"x": "2\n", ".gitattributes": "* filter=evil diff=evil\n"})
		run(t, dir, "git", "add", "x")
		run(t, dir, "git", "commit", "-q", "-m", "x")
		for _, key := range []string{"core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "diff.evil.command", "diff.evil.textconv"} {
			run(t, dir, "git", "config", key, "touch "+mark+" #")
		}
		write(t, dir, map[string]string{"x": "3\n"})
	}
	evil(filepath.Join(w.Dir(), "nested"))
	evil(filepath.Join(w.Dir(), "sub"))
	evil(w.Dir())
	private := w.path(gitName)
	for _, key := range []string{"core.fsmonitor", "core.sshCommand", "uploadpack.packObjectsHook"} {
		run(t, repo, "git", "config", "-f", filepath.Join(private, "config"), key, "touch "+mark+" #")
	}
	_ = os.Remove(mark)
	d := must(w.Diff(background, DiffOptions{}))(t)
	if len(d.Left) == 0 || !strings.Contains(strings.Join(d.Left, " "), "nested") {
		t.Errorf("the nested repository is not named among what is left: %+v", d)
	}
	must(w.SyncUp(background, Neither))(t)
	write(t, repo, map[string]string{"from home": "1\n", "x": "from home\n"})
	run(t, repo, "git", "add", "-A")
	run(t, repo, "git", "-c", "core.hooksPath=/dev/null", "commit", "-qm", "home")
	if _, err := w.Update(background, UpdateOptions{Leave: true}); err != nil {
		t.Error(err)
	}
	if _, err := w.Update(background, UpdateOptions{Abort: true}); err != nil {
		t.Error(err)
	}
	if _, err := w.Update(background, UpdateOptions{From: "HEAD~"}); err != nil {
		t.Error(err)
	}
	run(t, repo, "git", "reset", "-q", "--hard", "HEAD~")
	must(w.Merge(background, MergeOptions{}))(t)
	must(w.Delete(background, false))(t)
	if _, err := os.Lstat(mark); err == nil {
		t.Error("what the agent configured was run")
	}
}

// inSandbox runs a command as the sandbox would see the workspace.
func inSandbox(t *testing.T, w *Workspace, script string) string {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("no bubblewrap here")
	}
	args := []string{"--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr"}
	for _, dir := range []string{"/bin", "/lib", "/lib64", "/etc"} {
		args = append(args, "--ro-bind-try", dir, dir)
	}
	for _, m := range must(w.Mounts(background))(t) {
		how := "--ro-bind"
		if m.Writable {
			how = "--bind"
		}
		args = append(args, how, m.Source, m.Target)
	}
	cmd := exec.Command("bwrap", append(args, "--chdir", "/workspace", "sh", "-ec", script)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		if strings.Contains(string(out), "bwrap:") {
			t.Skipf("bubblewrap does not work here: %s", out)
		}
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// TestWorktreeSandboxedCommits: an agent that sees nothing but the mounts commits, and
// the commits are in the repository after a synchronisation.
func TestWorktreeSandboxedCommits(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n", "dir/b": "2\n"})
	run(t, repo, "git", "repack", "-adq")
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	objects := lines(t, filepath.Join(repo, ".git", "objects"))
	out := inSandbox(t, w, `git status --porcelain; git log --oneline | wc -l; echo more >>a; git add a; git commit -qm one
		git checkout -q -b side; echo s >s; git add s; git commit -qm side; git checkout -q tandemux/n; git merge -q side; git gc -q
		git tag x; echo two >two; git add two; git commit -qm two; echo dirty >dirty; git status --porcelain`)
	if out != "1\n?? dirty\n" {
		t.Fatalf("in the sandbox:\n%s", out)
	}
	if got := lines(t, filepath.Join(repo, ".git", "objects")); got != objects {
		t.Errorf("the sandbox wrote into the repository:\n%s\n---\n%s", objects, got)
	}
	must(w.SyncUp(background, Neither))(t)
	if got := run(t, repo, "git", "log", "--format=%s", "tandemux/n"); got != "two\nside\none\nfirst\n" {
		t.Errorf("log after a synchronisation:\n%s", got)
	}
	run(t, repo, "git", "fsck", "--strict", "--no-dangling")
	if got := run(t, w.Dir(), "git", "status", "--porcelain"); got != "?? dirty\n" {
		t.Errorf("status of the worktree on this side: %q", got)
	}
	m := must(w.Merge(background, MergeOptions{}))(t)
	if len(m.Files) != 4 {
		t.Errorf("merged %+v", m)
	}
	// The agent goes on from what was committed for it.
	if out := inSandbox(t, w, `git status --porcelain; git log -1 --format=%s; echo 3 >>a; git commit -qam three`); out != "Work of task n\n" {
		t.Errorf("in the sandbox after the merge: %q", out)
	}
	must(w.Merge(background, MergeOptions{}))(t)
	if got := run(t, repo, "git", "log", "-1", "--format=%s"); got != "three\n" {
		t.Errorf("merged %q", got)
	}
	// Without the branch's ref, or with one that leads nowhere, nothing is lost.
	write(t, w.path(gitName), map[string]string{"refs/heads/tandemux/n": strings.Repeat("1", 40) + "\n"})
	_, err := w.SyncUp(background, Neither)
	wantIs(t, err, filetree.ErrConflict, "no commit that there is")
}

// TestWorktreeQuarantine: objects that a sandboxed agent gives are checked, and no
// other store of objects is borrowed from on its word.
func TestWorktreeQuarantine(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n"})
	secret := repository(t, map[string]string{"secret": "s3cret\n"})
	hash := strings.TrimSpace(run(t, secret, "git", "rev-parse", "HEAD"))
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	must(w.Mounts(background))(t)
	private := w.path(gitName)
	write(t, private, map[string]string{"objects/info/alternates": filepath.Join(secret, ".git/objects") + "\n", "refs/heads/tandemux/n": hash + "\n"})
	_, err := w.SyncUp(background, Neither)
	wantIs(t, err, filetree.ErrConflict, "no commit that there is")
	if err := os.RemoveAll(filepath.Join(private, "objects", hash[:2])); err != nil {
		t.Fatal(err)
	}
	write(t, private, map[string]string{"objects/" + hash[:2] + " -> " + filepath.Join(secret, ".git/objects", hash[:2]): ""})
	_, err = w.SyncUp(background, Neither)
	wantIs(t, err, filetree.ErrConflict, "no commit that there is")
	if out, err := exec.Command("git", "-C", repo, "cat-file", "-e", hash).CombinedOutput(); err == nil {
		t.Errorf("another repository's commit came along: %s", out)
	}
	// A ref that is a FIFO makes nobody wait.
	if err := os.Remove(filepath.Join(private, "refs/heads/tandemux/n")); err != nil {
		t.Fatal(err)
	}
	run(t, private, "mkfifo", "refs/heads/tandemux/n")
	_, err = w.SyncUp(background, Neither)
	if err != nil {
		t.Errorf("packed-refs still has the branch: %v", err)
	}
}

func TestWorktreeMergeRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		home map[string]string // the user's files, uncommitted
		add  bool
		says string
		want []string
	}{
		"dirty":      {home: map[string]string{"a": "mine\n"}, says: "would overwrite uncommitted changes", want: []string{"a"}},
		"staged":     {home: map[string]string{"a": "mine\n"}, add: true, says: "would overwrite uncommitted changes", want: []string{"a"}},
		"untracked":  {home: map[string]string{"new": "mine\n"}, says: "would overwrite uncommitted changes", want: []string{"new"}},
		"elsewhere":  {home: map[string]string{"b": "mine\n", "other": "mine\n"}},
		"same thing": {home: map[string]string{"b": "mine\n"}, add: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			repo := repository(t, map[string]string{"a": "1\n", "b": "1\n"})
			w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo})
			write(t, w.Dir(), map[string]string{"a": "agent\n", "new": "agent\n"})
			write(t, repo, c.home)
			if c.add {
				run(t, repo, "git", "add", "-A")
			}
			before := notGit(lines(t, repo))
			m, err := w.Merge(background, MergeOptions{})
			if c.want == nil {
				if err != nil || len(m.Files) != 2 {
					t.Errorf("merge %+v, %v", m, err)
				}
				for p, text := range c.home {
					if got := string(must(os.ReadFile(filepath.Join(repo, p)))(t)); got != text {
						t.Errorf("%s is %q, the user had %q", p, got, text)
					}
				}
				return
			}
			wantIs(t, err, filetree.ErrConflict, c.says)
			var conflicts *Conflicts
			if !errors.As(err, &conflicts) || !conflicts.Dirty || strings.Join(conflicts.Paths, " ") != strings.Join(c.want, " ") {
				t.Errorf("conflicts %+v, want %v", conflicts, c.want)
			}
			if after := notGit(lines(t, repo)); after != before {
				t.Errorf("a refused merge changed the user's files:\n%s\n---\n%s", before, after)
			}
			if got := run(t, repo, "git", "rev-list", "--count", "HEAD"); got != "1\n" {
				t.Errorf("a refused merge left %s commits", got)
			}
		})
	}
}

func TestWorktreeMergeJoins(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b": "1\n"})
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	write(t, w.Dir(), map[string]string{"a": "agent\n2\n3\n4\n5\n6\n7\n8\n9\n"})
	write(t, repo, map[string]string{"a": "1\n2\n3\n4\n5\n6\n7\n8\nuser\n"})
	run(t, repo, "git", "commit", "-qam", "user")
	dry := must(w.Merge(background, MergeOptions{DryRun: true}))(t)
	if len(dry.Files) != 1 || dry.Commit != "" {
		t.Errorf("dry run %+v", dry)
	}
	must(w.Merge(background, MergeOptions{Message: "Take it"}))(t)
	if got := string(must(os.ReadFile(filepath.Join(repo, "a")))(t)); got != "agent\n2\n3\n4\n5\n6\n7\n8\nuser\n" {
		t.Errorf("joined %q", got)
	}
	if got := run(t, repo, "git", "log", "-1", "--format=%s %p"); len(strings.Fields(got)) != 4 {
		t.Errorf("merge commit %q", got)
	}
	if got := run(t, repo, "git", "status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
	if m := must(w.Merge(background, MergeOptions{}))(t); !m.Nothing {
		t.Errorf("a second merge found %+v", m)
	}
	write(t, w.Dir(), map[string]string{"b": "agent\n"})
	write(t, repo, map[string]string{"b": "user\n"})
	run(t, repo, "git", "commit", "-qam", "user b")
	head := run(t, repo, "git", "rev-parse", "HEAD")
	_, err := w.Merge(background, MergeOptions{})
	var conflicts *Conflicts
	if !errors.As(err, &conflicts) || conflicts.Dirty || strings.Join(conflicts.Paths, " ") != "b" {
		t.Errorf("conflict %v", err)
	}
	if got := run(t, repo, "git", "rev-parse", "HEAD"); got != head {
		t.Error("a merge with conflicts moved the branch")
	}
	kept := must(w.Delete(background, false))(t).Branch
	if kept != "tandemux/n" {
		t.Errorf("kept %q, though the work is nowhere else", kept)
	}
	if got := run(t, repo, "git", "show", "tandemux/n:b"); got != "agent\n" {
		t.Errorf("the kept branch has %q", got)
	}
}

func TestWorktreeDiffKinds(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{
		"mode": "x\n", "gone": "1\n2\n", "bin": "a\x00b", "old name": "1\n2\n3\n4\n5\n6\n7\n8\n", "link -> mode": "", ".gitignore": "ignored\nbuild/\n", "d/f": "1\n",
	})
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo})
	dir := w.Dir()
	run(t, dir, "chmod", "755", "mode")
	run(t, dir, "rm", "gone", "link")
	run(t, dir, "mv", "old name", "new\nname")
	run(t, dir, "rm", "-r", "d")
	run(t, dir, "mkfifo", "fifo")
	write(t, dir, map[string]string{"bin": "a\x00c", "\xff": "other\n", "link -> gone": "", "ignored": "x", "build/x": "x", "d": "a file now\n", "empty/": ""})
	var text strings.Builder
	d := must(w.Diff(background, DiffOptions{Text: &text}))(t)
	got := map[string]FileDiff{}
	for _, f := range d.Files {
		if wasThere, isThere := f.Old.ID != "", f.New.ID != ""; wasThere == (f.Status == "added") || isThere == (f.Status == "deleted") {
			t.Errorf("%q: %s, of %+v and %+v", f.Path, f.Status, f.Old, f.New)
		}
		f.Old, f.New = git.Entry{}, git.Entry{} // whose ids are git's
		got[f.Path] = f
	}
	want := map[string]FileDiff{
		"mode":      {Path: "mode", Status: "mode"},
		"gone":      {Path: "gone", Status: "deleted", Deleted: 2},
		"bin":       {Path: "bin", Status: "modified", Binary: true},
		"new\nname": {Path: "new\nname", From: "old name", Status: "renamed"},
		"link":      {Path: "link", Status: "modified", Added: 1, Deleted: 1},
		"\xff":      {Path: "\xff", Status: "added", Added: 1},
		"d":         {Path: "d", Status: "added", Added: 1},
		"d/f":       {Path: "d/f", Status: "deleted", Deleted: 1},
	}
	for p, f := range want {
		if got[p] != f {
			t.Errorf("%q: %+v, want %+v", p, got[p], f)
		}
	}
	if len(got) != len(want) {
		t.Errorf("files %+v", d.Files)
	}
	if d.Added != 3 || d.Deleted != 4 {
		t.Errorf("lines +%d -%d", d.Added, d.Deleted)
	}
	if d := must(w.Diff(background, DiffOptions{Paths: []string{"d"}}))(t); len(d.Files) != 2 {
		t.Errorf("of one path: %+v", d.Files)
	}
	// The text is a patch.
	patch := filepath.Join(t.TempDir(), "patch")
	write(t, filepath.Dir(patch), map[string]string{"patch": text.String()})
	if out, err := exec.Command("git", "-C", repo, "apply", "--check", "--stat", patch).CombinedOutput(); err != nil && !strings.Contains(string(out), "binary patch") {
		t.Errorf("git apply: %s\n%s", out, text.String())
	}
}

// TestWorktreeSameTick: a change of the same size, made in the tick in which the file
// was checked out, is seen.
func TestWorktreeSameTick(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n"})
	run(t, repo, "git", "config", "core.trustctime", "false") // it can't be set
	w := create(t, s, "t", Spec{Kind: Worktree, Dir: repo})
	r, unlock, err := w.begin()
	must(0, err)(t)
	unlock()
	at, tick := filepath.Join(w.Dir(), "a"), time.Now().Add(-time.Minute)
	must(0, os.Chtimes(at, tick, tick))(t)
	run(t, w.Dir(), "git", "update-index", "--refresh")
	write(t, w.Dir(), map[string]string{"a": "2\n"})
	must(0, os.Chtimes(at, tick, tick))(t)
	must(0, os.Chtimes(filepath.Join(r.Admin, "index"), tick, tick))(t)
	if d := must(w.Diff(background, DiffOptions{}))(t); len(d.Files) != 1 {
		t.Errorf("diff %+v", d)
	}
}

// TestWorktreeSubmodules: what is in a submodule stays there, and is not lost.
func TestWorktreeSubmodules(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	inner := repository(t, map[string]string{"x": "1\n"})
	repo := repository(t, map[string]string{"a": "1\n"})
	run(t, repo, "git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "mod")
	run(t, repo, "git", "commit", "-qm", "module")
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo})
	if d := must(w.Diff(background, DiffOptions{}))(t); len(d.Files) != 0 {
		t.Errorf("diff of an unchanged worktree with a submodule: %+v", d)
	}
	write(t, w.Dir(), map[string]string{"mod/y": "in the submodule's place\n", "a": "2\n"})
	m := must(w.Merge(background, MergeOptions{}))(t)
	if len(m.Files) != 1 {
		t.Errorf("merged %+v", m)
	}
	if got := run(t, repo, "git", "submodule", "status"); !strings.HasPrefix(got, " ") {
		t.Errorf("the submodule is %q", got)
	}
}

func TestWorktreeDeletedUnderIt(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n"})
	w := create(t, s, "t1", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	if err := os.RemoveAll(w.Dir()); err != nil {
		t.Fatal(err)
	}
	if !w.Info().Gone {
		t.Error("Info does not say that it is gone")
	}
	for what, err := range map[string]error{
		"diff": second(w.Diff(background, DiffOptions{})), "merge": second(w.Merge(background, MergeOptions{})), "up": second(w.SyncUp(background, Neither)),
		"mounts": second(w.Mounts(background)), "archive": second(w.WriteArchive(background, io.Discard, folders.Selection{})),
	} {
		if !errors.Is(err, filetree.ErrNotFound) || !strings.Contains(err.Error(), "deleted") {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(w.Delete(background, false))(t)
	if got := run(t, repo, "git", "branch", "--list", "tandemux/*"); got != "" {
		t.Errorf("branches left: %s", got)
	}
	// Where the repository was moved, its work is nowhere else, until it is back.
	w = create(t, s, "t2", Spec{Kind: Worktree, Dir: repo, Name: "n"})
	write(t, w.Dir(), map[string]string{"a": "2\n"})
	must(0, os.Rename(repo, repo+".moved"))(t)
	for what, err := range map[string]error{
		"diff": second(w.Diff(background, DiffOptions{})), "merge": second(w.Merge(background, MergeOptions{})),
		"update": second(w.Update(background, UpdateOptions{})), "mounts": second(w.Mounts(background)), "delete": second(w.Delete(background, false)),
	} {
		if !errors.Is(err, filetree.ErrNotFound) || !strings.Contains(err.Error(), "of task t2 is not there: it was moved or deleted, or its disk is not mounted") {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(0, os.Rename(repo+".moved", repo))(t)
	if gone := must(w.Delete(background, false))(t); gone.Branch != "tandemux/n" {
		t.Errorf("%+v", gone)
	}
	// By force it goes without the repository, too.
	w = create(t, s, "t2", Spec{Kind: Worktree, Dir: repo, Name: "n2"})
	must(0, os.RemoveAll(repo))(t)
	must(w.Delete(background, true))(t)
	if _, err := os.Lstat(s.taskDir("t2")); err == nil {
		t.Error("the task's directory is left")
	}
}

func second[T any](_ T, err error) error { return err }

// TestTenTasksOnOneRepository: all get a worktree, at once, and all work comes home.
func TestTenTasksOnOneRepository(t *testing.T) {
	soak.Long(t, "ten tasks")
	t.Parallel()
	s := newStore(t)
	repo := repository(t, map[string]string{"a": "1\n"})
	var wg sync.WaitGroup
	work := make([]*Workspace, soak.Short(4, 10))
	for i := range work {
		wg.Go(func() {
			w, err := s.Create(background, fmt.Sprint("t", i), Spec{Kind: Worktree, Dir: repo, Name: "same"})
			if err != nil {
				t.Error(err)
				return
			}
			work[i] = w
			if err := os.WriteFile(filepath.Join(w.Dir(), fmt.Sprint("f", i)), []byte("x\n"), 0o644); err != nil {
				t.Error(err)
			}
			if _, err := w.Diff(background, DiffOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	branches := map[string]bool{}
	for _, w := range work {
		branches[w.Info().Branch] = true
		if m, err := w.Merge(background, MergeOptions{}); err != nil || len(m.Files) != 1 {
			t.Errorf("merge %+v, %v", m, err)
		}
		wg.Go(func() {
			if _, err := w.Delete(background, false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(branches) != len(work) {
		t.Errorf("branches %v", branches)
	}
	if got := run(t, repo, "git", "ls-files"); strings.Count(got, "\n") != len(work)+1 {
		t.Errorf("merged files:\n%s", got)
	}
	if got := run(t, repo, "git", "for-each-ref", "refs/heads"); strings.Count(got, "\n") != 1 {
		t.Errorf("left: %s", got)
	}
	if list, _ := os.ReadDir(filepath.Join(repo, ".git", "worktrees")); len(list) != 0 {
		t.Errorf("worktrees left: %v", list)
	}
}
