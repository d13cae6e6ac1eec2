package changes

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/git"
)

// world is a repository for a test.
type world struct {
	t   *testing.T
	dir string
}

// begin makes one with a commit, if there are files for it: NAME=CONTENTS.
func begin(t *testing.T, files ...string) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, dir}
	w.git("init", "-q", "-b", "main")
	if len(files) > 0 {
		w.write(files...)
		w.git("add", "-A")
		w.git("commit", "-q", "-m", "first")
	}
	return w
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@x"}, args...)...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (w *world) write(files ...string) {
	w.t.Helper()
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		at := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) read(name string) string {
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return "?"
	}
	return string(b)
}

func (w *world) find() *repository {
	w.t.Helper()
	r, err := find(context.Background(), w.t.TempDir(), w.dir)
	if err != nil || r == nil {
		w.t.Fatalf("found %+v, %v", r, err)
	}
	return r
}

// diff is what differs: STATUS PATH[<FROM] +ADDED-DELETED.
func (w *world) diff() string {
	w.t.Helper()
	files, err := w.find().Diff(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return shown(files)
}

func shown(files []git.FileDiff) string {
	var lines []string
	for _, f := range files {
		line := f.Status + " " + f.Path
		if f.From != "" {
			line += "<" + f.From
		}
		if f.Binary {
			line += " binary"
		} else {
			line += fmt.Sprintf(" +%d-%d", f.Added, f.Deleted)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestDiff(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of some length\n", 20)
	for _, c := range []struct {
		name, want string
		do         func(w *world)
	}{
		{"nothing", "", func(w *world) {}},
		{"modified", "modified a +1-1", func(w *world) { w.write("a=b\n") }},
		{"staged", "modified a +1-1", func(w *world) { w.write("a=b\n"); w.git("add", "a") }},
		{"staged and changed back", "", func(w *world) { w.write("a=b\n"); w.git("add", "a"); w.write("a=a\n") }},
		{"deleted", "deleted a +0-1", func(w *world) { os.Remove(filepath.Join(w.dir, "a")) }},
		{"untracked", "added d/n +1-0", func(w *world) { w.write("d/n=x\n") }},
		{"ignored", "added .gitignore +1-0", func(w *world) { w.write(".gitignore=*.log\n", "x.log=x") }},
		{"excluded", "", func(w *world) { w.write(".git/info/exclude=*.log\n", "x.log=x") }},
		{"ignored but staged", "added .gitignore +1-0\nadded x.log +1-0", func(w *world) { w.write(".gitignore=*.log\n", "x.log=x\n"); w.git("add", "-f", "x.log") }},
		{"no longer tracked", "", func(w *world) { w.git("rm", "-q", "--cached", "a") }},
		{"renamed", "renamed to<long +0-0", func(w *world) { w.git("mv", "long", "to") }},
		{"renamed, not staged", "renamed to<long +0-0", func(w *world) { os.Rename(filepath.Join(w.dir, "long"), filepath.Join(w.dir, "to")) }},
		{"binary", "added n binary", func(w *world) { w.write("n=\x00\x01") }},
		{"mode", "mode a +0-0", func(w *world) { os.Chmod(filepath.Join(w.dir, "a"), 0o755) }},
		{"type", "type a +1-1", func(w *world) {
			os.Remove(filepath.Join(w.dir, "a"))
			os.Symlink("/etc/passwd", filepath.Join(w.dir, "a"))
		}},
		{"directory for a file", "deleted a +0-1\nadded a/b +1-0", func(w *world) { os.Remove(filepath.Join(w.dir, "a")); w.write("a/b=x\n") }},
		{"strange names", "added \"q\"\n'\t +1-0\nadded -x +1-0\nadded :(top) +1-0\nadded \xff +1-0", func(w *world) {
			w.write("\"q\"\n'\t=x\n", "-x=x\n", ":(top)=x\n", "\xff=x\n")
		}},
		{"repository in it", "", func(w *world) { w.write("in/f=x"); (&world{w.t, filepath.Join(w.dir, "in")}).git("init", "-q") }},
		{"large", "added n binary", func(w *world) { w.write("n=" + strings.Repeat("x", maxCompared+1)) }},
		{"tracked and large now", "modified a binary", func(w *world) { w.write("a=" + strings.Repeat("x", maxCompared+1)) }},
		{"fifo", "", func(w *world) {
			if out, err := exec.Command("mkfifo", filepath.Join(w.dir, "p")).CombinedOutput(); err != nil {
				w.t.Skip(string(out))
			}
		}},
		{"conflict", "modified a +4-0", func(w *world) {
			w.git("checkout", "-q", "-b", "o")
			w.write("a=o\n")
			w.git("commit", "-qam", "o")
			w.git("checkout", "-q", "main")
			w.write("a=m\n")
			w.git("commit", "-qam", "m")
			exec.Command("git", "-C", w.dir, "-c", "user.name=u", "-c", "user.email=u@x", "merge", "-q", "o").Run() //nolint:errcheck // it conflicts
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, "a=a\n", "long="+long)
			c.do(w)
			status := w.git("status", "--porcelain")
			want := strings.Split(c.want, "\n")
			got := w.diff()
			for _, line := range want {
				if !strings.Contains("\n"+got+"\n", "\n"+line) {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if now := w.git("status", "--porcelain"); now != status {
				t.Errorf("looking changed the index: from\n%s\nto\n%s", status, now)
			}
		})
	}
}

// TestWithoutCommit: before the first, everything is added, and can be committed.
func TestWithoutCommit(t *testing.T) {
	t.Parallel()
	w := begin(t)
	if got := w.diff(); got != "" {
		t.Errorf("empty: %s", got)
	}
	w.write("a=1\n", "b=2\n")
	w.git("add", "a")
	if got := w.diff(); got != "added a +1-0\nadded b +1-0" {
		t.Errorf("got %s", got)
	}
	ctx := context.Background()
	files, err := w.find().Diff(ctx)
	if err != nil {
		t.Fatal(err)
	}
	u, err := w.find().Undo(ctx, files[:1])
	if err != nil || w.diff() != "added b +1-0" {
		t.Fatalf("undo: %v, %s", err, w.diff())
	}
	w.git("restore", "--source="+u.Ref(), "a")
	if _, err := w.find().Commit(ctx, "one\n\nbody"); err != nil {
		t.Fatal(err)
	}
	if got := w.git("status", "--porcelain") + w.git("log", "--format=%B"); strings.TrimSpace(got) != "one\n\nbody" {
		t.Errorf("after the commit: %q", got)
	}
}

// TestNoTree: only what is in a work tree that lies around it counts.
func TestNoTree(t *testing.T) {
	t.Parallel()
	w := begin(t, "d/a=a\n")
	other := t.TempDir()
	for what, dir := range map[string]string{
		"plain directory": other, "nothing": filepath.Join(other, "none"), "git's own directory": filepath.Join(w.dir, ".git"),
	} {
		if r, err := find(context.Background(), t.TempDir(), dir); r != nil || err != nil {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	if r, err := find(context.Background(), t.TempDir(), filepath.Join(w.dir, "d")); err != nil || r == nil || r.top != w.dir {
		t.Errorf("a directory in it: %+v, %v", r, err)
	}
	// A git directory that is somebody else's is not taken for one's own; a worktree's is.
	if err := os.WriteFile(filepath.Join(other, ".git"), []byte("gitdir: "+w.dir+"/.git\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := find(context.Background(), t.TempDir(), other); r != nil || err != nil {
		t.Errorf("somebody else's: %+v, %v", r, err)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	w.git("worktree", "add", "-q", "-b", "side", linked)
	if r, err := find(context.Background(), t.TempDir(), linked); err != nil || r == nil || r.common != filepath.Join(w.dir, ".git") {
		t.Errorf("a worktree: %+v, %v", r, err)
	} else if err := os.WriteFile(filepath.Join(linked, "d/a"), []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	} else if _, err := r.Commit(context.Background(), "side"); err != nil || w.git("log", "-1", "--format=%s", "side") != "side\n" || w.git("status", "--porcelain") != "" {
		t.Errorf("a commit in it: %v", err)
	}
	w.git("config", "core.worktree", other)
	if r, err := find(context.Background(), t.TempDir(), w.dir); r != nil || err != nil {
		t.Errorf("a work tree elsewhere: %+v, %v", r, err)
	}
	w.git("--work-tree=.", "config", "core.worktree", "/")
	if r, err := find(context.Background(), t.TempDir(), w.dir); r != nil || err != nil {
		t.Errorf("a work tree above: %+v, %v", r, err)
	}
}

// TestHostile: nothing that a repository says is run, looked at or written to.
func TestHostile(t *testing.T) {
	t.Parallel()
	w := begin(t, "a=a\n", "b=b\n", ".gitattributes=* filter=evil diff=evil merge=evil\n")
	ran := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$0 $*\" >> "+ran+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	hooks := t.TempDir()
	for _, hook := range []string{"pre-commit", "post-commit", "post-index-change", "reference-transaction", "post-checkout", "commit-msg", "prepare-commit-msg"} {
		if err := os.Symlink(evil, filepath.Join(hooks, hook)); err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(w.dir, ".git/hooks", hook))
		if err := os.Symlink(evil, filepath.Join(w.dir, ".git/hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{
		"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command", "diff.external",
		"merge.evil.driver", "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.gitProxy", "gpg.program", "core.alternateRefsCommand",
		"credential.helper", "remote.origin.uploadpack", "uploadpack.packObjectsHook", "sequence.editor", "interactive.diffFilter",
	} {
		w.git("config", key, evil)
	}
	for key, value := range map[string]string{
		"core.hooksPath": hooks, "filter.evil.required": "true", "commit.gpgSign": "true", "remote.origin.url": w.dir,
		"remote.origin.promisor": "true", "extensions.partialClone": "origin", "core.splitIndex": "false",
	} {
		w.git("config", key, value)
	}
	os.Remove(ran)
	w.write("a=changed\n", "n=new\n")
	os.Symlink("/etc/passwd", filepath.Join(w.dir, "l"))
	ctx := context.Background()
	r := w.find()
	files, err := r.Diff(ctx)
	if err != nil || shown(files) != "modified a +1-1\nadded l +1-0\nadded n +1-0" {
		t.Fatalf("%v: %s", err, shown(files))
	}
	if b, err := r.Blob(ctx, files[0].Old.ID, 100); string(b) != "a\n" || err != nil {
		t.Errorf("blob %q, %v", b, err)
	}
	if _, err := r.Blob(ctx, strings.Repeat("1", 40), 100); err == nil {
		t.Error("an object that is not there was read")
	}
	if _, err = r.Undo(ctx, files); err != nil || w.read("a") != "a\n" || w.read("n") != "?" {
		t.Fatalf("undo: %v, a %q, n %q", err, w.read("a"), w.read("n"))
	}
	w.write("a=changed\n")
	if _, err := r.Commit(ctx, "m"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(ran); err == nil {
		t.Errorf("it made git run\n%s", b)
	}
}

// TestUndo: files are as the last commit has them, staged or not, and what they had is in
// the repository as git stash has it.
func TestUndo(t *testing.T) {
	t.Parallel()
	w := begin(t, "a=a\n", "d/b=b\n", "c=c\n", "old="+strings.Repeat("some line\n", 9), "x=x\n")
	before := func() {
		w.write("a=staged\n")
		w.git("add", "a")
		w.write("a=changed\n", "e/f/new=new\n", "n\n\"m=odd\n")
		os.RemoveAll(filepath.Join(w.dir, "d"))
		w.git("mv", "old", "new name")
		os.Remove(filepath.Join(w.dir, "c"))
		os.Symlink("/etc/passwd", filepath.Join(w.dir, "c"))
		os.Chmod(filepath.Join(w.dir, "x"), 0o755)
	}
	before()
	ctx := context.Background()
	r := w.find()
	was := w.diff()
	files, err := r.Diff(ctx)
	if err != nil {
		t.Fatal(err)
	}
	u, err := r.Undo(ctx, files)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.git("status", "--porcelain"); got != "" {
		t.Errorf("after an undo:\n%s", got)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "e")); err == nil {
		t.Error("an empty directory is left")
	}
	w.git("stash", "apply", "-q", "--index", u.Ref())
	if now := w.diff(); now != was || w.git("show", ":a") != "staged\n" {
		t.Errorf("by git stash\n%s\nwas\n%s", now, was)
	}
	if got := w.read("a") + w.read("n\n\"m"); got != "changed\nodd\n" {
		t.Errorf("contents %q", got)
	}
}

// TestUndoOne leaves the others alone, staged or not.
func TestUndoOne(t *testing.T) {
	t.Parallel()
	w := begin(t, "a=a\n", "b=b\n", "c=c\n")
	w.write("a=1\n", "b=2\n", "c=3\n")
	w.git("add", "b")
	ctx := context.Background()
	files, err := w.find().Diff(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.find().Undo(ctx, files[:1]); err != nil {
		t.Fatal(err)
	}
	if got := w.git("status", "--porcelain"); got != "M  b\n M c\n" {
		t.Errorf("after an undo:\n%s", got)
	}
}

// TestRefusedUndo: nothing is overwritten that git does not have.
func TestRefusedUndo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		do         func(w *world)
		then       func(w *world) // after it was looked at
	}{
		{name: "ignored file in the place of a deleted one", want: "ignores what is there", do: func(w *world) {
			w.write(".git/info/exclude=a\n")
			w.git("rm", "-q", "--cached", "a")
			w.write("a=precious\n")
		}},
		{name: "file in the place of a directory", want: "in the way", do: func(w *world) {
			w.write(".git/info/exclude=d\n")
			os.RemoveAll(filepath.Join(w.dir, "d"))
			w.write("d=precious\n")
		}},
		{name: "directory in the place of a file", want: "is not what it was", do: func(w *world) { w.write("a=b\n") }, then: func(w *world) {
			os.Remove(filepath.Join(w.dir, "a"))
			w.write("a/precious=x\n")
		}},
		{name: "merge under way", want: "in the midst of a merge", do: func(w *world) { w.write("a=b\n", ".git/MERGE_HEAD="+strings.Repeat("1", 40)) }},
		{name: "git at work", want: "its index is locked", do: func(w *world) { w.write("a=b\n", ".git/index.lock=") }},
		{name: "submodule", want: "repository of its own", do: func(w *world) {
			in := &world{w.t, filepath.Join(w.dir, "in")}
			w.write("in/f=x\n")
			in.git("init", "-q")
			in.git("add", "-A")
			in.git("commit", "-qm", "x")
			w.git("-c", "advice.addEmbeddedRepo=false", "add", "in")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, "a=a\n", "d/b=b\n")
			c.do(w)
			ctx := context.Background()
			files, err := w.find().Diff(ctx)
			if err != nil || len(files) == 0 {
				t.Fatalf("%v, %d files", err, len(files))
			}
			if c.then != nil {
				c.then(w)
			}
			all := func() string {
				out, _ := exec.Command("sh", "-c", "cd \"$1\" && find . -path ./.git -prune -o -type f -print -exec cat {} + | sort", "-", w.dir).Output()
				return string(out)
			}
			was := all()
			if _, err := w.find().Undo(ctx, files); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("undo: %v, want %q", err, c.want)
			}
			if now := all(); now != was {
				t.Errorf("files were\n%s\nand are\n%s", was, now)
			}
			if strings.Contains(w.git("for-each-ref"), git.UndoneRefs) {
				t.Error("something was kept")
			}
		})
	}
}

// TestMany: as many files as a changeset may have, and one more.
func TestMany(t *testing.T) {
	t.Parallel()
	w := begin(t, "a=a\n")
	for i := range maxFiles {
		if err := os.WriteFile(filepath.Join(w.dir, fmt.Sprintf("f%04d", i)), []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := w.find().Diff(context.Background())
	if err != nil || len(files) != maxFiles {
		t.Errorf("%d files, %v", len(files), err)
	}
	w.write("more=x\n")
	if _, err := w.find().Diff(context.Background()); err != errTooMany {
		t.Errorf("one more: %v", err)
	}
}

// TestWhileWritten: files that change while they are looked at are no error, and the
// state is what they are in the end.
func TestWhileWritten(t *testing.T) {
	t.Parallel()
	w := begin(t, "a=a\n")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				// Git maps it, and has a bus error when it is cut short then.
				os.WriteFile(filepath.Join(w.dir, "a"), bytes.Repeat(fmt.Appendf(nil, "%09d\n", i), 1<<16), 0o644) //nolint:errcheck // the next one may
				os.WriteFile(filepath.Join(w.dir, "b"), []byte(fmt.Sprint(i)), 0o644)                              //nolint:errcheck // as above
				os.Remove(filepath.Join(w.dir, "b"))
			}
		}
	}()
	r := w.find()
	for range 20 {
		if _, err := r.Diff(context.Background()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-stopped
	w.write("a=end\n")
	if got := w.diff(); got != "modified a +1-1" {
		t.Errorf("in the end: %s", got)
	}
}
