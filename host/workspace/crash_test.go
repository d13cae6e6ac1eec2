package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/host/workspace/filetree"
	"tandemux/internal/soak"
)

// job is what a victim does until it is killed.
type job struct {
	What, State, Dir, Out string
}

// victim does a job over and over, and says on stdout before each time.
func victim(text string) {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		panic(err)
	}
	s, err := Open(Options{State: j.State})
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		fmt.Println(i)
		if err := j.do(s, i); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
}

func (j *job) do(s *Store, i int) error {
	id := "w" + strconv.Itoa(i)
	switch j.What {
	case "copy", "worktree":
		spec := Spec{Kind: Kind(j.What), Dir: j.Dir, Name: "n"}
		w, err := s.Create(background, id, spec)
		if err != nil {
			return err
		}
		if i%2 == 1 {
			if _, err = w.Delete(background, false); err == nil && j.What == "copy" {
				err = s.RemoveTree(id)
			}
		}
		return err
	case "write":
		t, err := s.Tree("fs")
		if err != nil {
			return err
		}
		text := strings.Repeat(strconv.Itoa(i)+"\n", 300_000*(i%3/2)+1)
		_, err = t.Write(background, filetree.Write{Path: "f", Body: strings.NewReader(text), Key: strconv.Itoa(i)})
		return err
	case "up", "down":
		a, err := s.Workspace("a")
		if err != nil {
			return err
		}
		if j.What == "up" {
			for n := range 40 {
				if err := os.WriteFile(filepath.Join(a.Dir(), fmt.Sprint("f", n)), []byte(strconv.Itoa(i)), 0o644); err != nil {
					return err
				}
			}
			_, err = a.SyncUp(background, Neither)
			return err
		}
		b, err := s.Workspace("b")
		if err != nil {
			return err
		}
		for n := range 40 {
			if err := os.WriteFile(filepath.Join(a.Dir(), fmt.Sprint("f", n)), []byte(strconv.Itoa(i)), 0o644); err != nil {
				return err
			}
		}
		if _, err := a.SyncUp(background, Neither); err != nil {
			return err
		}
		_, err = b.SyncDown(background, Neither)
		return err
	case "resolve":
		for n, id := range []string{"a", "b"} {
			w, err := s.Workspace(id)
			if err != nil {
				return err
			}
			for f := range 40 {
				if err := os.WriteFile(filepath.Join(w.Dir(), fmt.Sprint("f", f)), fmt.Append(nil, id, i), 0o644); err != nil {
					return err
				}
			}
			if n == 0 {
				_, err = w.SyncUp(background, PreferWorkspace)
			} else if _, err = w.SyncUp(background, Neither); err == nil {
				_, err = w.Resolve(background, ResolveOptions{Keep: []Prefer{PreferWorkspace, PreferSource}[i%2]})
			}
			if err != nil {
				return err
			}
		}
		return nil
	case "merge":
		w, err := s.Workspace("u")
		if err != nil {
			return err
		}
		for n := range 40 {
			if err := os.WriteFile(filepath.Join(w.Dir(), fmt.Sprint("f", n)), []byte(strconv.Itoa(i)), 0o644); err != nil {
				return err
			}
		}
		_, err = w.Merge(background, MergeOptions{Message: "m"})
		return err
	case "update":
		w, err := s.Workspace("u")
		if err != nil {
			return err
		}
		var b strings.Builder
		b.WriteString("commit refs/heads/up\ncommitter A <a@b> 0 +0000\ndata 0\nfrom refs/heads/up^0\n")
		for n := range 40 {
			fmt.Fprintf(&b, "M 100644 inline f%d\ndata %d\n%d\n", n, len(strconv.Itoa(i)), i)
		}
		if _, err := s.git(j.Dir).From(strings.NewReader(b.String())).Run(background, "fast-import", "--quiet", "--force"); err != nil {
			return err
		}
		_, err = w.Update(background, UpdateOptions{From: "up"})
		return err
	case "pull":
		a, err := s.Workspace("a")
		if err != nil {
			return err
		}
		if _, err := pull(everything(a), j.Out, false); err != nil {
			return err
		}
		return os.RemoveAll(j.Out)
	}
	return errors.New("no such job")
}

