package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tandemux/internal/soak"
)

// agentsOf are the processes of the agents of this test's tasks, by what they were started
// with, and whatever else works in a task's files.
func (x *killed) agentsOf() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		args, _ := os.ReadFile(dir + "/cmdline")
		cwd, _ := os.Readlink(dir + "/cwd")
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if strings.HasPrefix(string(args), "scripted-agent\x00"+x.home) || strings.HasPrefix(cwd, filepath.Join(x.home, "state", "tandemux", "tasks")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// held is a point where a program waits as long as a test wants it to.
type held struct {
	x        *killed
	at, hold string
}

func (x *killed) held(name string) held {
	return held{x, filepath.Join(x.home, name+".at"), filepath.Join(x.home, name+".hold")}
}

// line is the shell's line that waits.
func (h held) line() string {
	return fmt.Sprintf("if test -e %s; then touch %s; while test -e %s; do sleep 0.02; done; fi", h.hold, h.at, h.hold)
}

func (h held) set() {
	os.Remove(h.at)
	h.x.must(os.WriteFile(h.hold, nil, 0o600))
}

func (h held) reached(task string) {
	h.x.Helper()
	h.x.await(task, "gets there", func() bool { _, err := os.Stat(h.at); return err == nil })
}

func (h held) free() { h.x.must(os.Remove(h.hold)) }

// killAgent kills the agents that work, and nothing else.
func (x *killed) killAgent() {
	x.Helper()
	pids := x.agentsOf()
	if len(pids) == 0 {
		x.Error("there is no agent to kill")
	}
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
	}
}

// noLocks checks that no git left a lock that it knew of: one with something in it.
func (x *killed) noLocks() {
	x.Helper()
	for _, dir := range []string{filepath.Join(x.repo, ".git"), filepath.Join(x.home, "state", "tandemux", "tasks")} {
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error { //nolint:errcheck // what is not there has none
			if !strings.HasSuffix(path, ".lock") {
				return nil
			}
			if info, err := d.Info(); err == nil && info.Size() > 0 {
				x.Errorf("left: %s", path)
			}
			return nil
		})
	}
}

// outcome checks how a task's last turn ended.
func (x *killed) outcome(task, want string) {
	x.Helper()
	x.status(task, "IDLE")
	if got := x.tandemux("task", "show", task, "--json"); !strings.Contains(got, `"outcome": "`+want+`"`) {
		x.Errorf("the last turn of %s is not %s: %s", task, want, got)
	}
}

// background runs a command that may fail, and gives what waits for its end.
func (x *killed) background(args ...string) (wait func() error) {
	done := make(chan error, 1)
	go func() {
		_, err := x.try(args...)
		done <- err
	}()
	return func() error { return <-done }
}

