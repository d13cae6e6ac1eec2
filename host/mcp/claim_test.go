package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/internal/hosttest"
)

// row is what `tandemux ls --json` says of a terminal.
func row(w *hosttest.Machine, id string) map[string]any {
	w.Helper()
	var rows []map[string]any
	w.Must(json.Unmarshal([]byte(w.Tandemux("ls", "--json")), &rows))
	for _, r := range rows {
		if "pty-"+r["id"].(string) == id || r["id"] == id {
			return r
		}
	}
	w.Fatalf("no terminal %s in %v", id, rows)
	return nil
}

// TestTakeOver: a person takes an agent's terminal in the middle of a command,
// and hands it back (T18, docs/contributing/decisions.md §2).
func TestTakeOver(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	a := newAgent(w, "worker")
	answer := make(chan map[string]any)
	go func() {
		answer <- a.get("run_command", m{"line": "echo begun; until test -e go; do sleep 0.1; done; read x; echo got $x", "cwd": w.Dir})
	}()
	var id string
	w.Eventually("it runs", func() bool {
		for _, t := range newAgent(w, "watcher").list() {
			id = t["id"].(string)
		}
		return id != ""
	})
	claim := row(w, id)["claim"].(map[string]any)
	if call, _ := claim["toolCallId"].(string); claim["kind"] != "session" || !strings.HasPrefix(call, "run_command-") {
		t.Errorf("while it runs the claim is %v", claim)
	}
	short := strings.TrimPrefix(id, "pty-")
	w.Tandemux("claim", short)
	w.Must(os.WriteFile(filepath.Join(w.Dir, "go"), nil, 0o600)) // From here on it waits for input, and the person sees to it.
	w.Tandemux("send", short, "--enter", "person")
	if r := <-answer; !strings.Contains(r["output"].(string), "got person") || r["exitCode"] != 0.0 {
		t.Errorf("%v", r)
	}
	a.refused("Cannot kill visible or user-owned terminals", "kill_terminal", m{"terminalId": id})
}

// TestAsk: an agent asks for a person's terminal; the person refuses, then grants,
// and takes it back (T2).
func TestAsk(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	a := newAgent(w, "asker")
	id := "pty-" + strings.TrimSpace(w.Tandemux("new", "--background", "--", "cat"))
	for _, c := range []struct {
		answer  string
		claimed bool
	}{{"no", false}, {"yes", true}} {
		got := make(chan map[string]any)
		go func() { got <- a.get("claim_terminal", m{"terminalId": id, "reason": "to fix the build"}) }()
		w.Eventually("the question is asked", func() bool { return row(w, id)["ask"] != nil })
		ask := row(w, id)["ask"].(map[string]any)
		if ask["who"] != "asker" || ask["reason"] != "to fix the build" {
			t.Errorf("asked: %v", ask)
		}
		if text, failed := newAgent(w, "rival").call("claim_terminal", m{"terminalId": id, "reason": "me too"}); !failed || !strings.Contains(text, "asks for this terminal already") {
			t.Errorf("a second question: %s", text)
		}
		if out := w.Tandemux("answer", strings.TrimPrefix(id, "pty-"), c.answer); strings.Contains(out, "reason: to fix the build") != c.claimed {
			t.Errorf("%s tells: %s", c.answer, out)
		}
		if r := <-got; r["claimed"] != c.claimed {
			t.Errorf("%s: %v", c.answer, r)
		}
	}
	a.get("send_input", m{"terminalId": id, "text": "typed by the agent", "keys": []string{"enter"}})
	w.Eventually("it is typed", func() bool {
		return strings.Contains(w.Tandemux("read", strings.TrimPrefix(id, "pty-")), "typed by the agent")
	})
	if r := a.get("release_terminal", m{"terminalId": id}); r["owner"] != "user" {
		t.Errorf("released: %v", r)
	}
	if r := a.get("claim_terminal", m{"terminalId": id, "reason": "again", "timeoutMs": 50}); r["answer"] != "timeout" || r["claimed"] != false {
		t.Errorf("nobody answers: %v", r)
	}
}
