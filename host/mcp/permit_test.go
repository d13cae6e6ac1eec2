package mcp_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/internal/hosttest"
)

// open starts the interface, as a person would.
func open(w *hosttest.Machine) {
	w.Helper()
	script, err := exec.LookPath("script")
	if err != nil {
		w.Skip(err)
	}
	cmd := w.Command()
	cmd.Args = []string{script, "-qec", "stty cols 100 rows 30; exec " + cmd.Path, "/dev/null"}
	cmd.Path = script
	in, err := cmd.StdinPipe() // open, or script ends
	w.Must(err)
	cmd.Stdout = io.Discard
	w.Must(cmd.Start())
	w.Cleanup(func() {
		in.Close()
		w.Command("stop").Run() //nolint:errcheck // it may have ended
		cmd.Wait()              //nolint:errcheck // its host has ended
	})
	w.Eventually("the interface's terminal", func() bool {
		out, err := w.Command("ls").Output()
		return err == nil && strings.Contains(string(out), " you ")
	})
}

// answered waits for a question and answers it.
func answered(w *hosttest.Machine, asks, answer string) {
	w.Helper()
	var id string
	w.Eventually("the question "+asks, func() bool {
		for line := range strings.Lines(w.Tandemux("ls")) {
			if strings.Contains(line, asks) {
				id = strings.Fields(line)[0]
			}
		}
		return id != ""
	})
	ask := row(w, id)["ask"].(map[string]any)
	question, command := ask["id"].(string), strings.TrimSpace(ask["command"].(string))
	if answer == "yes" {
		if out, err := w.Command("answer", id, "yes").CombinedOutput(); err == nil || !strings.Contains(string(out), command) || !strings.Contains(string(out), "yes --question "+question) {
			w.Errorf("a yes without the question: %v\n%s", err, out)
		}
		if out, err := w.Command("answer", id, "yes", "--question", "earlier").CombinedOutput(); err == nil || !strings.Contains(string(out), "no longer asked") {
			w.Errorf("a yes to an earlier question: %v\n%s", err, out)
		}
	}
	if out := w.Tandemux("answer", id, answer, "--question", question); strings.Contains(out, command) != (answer == "yes") {
		w.Errorf("%s tells: %s", answer, out)
	}
}

// TestPermission: what is dangerous is put before the person where one is, and refused with
// the word and the way on where nobody is; what only looks so runs where they can be asked
// (docs/contributing/decisions.md §20). Typing into a shell is judged as running is. What is
// allowed on the command line is the question that is named.
func TestPermission(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	a := newAgent(w, "claude")
	file := filepath.Join(w.Dir, "file.sh")
	w.Must(os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600))
	harmless := map[string]string{
		"chmod +x " + file: "chmod", `test -n "$(ls)"`: "$(", "echo eval | grep eval": "eval",
		"printf '%s' \"$(cat <<'EOF'\nrm -rf /\nEOF\n)\"": "rm -rf /",
	}
	for line, what := range harmless {
		a.blocked(what+": nobody is here to allow it", "run_command", m{"line": line})
	}
	shell := a.get("spawn_background_terminal", m{"command": []string{"bash"}})["id"]
	a.get("run_command", m{"terminalId": shell, "line": "true"})
	nobody := "rm: nobody is here to allow it"
	a.blocked(nobody, "run_command", m{"line": "rm " + file})
	a.blocked(nobody, "spawn_background_terminal", m{"command": []string{"rm", file}})
	a.blocked(nobody, "run_command", m{"terminalId": shell, "line": "rm " + file})
	a.blocked(nobody, "send_input", m{"terminalId": shell, "text": "rm " + file, "keys": []string{"enter"}})
	a.blocked("find -delete: nobody", "run_command", m{"line": "find " + file + " -delete"})
	a.get("send_input", m{"terminalId": shell, "text": "rm " + file})
	a.blocked(nobody, "send_input", m{"terminalId": shell, "keys": []string{"enter"}})
	a.get("send_input", m{"terminalId": shell, "keys": []string{"ctrl+c"}})

	open(w)
	for line := range harmless {
		if r := a.get("run_command", m{"line": line}); r["exitCode"] != 0.0 {
			t.Errorf("%s: %v", line, r)
		}
	}
	asks := func(answer, tool string, args m) (text string, failed bool) {
		t.Helper()
		done := make(chan bool)
		go func() {
			defer close(done)
			text, failed = a.try(tool, args)
		}()
		answered(w, "claude asks to run rm", answer)
		<-done
		return text, failed
	}
	if text, failed := asks("no", "run_command", m{"line": "rm " + file}); !failed || !strings.HasPrefix(text, "Command blocked for security reasons\nrm: the person refused it") {
		t.Errorf("refused: %s", text)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("what nobody allowed has run: %v", err)
	}
	if text, failed := asks("yes", "run_command", m{"line": "rm " + file}); failed {
		t.Errorf("allowed: %s", text)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("what was allowed has not run")
	}
	w.Must(os.WriteFile(file, nil, 0o600))
	if text, failed := asks("yes", "send_input", m{"terminalId": shell, "text": "rm " + file, "keys": []string{"enter"}}); failed {
		t.Errorf("allowed to type: %s", text)
	}
	w.Eventually("what was typed has run", func() bool { _, err := os.Stat(file); return err != nil })
}