// kill runs a victim and kills it after a while.
func kill(t *testing.T, j job, after time.Duration) {
	t.Helper()
	text := must(json.Marshal(j))(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TANDEMUX_WORKSPACE_VICTIM="+string(text))
	out := must(cmd.StdoutPipe())(t)
	var said strings.Builder
	cmd.Stderr = &said
	must(0, cmd.Start())(t)
	first := make([]byte, 1)
	if _, err := out.Read(first); err != nil { // it has begun
		t.Fatalf("the victim said nothing: %s", said.String())
	}
	<-time.After(after)
	must(0, cmd.Process.Kill())(t)
	rest := make([]byte, 1<<16)
	n, _ := out.Read(rest)
	if strings.Contains(string(rest[:n]), "failed") {
		t.Errorf("the victim failed by itself: %s", rest[:n])
	}
	_ = cmd.Wait()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !ws.Signaled() {
		t.Errorf("the victim ended by itself: %v %s", cmd.ProcessState, said.String())
	}
	for deadline := time.Now().Add(20 * time.Second); atWork(j.State) || atWork(j.Dir); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a git of the victim's does not end")
		}
	}
}

// atWork reports whether a process is about a directory: a git goes on when the one
// that began it is killed.
func atWork(dir string) bool {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		if p == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		cwd, _ := os.Readlink(p + "/cwd")
		args, _ := os.ReadFile(p + "/cmdline")
		env, _ := os.ReadFile(p + "/environ")
		if strings.Contains(cwd+"\x00"+string(args)+"\x00"+string(env), dir) {
			return true
		}
	}
	return false
}

// instants is how often each job is killed.
func instants(t *testing.T) int { return soak.Size(t, soak.Short(1, 2), 100) }

// TestKilled: whatever is killed at whatever instant, what it was at is old or new.
func TestKilled(t *testing.T) {
	t.Parallel()
	all := []string{"worktree", "up", "update", "merge", "copy", "write", "down", "pull", "resolve"}
	for _, what := range all[:soak.Short(3, len(all))] {
		t.Run(what, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			out, check := outsider(t)
			_ = out
			j := job{What: what, State: state, Dir: t.TempDir(), Out: filepath.Join(t.TempDir(), "out")}
			files := map[string]string{}
			for i := range 200 {
				files[fmt.Sprintf("d%d/f%d", i%7, i)] = strings.Repeat("x", i*40)
			}
			write(t, j.Dir, files)
			joins := what == "update" || what == "merge"
			if what == "worktree" || joins {
				commit(t, j.Dir)
			}
			home := notGit(lines(t, j.Dir))
			s := must(Open(Options{State: state}))(t)
			must(s.NewTree(background, "fs", j.Dir))(t)
			create(t, s, "a", Spec{Kind: Filesystem, Filesystem: "fs"})
			create(t, s, "b", Spec{Kind: Filesystem, Filesystem: "fs"})
			if joins {
				run(t, j.Dir, "git", "branch", "up")
				w := create(t, s, "u", Spec{Kind: Worktree, Dir: j.Dir, Name: "u"})
				must(w.Mounts(background))(t)
				write(t, w.Dir(), map[string]string{"own": "own\n"})
			}
			rng := seeded(t, uint64(len(what)))
			for range instants(t) {
				after := 120
				if joins { // of which one takes longer
					after = 600
				}
				kill(t, j, time.Duration(rng.IntN(after))*time.Millisecond)
				s := must(Open(Options{State: state}))(t)
				j.check(t, s)
				check()
				if got := notGit(lines(t, j.Dir)); what != "merge" && got != home {
					t.Fatalf("the user's directory was changed:\n%s", got)
				}
			}
		})
	}
}

