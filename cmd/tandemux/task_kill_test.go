package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
	"tandemux/internal/soak"
)

// killed is a user whose host is killed in the middle of things.
type killed struct {
	*testing.T
	home, run, bin, repo string
}

func startKilled(t *testing.T) *killed {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	home, run, bin := aHome(t, "tandemux", "scripted-agent")
	for k, v := range map[string]string{
		"SHELL": "/bin/sh", "TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TANDEMUX_TERMINAL": "",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
	} {
		t.Setenv(k, v)
	}
	x := &killed{T: t, home: home, run: run, bin: bin, repo: filepath.Join(home, "repo")}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(home, "state", "tandemux", "host.log"))
			t.Logf("hosts' log:\n%s", log[max(0, len(log)-20000):])
		}
	})
	t.Setenv("PATH", x.bin+":"+os.Getenv("PATH"))
	x.must(os.Mkdir(x.repo, 0o700))
	for i := range soak.Short(50, 500) {
		x.must(os.WriteFile(filepath.Join(x.repo, fmt.Sprintf("file%03d.txt", i)), []byte(strings.Repeat(fmt.Sprintln("line", i), 50)), 0o600))
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "one"}} {
		x.git(args...)
	}
	return x
}

func (x *killed) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *killed) git(args ...string) string {
	x.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = x.repo
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

// try runs a command of the program, which may fail.
func (x *killed) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(x.bin, "tandemux"), args...)
	cmd.Dir = x.repo
	out, err := cmd.Output()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		err = fmt.Errorf("%w: %s", err, ended.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

func (x *killed) tandemux(args ...string) string {
	x.Helper()
	out, err := x.try(args...)
	if err != nil {
		x.Fatalf("tandemux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

// kill ends the host without a word.
func (x *killed) kill() {
	if pid := hostPid(filepath.Join(x.run, "tandemux")); pid > 0 {
		syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
	}
}

// status waits until a task has one.
func (x *killed) status(task, want string) {
	x.Helper()
	out := ""
	for end := time.Now().Add(waitLimit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var t store.Task
		out, _ = x.try("task", "show", task, "--json")
		if json.Unmarshal([]byte(out), &t) == nil && string(t.Status) == want {
			return
		}
	}
	all, _ := x.try("task", "ls", "--all")
	x.Fatalf("the task %s does not become %s: %s\n%s", task, want, out, all)
}

func (x *killed) script(name, text string) string {
	x.Helper()
	path := filepath.Join(x.home, "agents", name)
	x.must(os.MkdirAll(filepath.Dir(path), 0o700))
	x.must(os.WriteFile(path, []byte(text), 0o600))
	return "scripted-agent " + path
}

// saying waits until a task's stream has a text.
func (x *killed) saying(task, text string) {
	x.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(x.bin, "tandemux"), "task", "watch", task, "--follow", "--json")
	out, err := cmd.StdoutPipe()
	x.must(err)
	x.must(cmd.Start())
	defer cmd.Wait() //nolint:errcheck // killed
	defer cmd.Process.Kill()
	for in := bufio.NewScanner(out); in.Scan(); {
		if strings.Contains(in.Text(), text) {
			return
		}
	}
	x.Fatalf("%s does not say %q", task, text)
}

// clean checks that nothing is left that no task owns: no workspaces, no worktrees.
func (x *killed) clean(tasks int) {
	x.Helper()
	left, _ := os.ReadDir(filepath.Join(x.home, "state", "tandemux", "tasks"))
	if len(left) != tasks {
		x.Errorf("%d tasks have %d directories: %v", tasks, len(left), left)
	}
	if out := x.git("worktree", "list"); strings.Count(out, "\n") != 1+tasks {
		x.Errorf("%d tasks have the worktrees\n%s", tasks, out)
	}
	if out := x.git("fsck", "--no-progress", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		x.Errorf("the repository is damaged:\n%s", out)
	}
	if out := x.git("status", "--porcelain"); out != "" {
		x.Errorf("the user's tree has changed:\n%s", out)
	}
}

// TestTaskHostKilled: the host is killed while a task's agent starts, and in a turn;
// the next one goes on with it, or says what was lost (U44, U47).
func TestTaskHostKilled(t *testing.T) {
	if beside(t) {
		return
	}
	x := startKilled(t)
	once := filepath.Join(x.home, "once")
	slow := x.script("slow.txt", "once "+once+"\non session/new hang\nalways\nprompt\nsay at last\n")
	x.tandemux("task", "new", "--no-sandbox", "--agent-command", slow, "--name", "slow", "-m", "first")
	x.await("slow", "starts", func() bool { _, err := os.Stat(once); return err == nil })
	x.kill() // while the session is opened
	x.await("slow", "has said it", func() bool { out, _ := x.try("task", "show", "slow"); return strings.Contains(out, "at last") })
	x.tandemux("task", "rm", "slow")

	agent := x.script("hangs.txt", "prompt\nonce "+once+"2\nsay hanging\nhang\nalways\nsay done: $PROMPT\n")
	id := x.tandemux("task", "new", "--no-sandbox", "--agent-command", agent, "--name", "t", "-m", "first")
	x.tandemux("task", "send", "t", "second")
	x.saying("t", "hanging")
	x.kill() // in the turn
	x.status("t", "IDLE")
	got := x.tandemux("task", "show", id, "--json")
	for _, want := range []string{`"FAILED"`, `"DONE"`, "done: text:second"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in %s", want, got)
		}
	}
	stream := x.tandemux("task", "watch", "t", "--json")
	if n := strings.Count(stream, `{"type":"finish"`); n != 2 {
		t.Errorf("the stream tells the end of %d turns:\n%s", n, stream)
	}
	x.clean(1)
	x.tandemux("task", "rm", "t")
	x.clean(0)
}

// TestAPIHostKilled: a command that uses the host's HTTP interface goes on with the next
// host, too, when one dies after it was found to be awake.
func TestAPIHostKilled(t *testing.T) {
	soak.Long(t, "TestTaskHostKilled kills a host, too")
	if beside(t) {
		return
	}
	x := startKilled(t)
	x.tandemux("host")
	p := endpoint.Endpoint{Dirs: local.FindDirs()}
	c, err := p.API(t.Context(), false)
	x.must(err)
	defer c.Close()
	pid := hostPid(p.Dirs.Runtime)
	x.kill()
	x.await("the host", "has died", func() bool { return hostPid(p.Dirs.Runtime) == 0 })
	resp, err := c.Open(t.Context(), apiclient.Request{Method: http.MethodGet, Path: "/tasks"})
	x.must(err)
	resp.Body.Close()
	if next := hostPid(p.Dirs.Runtime); next == 0 || next == pid {
		t.Errorf("the next host is %d, the one before was %d", next, pid)
	}
}

// TestTaskHostKilledAnywhere: the host is killed at any moment of making a task of a
// worktree or a copy, of a turn that writes, of a pull, and of deleting it. Either the
// task is there and whole, or nothing of it is; what was pulled is whole, or is not.
func TestTaskHostKilledAnywhere(t *testing.T) {
	soak.Long(t, "the host is killed at random")
	if beside(t) {
		return
	}
	x := startKilled(t)
	rounds := soak.Size(t, 1, 30)
	r := rand.New(rand.NewPCG(soak.Seed(t), 1))
	agent := x.script("writer.txt", `prompt
call w fs/write_text_file {"sessionId":"$SESSION","path":"$CWD/made.txt","content":"$PROMPT"}
say wrote
`)
	x.tandemux("host")
	for n := range rounds {
		workspace := []string{"worktree", "copy:."}[r.IntN(2)]
		name, out := fmt.Sprint("task", n), filepath.Join(x.home, fmt.Sprint("out", n))
		killAt(r, 150, x, "task", "new", "--no-sandbox", "--agent-command", agent, "--name", name, "--workspace", workspace)
		x.tandemux("task", "ls")
		if got, err := x.try("task", "show", name); err != nil || strings.Contains(got, "DELETING") {
			x.await(name, "is gone wholly", func() bool { _, err := x.try("task", "show", name); return err != nil && !x.anything() })
			x.tandemux("task", "new", "--no-sandbox", "--agent-command", agent, "--name", name, "--workspace", workspace)
		}
		x.status(name, "IDLE")
		killAt(r, 100, x, "task", "send", name, "hello", "--wait")
		x.await(name, "has nothing to do", func() bool {
			got, err := x.try("task", "show", name, "--json")
			return err == nil && strings.Contains(got, `"IDLE"`)
		})
		x.tandemux("task", "send", name, "hello", "--wait")
		killAt(r, 60, x, "task", "pull", name, "--out", out)
		if _, err := os.Stat(filepath.Join(out, "workspace")); err != nil {
			if left, _ := filepath.Glob(out + "/*"); len(left) > 0 {
				t.Errorf("a pull that failed left %v", left)
			}
			x.tandemux("task", "pull", name, "--out", out)
		}
		if files, _ := filepath.Glob(filepath.Join(out, "workspace", "*.txt")); len(files) != 501 {
			t.Errorf("the pull wrote %d files", len(files))
		}
		killAt(r, 100, x, "task", "rm", "--force", name)
		if _, err := x.try("task", "show", name); err == nil {
			if out, err := x.try("task", "rm", "--force", name); err != nil {
				x.await(name, "is gone: "+out, func() bool { _, err := x.try("task", "show", name); return err != nil })
			}
		}
		x.await(name, "is deleted wholly", func() bool { return !x.anything() })
		if t.Failed() {
			t.Fatalf("in round %d", n)
		}
	}
	x.clean(0) // a branch may stay: a deletion that was cut off gives up nothing
}

// anything reports whether a task or a part of one is there.
func (x *killed) anything() bool {
	left, _ := os.ReadDir(filepath.Join(x.home, "state", "tandemux", "tasks"))
	trees, _ := os.ReadDir(filepath.Join(x.home, "state", "tandemux", "filesystems"))
	return len(left) > 0 || len(trees) > 0 || strings.Count(x.git("worktree", "list"), "\n") != 1
}

func (x *killed) await(task, what string, ok func() bool) {
	x.Helper()
	for end := time.Now().Add(waitLimit); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			left, _ := filepath.Glob(filepath.Join(x.home, "state", "tandemux", "*", "*"))
			x.Fatalf("waited %v until %s %s: %v\n%s", waitLimit, task, what, left, x.git("worktree", "list"))
		}
	}
}

