package main

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRealAgentsAsTasks has real agents, from npm, work as tasks, in worktrees and
// sandboxes of their own: what the command writes is in the workspace and nowhere
// else, and is pulled. It needs what scripts/real-agents.sh installs, and is skipped
// without.
func TestRealAgentsAsTasks(t *testing.T) {
	folder, bin := realBin(t)
	if !sandboxes() {
		t.Skip("there can be no sandbox here")
	}
	for _, a := range realAgents {
		t.Run(a.name, func(t *testing.T) {
			program := filepath.Join(folder, "node_modules", ".bin", a.program)
			if _, err := os.Stat(program); err != nil {
				t.Skipf("not installed: %v", err)
			}
			m := &Model{Command: "echo real-$USERNAME-agent | tee made.txt; pwd"}
			server := httptest.NewServer(m)
			defer server.Close()
			r := newRealRun(t, bin, program, server.URL, a.env, nil)
			defer func() {
				r.tandemux("stop") //nolint:errcheck // it may have ended
				if t.Failed() {
					t.Logf("the model was asked:\n%s", strings.Join(m.Asked(), "\n"))
				}
			}()
			r.repository()
			r.deployReal(a, program, server.URL)
			began := time.Now()
			out, errs, err := r.tandemux("task", "new", "--agent", a.name, "--name", "real", "--approve", "all", "-m", "Run it and tell me what it says.", "--wait", "--timeout", "150s")
			t.Logf("%v, %d requests to the model, %v; stderr: %s", time.Since(began).Round(time.Millisecond), len(m.Asked()), err, errs)
			if err != nil || !strings.Contains(out, Answer) || !strings.Contains(out, "real-mock-agent") {
				log, _, _ := r.tandemux("logs", a.name)
				t.Fatalf("it said %q; its log:\n%s", out, log)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "made.txt")); err == nil {
				t.Error("it wrote into the user's tree")
			}
			if _, errs, err := r.tandemux("task", "pull", "real", "--out", filepath.Join(r.dir, "..", "pulled")); err != nil {
				t.Fatal(errs)
			}
			if text, _ := os.ReadFile(filepath.Join(r.dir, "..", "pulled", "workspace", "made.txt")); string(text) != "real-mock-agent\n" {
				t.Errorf("it wrote %q", text)
			}
			if _, errs, err := r.tandemux("task", "rm", "real", "--force"); err != nil {
				t.Error(errs)
			}
		})
	}
}

// adds is what each of ten agents is told to run: a line of its own, at a place where each
// adds one, or, where git has left its markers there, keeping all of both sides. gemini-cli runs
// nothing that has $() in it.
const adds = `if grep -q '^<<<<<<< ' list.txt; then sed -i '/^<<<<<<< /d; /^=======$/d; /^>>>>>>> /d' list.txt; else git branch --show-current | sed 's/^/by /' >>list.txt; fi`