// TestTaskKilledInEveryPhase: the host, or the agent, is killed while a task is set up, works,
// asks, waits for others, is checked, merged, updated, or deleted. No turn hangs, no work is
// lost, what was cut off can be done again, and nothing is left over (U44).
func TestTaskKilledInEveryPhase(t *testing.T) {
	soak.Long(t, "agents and hosts are killed in every phase")
	if beside(t) {
		return
	}
	x := startKilled(t)
	setup, turn, check := x.held("setup"), x.held("turn"), x.held("check")
	x.must(os.MkdirAll(filepath.Join(x.home, "config", "tandemux"), 0o700))
	x.must(os.WriteFile(filepath.Join(x.home, "config", "tandemux", "config.toml"), fmt.Appendf(nil,
		"[tasks-at-once]\nall = 2\n[repositories.r]\ndir = %q\nsetup = %q\ncheck = %q\n", x.repo, setup.line(), check.line()), 0o600))
	works := x.script("works.txt", `prompt
call w fs/write_text_file {"sessionId":"$SESSION","path":"$CWD/made.txt","content":"$PROMPT\n"}
shell w `+turn.line()+`
say wrote
`)
	asks := x.script("asks.txt", "prompt\n"+`once `+filepath.Join(x.home, "asked")+`
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"go","kind":"execute"},"options":[{"optionId":"once","name":"Once","kind":"allow_once"}]}
always
say fine
`)
	create := func(name, agent string) {
		t.Helper()
		x.tandemux("task", "new", "--no-sandbox", "--agent-command", agent, "--name", name, "--workspace", "worktree")
	}

	setup.set()
	create("t", works)
	setup.reached("t")
	x.kill()
	x.tandemux("task", "ls")
	setup.free()
	x.status("t", "IDLE")

	for _, who := range []struct {
		outcome string
		kill    func()
	}{{"interrupted", x.kill}, {"failed", x.killAgent}} {
		turn.set()
		x.tandemux("task", "send", "t", "cut off")
		turn.reached("t")
		who.kill()
		x.tandemux("task", "ls")
		turn.free()
		x.outcome("t", who.outcome)

		os.Remove(filepath.Join(x.home, "asked"))
		create("asks", asks)
		x.tandemux("task", "send", "asks", "may I")
		x.status("asks", "WAITING")
		who.kill()
		x.outcome("asks", who.outcome)
		if out, err := x.try("task", "answer", "asks", "yes"); err == nil {
			t.Errorf("an answer to nobody: %s", out)
		}
		x.tandemux("task", "send", "asks", "again", "--wait")
		x.outcome("asks", "done")
		x.tandemux("task", "cancel", "asks")
		x.tandemux("task", "rm", "asks")
	}

	turn.set() // two work, and one waits for them
	for _, name := range []string{"b", "c"} {
		create(name, works)
		x.status(name, "IDLE")
		x.tandemux("task", "send", name, "one")
	}
	turn.reached("b")
	x.status("b", "RUNNING")
	x.status("c", "RUNNING")
	x.tandemux("task", "send", "t", "waits")
	x.status("t", "PENDING")
	x.kill()
	x.tandemux("task", "ls")
	turn.free()
	x.outcome("t", "done")
	for _, name := range []string{"b", "c"} {
		x.outcome(name, "interrupted")
		x.tandemux("task", "rm", "--force", name)
	}

	check.set()
	merged := x.background("ws", "merge", "t", "--yes")
	check.reached("t")
	x.kill()
	check.free()
	err := merged() // by the next host, if there was time
	if out := x.git("log", "--oneline", "main"); (err == nil) != (strings.Count(out, "\n") == 2) {
		t.Errorf("%v, and it is merged: %s", err, out)
	}

	r := rand.New(rand.NewPCG(soak.Seed(t), 2))
	for n := range soak.Size(t, 1, 60) {
		text := fmt.Sprint("round ", n)
		x.tandemux("task", "send", "t", text, "--wait")
		killAt(r, 150, x, "ws", "merge", "t", "--yes")
		x.try("ws", "merge", "t", "--yes") //nolint:errcheck // it may be merged
		if out := x.git("show", "main:made.txt"); !strings.Contains(out, text) {
			t.Fatalf("round %d is not merged: %s", n, out)
		}
		x.must(os.WriteFile(filepath.Join(x.repo, "new.txt"), []byte(text), 0o600))
		x.git("add", ".")
		x.git("commit", "-q", "-m", text)
		killAt(r, 200, x, "ws", "update", "t")
		x.tandemux("ws", "update", "t")
		killAt(r, 60, x, "ws", "diff", "t")
		if got := x.tandemux("task", "show", "t", "--json"); !strings.Contains(got, `"IDLE"`) {
			t.Errorf("after an update: %s", got)
		}
		x.noLocks()
		x.clean(1)
		if t.Failed() {
			t.Fatalf("in round %d", n)
		}
	}
	x.tandemux("task", "cancel", "t")
	x.tandemux("task", "rm", "t")
	x.clean(0)
	x.await("every task", "leaves no process", func() bool { return len(x.agentsOf()) == 0 })
}