// check looks at what a death left.
func (j *job) check(t *testing.T, s *Store) {
	t.Helper()
	tree := must(s.Tree("fs"))(t)
	whole(t, tree)
	switch j.What {
	case "copy", "worktree":
		j.checkCreated(t, s)
	case "write":
		if _, err := stat(tree, "f"); err == nil {
			text := read(t, tree, "f")
			first, _, _ := strings.Cut(text, "\n")
			if strings.Trim(text, first+"\n") != "" || strings.Count(text, "\n") != 1 && strings.Count(text, "\n") != 300_001 {
				t.Errorf("a file is neither old nor new: %d bytes", len(text))
			}
		}
	case "up", "down", "resolve":
		mine, theirs := Neither, Neither
		if j.What == "resolve" { // there is no end of them
			mine, theirs = PreferWorkspace, PreferSource
		}
		seen := map[string]bool{}
		for n := range 40 {
			if _, err := stat(tree, fmt.Sprint("f", n)); err == nil {
				seen[read(t, tree, fmt.Sprint("f", n))] = true
			}
		}
		if len(seen) > 1 {
			t.Errorf("the filesystem is between versions: %v", seen)
		}
		a, b := must(s.Workspace("a"))(t), must(s.Workspace("b"))(t)
		for n := range 40 { // the victim was cut off while it wrote these
			write(t, a.Dir(), map[string]string{fmt.Sprint("f", n): "again"})
			if j.What == "resolve" {
				write(t, b.Dir(), map[string]string{fmt.Sprint("f", n): "again"})
			}
		}
		if up := must(a.SyncUp(background, mine))(t); len(up.Conflicts) > 0 {
			t.Errorf("a death made conflicts: %v", up.Conflicts)
		}
		if down := must(b.SyncDown(background, theirs))(t); len(down.Conflicts) > 0 {
			t.Errorf("a death made conflicts: %v", down.Conflicts)
		}
		if x, y := lines(t, a.Dir()), lines(t, b.Dir()); x != y {
			t.Errorf("after the next synchronisation the sides differ:\n%s", differing(x, y))
		}
	case "merge":
		unlock(t, filepath.Join(j.Dir, ".git"))
		w := must(s.Workspace("u"))(t)
		write(t, w.Dir(), map[string]string{"f0": "again"})
		m, err := w.Merge(background, MergeOptions{Message: "again"})
		if err != nil {
			t.Fatalf("merge again: %+v %v", m, err)
		}
		if got := run(t, j.Dir, "git", "status", "--porcelain"); got != "" || text(t, j.Dir, "f0") != "again" {
			t.Errorf("what was merged is not what is there:\n%s", got)
		}
	case "update":
		unlock(t, filepath.Join(j.Dir, ".git"))
		w := must(s.Workspace("u"))(t)
		must(w.Diff(background, DiffOptions{}))(t)
		seen := map[string]bool{}
		for n := range 40 {
			b, _ := os.ReadFile(filepath.Join(w.Dir(), fmt.Sprint("f", n))) // none yet, at first
			seen[string(b)] = true
		}
		if len(seen) > 1 || text(t, w.Dir(), "own") != "own\n" {
			t.Errorf("the worktree is between commits: %v", seen)
		}
		if got := strings.Replace(run(t, w.Dir(), "git", "status", "--porcelain"), "?? own\n", "", 1); got != "" {
			t.Errorf("the worktree's files are not its branch's:\n%s", got)
		}
	case "pull":
		if left, err := os.ReadDir(j.Out); err == nil && len(left) == 0 { // killed before the last step of removing it
			must(0, os.Remove(j.Out))(t)
		} else if err == nil {
			if lines(t, filepath.Join(j.Out, "workspace")) == lines(t, must(s.Workspace("a"))(t).Dir()) {
				must(0, os.RemoveAll(j.Out))(t)
			} else if before, gone := lines(t, j.Out), removing(t, j.Out); !gone {
				t.Errorf("half of a pull is there:\n%s", before)
			}
		}
	}
}

