package main

import (
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
				r.tandemux("stop", "--yes") //nolint:errcheck // it may have ended
				if t.Failed() {
					t.Logf("the model was asked:\n%s", strings.Join(m.Asked(), "\n"))
				}
			}()
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

// deployReal makes a repository of the run's directory, and an agent of a real one:
// its own files go into the task's system folders by a wrapper, and its variables are
// the definition's.
func (r *realRun) deployReal(a realAgent, program, address string) {
	r.t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = r.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			r.t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
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
