package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/internal/hosttest"
)

// TestTasks: a task is given through the hub to the host that has the label, by the command
// line that is there for any host; kill -9 of the hub while it works loses nothing.
func TestTasks(t *testing.T) {
	t.Parallel()
	home, build := hosttest.New(t, ""), hosttest.New(t, "")
	hub, addr := runHub(t, home)
	_, rest, _ := strings.Cut(hub.text(), "hosts join at nats://")
	nats := strings.Fields(rest)[0]
	start(t, build, home.Tandemux("hub", "invite", "build", "--label", "gpu"), "join")
	home.Eventually("the host is here", func() bool { return fleet(home)["build"].Present })
	token := filepath.Join(home.Dir, "token")
	home.Must(os.WriteFile(token, []byte(home.Tandemux("hub", "token", "new", "me", "--scope", "admin")), 0o600))
	self, err := os.Executable()
	home.Must(err)
	script, ran := filepath.Join(home.Dir, "script"), filepath.Join(home.Dir, "ran")
	home.Must(os.WriteFile(script, []byte("prompt\nsay one\nshell a echo x >>"+ran+"; sleep 5\nsay two\n"), 0o600))
	at := []string{"--host", "ws://" + addr, "--token-file", token}
	run := func(args ...string) string { home.Helper(); return home.Tandemux(append(at, args...)...) }

	id := strings.TrimSpace(run("task", "new", "--no-sandbox", "--where", "gpu", "--name", "far", "--agent-command", self+" agent "+script, "-m", "go"))
	id = id[strings.LastIndexByte(id, '\n')+1:]
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the tasks: %s\nthe queue: %s", run("task", "ls"), run("hub", "queue"))
		}
	})
	home.Eventually("it works", func() bool {
		return strings.Contains(run("task", "ls"), "on build") && strings.Contains(run("hub", "queue"), "build works on 1")
	})
	hub.Process.Kill() //nolint:errcheck // it runs
	hub.Wait()         //nolint:errcheck // it was killed
	start(t, home, "", "hub", "serve", "--listen", addr, "--nats", nats)
	home.Eventually("the hub is back, and the task done", func() bool {
		out, err := home.Command(append(at, "task", "ls")...).Output()
		return err == nil && strings.Contains(string(out), "IDLE")
	})
	if out := run("task", "watch", id); !strings.Contains(out, "one") || !strings.Contains(out, "two") {
		t.Errorf("it said %q", out)
	}
	if text, err := os.ReadFile(ran); err != nil || string(text) != "x\n" {
		t.Errorf("it was done %q, %v", text, err)
	}
	// A repository goes there, and what is made of it comes home, as docs/fleet.md has it.
	if _, err := exec.LookPath("git"); err == nil {
		sh := func(line string) string {
			home.Helper()
			cmd := exec.Command("sh", "-ec", line)
			cmd.Dir, cmd.Env = home.Dir, home.Env
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
			return string(out)
		}
		sh("git config --global user.name me; git config --global user.email me@x; git init -q -b main app; cd app; echo one >a; git add a; git commit -qm first")
		home.Must(os.WriteFile(script, []byte("prompt\nshell a echo two >>a\n"), 0o600))
		in := func(args ...string) string {
			home.Helper()
			cmd := home.Command(append(at, args...)...)
			cmd.Dir = filepath.Join(home.Dir, "app")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
			return string(out)
		}
		in("task", "new", "--no-sandbox", "--where", "gpu", "--name", "fix", "--agent-command", self+" agent "+script, "-m", "go", "--wait")
		home.Eventually("its result is here", func() bool { return !strings.Contains(run("task", "ls"), "RUNNING") })
		if out := in("ws", "diff", "fix"); !strings.Contains(out, "+two") {
			t.Errorf("the diff is %s", out)
		}
		in("ws", "merge", "fix", "--yes")
		in("task", "rm", "fix")
		if got := sh("cd app; cat a; git branch; git status --porcelain"); got != "one\ntwo\n* main\n" {
			t.Errorf("home has %q", got)
		}
		if list, err := os.ReadDir(filepath.Join(build.Dir, ".local", "state", "tandemux", "hub-files")); err != nil || len(list) > 0 {
			t.Errorf("the host has %v, %v", list, err)
		}
	}
	run("hub", "drain", "build")
	run("hub", "limits", "--person", "3", "--of-label", "gpu=1", "--bytes", "20G")
	if out := run("hub", "limits") + run("hub", "queue"); !strings.Contains(out, "3 at once of each person") || !strings.Contains(out, "1 at once of those that ask for gpu") || !strings.Contains(out, "20480 MiB of files") || !strings.Contains(out, "build is drained") {
		t.Errorf("limits and queue: %s", out)
	}
	if out, err := home.Command("task", "new", "--where", "gpu", "--agent-command", "true", "--workspace", "none").CombinedOutput(); err == nil || !strings.Contains(string(out), "are for a hub") {
		t.Errorf("where at a host: %v, %s", err, out)
	}
}