// unlock removes, as a person is told to, the lock of a git that was ended in the instant
// between making it and knowing of it: that has nothing in it yet.
func unlock(t *testing.T, dir string) {
	t.Helper()
	for p := range contents(t, dir) {
		if !strings.HasSuffix(p, ".lock") {
			continue
		}
		if info := must(os.Stat(filepath.Join(dir, p)))(t); info.Size() > 0 {
			t.Errorf("left: %s", p)
		}
		must(0, os.Remove(filepath.Join(dir, p)))(t)
	}
}

// differing gives the lines that only one has.
func differing(x, y string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(x, "\n") {
		if !strings.Contains(y, line+"\n") {
			out.WriteString("- " + line + "\n")
		}
	}
	for line := range strings.SplitSeq(y, "\n") {
		if !strings.Contains(x, line+"\n") {
			out.WriteString("+ " + line + "\n")
		}
	}
	return out.String()
}

// removing reports whether a directory was being removed, which this victim does too:
// its workspace/ has not all files, but those that it has are whole.
func removing(t *testing.T, out string) bool {
	t.Helper()
	whole := true
	for p, text := range contents(t, out) {
		if !isDir(text) && strings.HasSuffix(text, checksum(nil).String()) && p != "workspace/d0/f0" {
			whole = false
		}
	}
	must(0, os.RemoveAll(out))(t)
	return whole
}

// whole reads everything that a filesystem has.
func whole(t *testing.T, tree *filetree.Tree) {
	t.Helper()
	m := must(tree.Manifest())(t)
	for i := range m.Entries {
		if !m.Entries[i].Mode.IsDir() {
			read(t, tree, m.Entries[i].Path)
		}
	}
}

func (j *job) checkCreated(t *testing.T, s *Store) {
	t.Helper()
	want := notGit(lines(t, j.Dir))
	for i := 0; ; i++ {
		id := "w" + strconv.Itoa(i)
		if _, err := os.Lstat(s.taskDir(id)); err != nil {
			if i > 300 {
				break
			}
			continue
		}
		w, err := s.Workspace(id)
		if err == nil && i%2 == 0 {
			if got := notGit(lines(t, w.Dir())); got != want {
				t.Errorf("%s is not whole:\n%s", id, got)
			}
		}
		// One that is not whole is made when it is asked for again. The filesystem of one
		// that was being deleted stays.
		if _, gone := s.Workspace(id); gone != nil && j.What == "copy" && i%2 == 1 {
			must(s.Remove(background, id, true))(t)
			if err := s.RemoveTree(id); err != nil && !errors.Is(err, filetree.ErrNotFound) {
				t.Error(err)
			}
		}
		w, err = s.Create(background, id, Spec{Kind: Kind(j.What), Dir: j.Dir, Name: "n"})
		if err != nil {
			t.Fatal(err)
		}
		if got := notGit(lines(t, w.Dir())); got != want && i%2 == 0 {
			t.Errorf("%s is not whole after another try:\n%s", id, got)
		}
		must(s.Remove(background, id, true))(t)
		if j.What == "copy" {
			if err := s.RemoveTree(id); err != nil {
				t.Error(err)
			}
		}
	}
	must(0, s.Sweep(background, func(id string) bool { return id == "a" || id == "b" }, func(id string) bool { return id == "fs" }))(t)
	for dir, most := range map[string]int{"tasks": 2, "filesystems": 1} {
		if list := must(os.ReadDir(filepath.Join(s.options.State, dir)))(t); len(list) != most {
			t.Errorf("left in %s: %v", dir, list)
		}
	}
	if j.What == "worktree" {
		if got := run(t, j.Dir, "git", "for-each-ref", "refs/heads"); strings.Count(got, "\n") != 1 {
			t.Errorf("branches left:\n%s", got)
		}
		if got := run(t, j.Dir, "git", "worktree", "list"); strings.Count(got, "\n") != 1 {
			t.Errorf("worktrees left:\n%s", got)
		}
	}
}