// TestTenRealAgentsMerged has ten tasks of real agents, four at once, change the same lines of
// one repository, and brings home the work of all: the agents resolve what they both changed,
// a check sees each result, and a person types a few commands, which it counts.
func TestTenRealAgentsMerged(t *testing.T) {
	folder, bin := realBin(t)
	if !sandboxes() {
		t.Skip("there can be no sandbox here")
	}
	m := &Model{Command: adds}
	server := httptest.NewServer(m)
	defer server.Close()
	r := newRealRun(t, bin, filepath.Join(folder, "node_modules", ".bin", "any"), server.URL, nil, nil)
	defer func() { r.tandemux("stop") }() //nolint:errcheck // it may have ended
	r.repository()
	r.git("config", "user.name", "Person")
	r.git("config", "user.email", "person@example.org")
	write := func(path, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(r.dir, "list.txt"), "a list\n")
	r.git("add", ".")
	r.git("commit", "-qm", "a list")
	write(filepath.Join(r.of("XDG_CONFIG_HOME"), "tandemux", "config.toml"), fmt.Sprintf(
		"[tasks-at-once]\nall = 4\n[repositories.r]\ndir = %q\ncheck = \"! grep '^[<=>]' list.txt && head -n 1 list.txt | grep -q 'a list'\"\n", r.dir))
	var agents []realAgent
	for _, a := range realAgents {
		program := filepath.Join(folder, "node_modules", ".bin", a.program)
		if _, err := os.Stat(program); err != nil {
			t.Logf("%s is not installed: %v", a.name, err)
			continue
		}
		r.deployReal(a, program, server.URL)
		agents = append(agents, a)
	}
	if len(agents) == 0 {
		t.Skip("no agent is installed")
	}

	steps := 0
	step := func(args ...string) string {
		t.Helper()
		steps++
		began := time.Now()
		out, errs, err := r.tandemux(args...)
		t.Logf("%s: %v", strings.Join(args, " "), time.Since(began).Round(time.Millisecond))
		if err != nil {
			ls, _, _ := r.tandemux("task", "ls")
			t.Fatalf("%v\n%s%s\n%s", err, out, errs, ls)
		}
		return out + errs
	}
	const tasks = 10
	name := func(i int) string { return fmt.Sprint("t", i) }
	began := time.Now()
	for i := range tasks {
		step("task", "new", "--agent", agents[i%len(agents)].name, "--name", name(i), "--approve", "all", "-m", "Add your line to the list.")
	}
	resolved := 0
	for i := range tasks {
		step("task", "watch", name(i))
		resolved += strings.Count(step("ws", "merge", name(i), "--ask", "--yes"), "the agent was asked to resolve")
	}
	for i := range tasks {
		step("task", "rm", name(i))
	}
	t.Logf("%d tasks of %d agents, %d conflicts that agents resolved: all merged in %v, by %d commands", tasks, len(agents), resolved, time.Since(began).Round(time.Second), steps)
	text, err := os.ReadFile(filepath.Join(r.dir, "list.txt"))
	for i := range tasks {
		if strings.Count(string(text), "by tandemux/"+name(i)+"\n") != 1 {
			t.Errorf("%v: the work of %s is not there once:\n%s", err, name(i), text)
		}
	}
	if strings.Count(string(text), "\n") != 1+tasks || resolved != tasks-1 {
		t.Errorf("%d conflicts; the list is\n%s", resolved, text)
	}
	if got := r.git("log", "--first-parent", "--format=%s", "main"); strings.Count(got, "\n") != 2+tasks || strings.Contains(got, "Merge main") {
		t.Errorf("main's own line is\n%s", got)
	}
	if got := r.git("status", "--porcelain") + r.git("worktree", "list"); strings.Count(got, "\n") != 1 {
		t.Errorf("left over:\n%s", got)
	}
}

func (r *realRun) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

// repository makes one of the run's directory.
func (r *realRun) repository() {
	r.t.Helper()
	r.git("init", "-q", "-b", "main")
	r.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one")
}

// deployReal makes an agent of a real one: its own files go into the task's system folders by a
// wrapper, and its variables are the definition's.
func (r *realRun) deployReal(a realAgent, program, address string) {
	r.t.Helper()
	dir, err := os.MkdirTemp("", "tandemux-real")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { os.RemoveAll(dir) })
	var def, wrap strings.Builder
	wrap.WriteString("#!/bin/sh\nset -e\n")
	folders := map[string]bool{}
	for name, text := range a.files {
		text = strings.NewReplacer("MODEL", address).Replace(text)
		target := strings.Replace(name, "config/", ".config/", 1)
		wrap.WriteString("mkdir -p \"$HOME/" + filepath.Dir(target) + "\"\ncat >\"$HOME/" + target + "\" <<'END'\n" + text + "\nEND\n")
		folders[filepath.Dir(target)] = true
	}
	wrap.WriteString("exec \"$@\"\n")
	if err := os.WriteFile(filepath.Join(dir, "run"), []byte(wrap.String()), 0o700); err != nil {
		r.t.Fatal(err)
	}
	def.WriteString("name = \"" + a.name + "\"\ncommand = [\"./run\", \"" + strings.Join(append([]string{program}, a.args...), "\", \"") + "\"]\n")
	def.WriteString("[variables]\nUSERNAME = \"mock\"\n")
	for _, kv := range a.env {
		name, value, _ := strings.Cut(strings.ReplaceAll(kv, "MODEL", address), "=")
		def.WriteString(name + " = \"" + value + "\"\n")
	}
	if len(folders) > 0 {
		def.WriteString("[sandbox]\nfolders = [")
		for f := range folders {
			def.WriteString("\"" + f + "\", ")
		}
		def.WriteString("]\n")
	}
	if err := os.WriteFile(filepath.Join(dir, "tandemux-agent.toml"), []byte(def.String()), 0o600); err != nil {
		r.t.Fatal(err)
	}
	if out, errs, err := r.tandemux("deploy", "--yes", "--config", filepath.Join(dir, "tandemux-agent.toml")); err != nil {
		r.t.Fatalf("deploy: %v: %s%s\n%s", err, out, errs, def.String())
	}
}