// killAt runs a command and kills the host at a moment of its first ms milliseconds,
// or, by chance, not at all.
func killAt(r *rand.Rand, ms int, x *killed, args ...string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.try(args...) //nolint:errcheck // it may have been killed
	}()
	if r.IntN(5) > 0 {
		timer := time.NewTimer(time.Duration(r.IntN(ms*1000)) * time.Microsecond)
		defer timer.Stop()
		select {
		case <-timer.C:
			x.kill()
		case <-done:
		}
	}
	<-done
}

// TestTaskFollowedOverDeath: who follows a task goes on with the next host when one dies in
// a turn, and misses nothing (U47); the turn was interrupted, and that is what is said.
func TestTaskFollowedOverDeath(t *testing.T) {
	soak.Long(t, "TestTaskHostKilled kills a host in a turn, too")
	if beside(t) {
		return
	}
	x := startKilled(t)
	once := filepath.Join(x.home, "once")
	agent := x.script("hangs.txt", "prompt\nonce "+once+"\nsay hanging\nhang\nalways\nsay done: $PROMPT\n")
	x.tandemux("task", "new", "--no-sandbox", "--agent-command", agent, "--name", "t")
	follow := func(args ...string) (wait func() (stdout, stderr string, err error)) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		cmd := exec.CommandContext(ctx, filepath.Join(x.bin, "tandemux"), args...)
		var out, errs strings.Builder
		cmd.Dir, cmd.Stdout, cmd.Stderr = x.repo, &out, &errs
		x.must(cmd.Start())
		return func() (string, string, error) {
			defer cancel()
			err := cmd.Wait()
			return out.String(), errs.String(), err
		}
	}
	sent := follow("task", "send", "t", "first", "--wait")
	x.saying("t", "hanging")
	watch := follow("task", "watch", "t", "--json")
	x.saying("t", "hanging")
	x.tandemux("task", "send", "t", "second")
	x.kill()
	if out, errs, err := sent(); err == nil || !strings.Contains(out, "hanging") || !strings.Contains(errs, "the host was restarted while the agent was at work") {
		t.Errorf("send --wait: %v: %s%s", err, out, errs)
	}
	out, errs, err := watch()
	if err != nil || errs != "" || strings.Count(out, `"type":"start"`) != 2 || strings.Count(out, `"type":"finish"`) != 2 || !strings.Contains(out, `"outcome":"interrupted"`) || !strings.Contains(out, "done: text:second") {
		t.Errorf("watch: %v: %s%s", err, out, errs)
	}
	x.kill() // while nothing runs
	x.status("t", "IDLE")
	if got := x.tandemux("task", "show", "t", "--json"); !strings.Contains(got, `"outcome": "done"`) {
		t.Errorf("the last turn: %s", got)
	}
	x.must(os.Remove(once))
	x.tandemux("task", "send", "t", "third")
	x.await("t", "hangs", func() bool { _, err := os.Stat(once); return err == nil })
	x.kill()
	x.status("t", "IDLE")
	if got := x.tandemux("task", "show", "t", "--json"); !strings.Contains(got, `"outcome": "interrupted"`) {
		t.Errorf("the last turn: %s", got)
	}
	if ls := x.tandemux("task", "ls"); !strings.Contains(ls, "interrupted") || !strings.Contains(ls, "the host was restarted") {
		t.Errorf("the list is\n%s", ls)
	}
}
