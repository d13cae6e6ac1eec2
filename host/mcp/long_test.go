package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/ahp"
	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// TestLongCommand: run_command and wait_for answer before clients give up after a minute,
// whatever limit a model asks for, and the command goes on; a client that follows progress is
// told of it, and waits.
func TestLongCommand(t *testing.T) {
	soak.Only(t, "it takes as long as clients wait")
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "patient")
	done := make(chan map[string]any)
	began := time.Now()
	go func() { done <- a.get("run_command", m{"line": "echo begun; sleep 1000", "timeoutMs": 600_000}) }()
	server := a.get("spawn_background_terminal", m{"command": []string{"sleep", "1000"}})["id"]
	go func() { done <- a.get("wait_for", m{"terminalId": server, "until": "exit", "timeoutMs": 600_000}) }()

	told := make(chan string, 100)
	c := mcp.NewClient(&mcp.Implementation{Name: "follower", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			select {
			case told <- r.Params.Message:
			default:
			}
		},
	})
	s, err := c.Connect(context.Background(), &mcp.CommandTransport{Command: a.Command("mcp")}, nil)
	a.Must(err)
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := &mcp.CallToolParams{Name: "run_command", Arguments: m{"line": "sleep 1000", "timeoutMs": 600_000}}
	p.SetProgressToken("x")
	followed := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, p)
		followed <- err
	}()
	if text := <-told; !strings.Contains(text, "running for") {
		t.Errorf("progress says %q", text)
	}

	for range 2 {
		r := <-done
		if r["running"] != true || time.Since(began) < 40*time.Second {
			t.Errorf("after %v: %v", time.Since(began), r)
		}
		if hint, _ := r["hint"].(string); r["commandId"] != nil {
			if r["timedOut"] != true || !strings.Contains(hint, "wait_for") || r["output"] != "begun\n" {
				t.Errorf("run_command: %v", r)
			}
			if w := a.get("wait_for", m{"terminalId": r["terminalId"], "until": "exit", "timeoutMs": 1}); w["reason"] != "timeout" || w["running"] != true {
				t.Errorf("it does not go on: %v", w)
			}
		}
	}
	select {
	case err := <-followed:
		t.Errorf("a call whose progress is followed was answered: %v", err)
	default:
	}
}

// TestIdleSpares: the time without input and output ends no terminal that a call waits for,
// and none in which a command runs that was asked for; a terminal that it ends says so, with
// what it printed, and is gone after a while (T38, T39, T41).
func TestIdleSpares(t *testing.T) {
	soak.Long(t, "it waits for seconds of idleness")
	t.Parallel()
	w := hosttest.New(t, "agent-idle = 1\n")
	a := newAgent(w, "waiter")
	waited := a.get("spawn_background_terminal", m{"command": []string{"sleep", "1000"}})["id"]
	left := a.get("spawn_background_terminal", m{"command": []string{"sh", "-c", "echo before; exec sleep 1000"}})["id"]
	answer := make(chan map[string]any)
	go func() { answer <- a.get("wait_for", m{"terminalId": waited, "until": "exit", "timeoutMs": 8000}) }()
	build := a.get("run_command", m{"line": "sleep 8; echo built", "timeoutMs": 1})["terminalId"]
	shell := a.get("spawn_background_terminal", m{"command": []string{"bash"}})["id"]
	a.get("run_command", m{"line": "sleep 8; echo built", "terminalId": shell, "timeoutMs": 1})
	var ended map[string]any
	w.Eventually("the one that is left is ended", func() bool {
		for _, l := range a.list() {
			if l["id"] == left && l["ended"] != nil {
				ended = l
				return true
			}
		}
		return false
	})
	if why, _ := ended["ended"].(string); !strings.Contains(why, "no input and output for 1s") {
		t.Errorf("its record: %v", ended)
	}
	if text := a.get("read_terminal", m{"terminalId": left})["history"]; text != "before\n" {
		t.Errorf("left of it: %q", text)
	}
	if r := <-answer; r["reason"] != "timeout" || r["running"] != true {
		t.Errorf("the wait: %v", r)
	}
	a.get("wait_for", m{"terminalId": build, "until": "exit"})
	if r := a.get("read_command", m{"terminalId": build}); r["output"] != "built\n" || r["exitCode"] != 0.0 {
		t.Errorf("the build: %v", r)
	}
	a.get("wait_for", m{"terminalId": shell, "until": "command"})
	if r := a.get("read_command", m{"terminalId": shell}); r["output"] != "built\n" || r["exitCode"] != 0.0 {
		t.Errorf("the build in a shell: %v", r)
	}
	w.Eventually("nothing is left, after a while", func() bool { return len(a.list()) == 0 })
}

// TestCrashIsListed: what has ended by itself is listed with its code (T37).
func TestCrashIsListed(t *testing.T) {
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "unlucky")
	id := a.get("spawn_background_terminal", m{"command": []string{"sh", "-c", "echo no port; exit 7"}})["id"]
	a.get("wait_for", m{"terminalId": id, "until": "exit"})
	l := a.list()
	if len(l) != 1 || l[0]["id"] != id || l[0]["ended"] != "exited" || l[0]["exitCode"] != 7.0 {
		t.Errorf("listed: %v", l)
	}
	a.get("kill_terminal", m{"terminalId": id})
	if l := a.list(); len(l) != 0 {
		t.Errorf("after kill_terminal: %v", l)
	}
}

// TestSameAgent: an agent that comes back is who it was, by its name and directory or by the
// identity that it is given: its terminals are its own and count for it. What an agent leaves
// that does not come back is ended, also what prints (T12, T13, T41).
func TestSameAgent(t *testing.T) {
	soak.Long(t, "it waits for seconds of idleness")
	t.Parallel()
	w := hosttest.New(t, "agent-idle = 3\n")
	as := func(name string, args ...string) *agent {
		cmd := w.Command(append([]string{"mcp"}, args...)...)
		cmd.Stderr = os.Stderr
		return connect(w, name, &mcp.CommandTransport{Command: cmd})
	}
	chatty := m{"command": []string{"sh", "-c", "while :; do echo x; sleep 0.2; done"}}
	first := as("claude")
	id := first.get("spawn_background_terminal", chatty)["id"]
	first.session.Close()
	again := as("claude")
	l := again.list()
	if len(l) != 1 || l[0]["mine"] != true {
		t.Fatalf("after it came back: %v", l)
	}
	for range 2 {
		again.get("spawn_background_terminal", chatty)
	}
	again.refused("Spawn rate limit exceeded (max 3/minute)", "spawn_background_terminal", chatty)
	again.get("send_input", m{"terminalId": id, "text": "x"})
	again.get("kill_terminal", m{"terminalId": id})
	if l := as("codex").list(); l[0]["mine"] != false {
		t.Errorf("another's: %v", l)
	}
	if l := as("claude", "--identity", "second").list(); l[0]["mine"] != false {
		t.Errorf("another of that name: %v", l)
	}
	again.session.Close()
	b := as("watcher")
	w.Eventually("what it left is ended", func() bool {
		return !slices.ContainsFunc(b.list(), func(t map[string]any) bool {
			why, _ := t["ended"].(string)
			return !strings.Contains(why, "its agent has been gone for 3s")
		})
	})
}

// TestPlainAndOnce: an answer's text is not escaped as HTML, output is as it is, and once.
func TestPlainAndOnce(t *testing.T) {
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "reader")
	const line = `printf '<a href="x">&\n'; exec cat`
	id := a.get("spawn_background_terminal", m{"command": []string{"sh", "-c", line}})["id"]
	a.get("wait_for", m{"terminalId": id, "until": "text", "pattern": "href"})
	for _, tool := range []string{"read_terminal", "list_terminals"} {
		args := m{"terminalId": id}
		if tool == "list_terminals" {
			args = nil
		}
		if text, _ := a.call(tool, args); strings.Contains(text, `\u00`) || !strings.Contains(text, `<a href=\"x\">&`) {
			t.Errorf("%s: %s", tool, text)
		}
	}
	r, err := a.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "run_command", Arguments: m{"line": `printf '<a href="x">&\n\n "b"\n'`}})
	a.Must(err)
	if len(r.Content) != 2 || r.Content[1].(*mcp.TextContent).Text != "<a href=\"x\">&\n\n \"b\"\n" || r.StructuredContent != nil {
		b, _ := json.Marshal(r)
		t.Errorf("run_command: %s", b)
	}
	if r, err = a.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "run_command", Arguments: m{"line": "true"}}); err != nil || len(r.Content) != 1 {
		t.Errorf("without output: %v, %v", r, err)
	}
}

// TestSizes: tail, maxBytes and since bound what is told of an output (T5, T6).
func TestSizes(t *testing.T) {
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "thrifty")
	if r := a.get("run_command", m{"line": "seq 1 1000", "tail": 2}); r["output"] != "999\n1000\n" || r["omittedBytes"] != 3893.0-9 {
		t.Errorf("tail: %v", r)
	}
	r := a.get("run_command", m{"line": "seq 1 1000", "maxBytes": 100})
	if out := r["output"].(string); len(out) > 200 || !strings.HasPrefix(out, "1\n2\n") || !strings.HasSuffix(out, "\n1000\n") {
		t.Errorf("maxBytes: %q", out)
	}
	if r := a.get("read_command", m{"terminalId": r["terminalId"], "tail": 1, "commandId": r["commandId"]}); r["output"] != "1000\n" {
		t.Errorf("what was left out is not there: %v", r)
	}
	if text, failed := a.call("run_command", m{"line": "id", "maxBytes": 1 << 20}); !failed || !strings.Contains(text, "65536") {
		t.Errorf("too many: %s", text)
	}
	id := a.get("spawn_background_terminal", m{"command": []string{"cat"}})["id"]
	say := func(text string) {
		a.get("send_input", m{"terminalId": id, "text": text, "keys": []string{"enter"}})
		a.get("wait_for", m{"terminalId": id, "until": "text", "pattern": "^" + text + "\n?$"})
		a.get("wait_for", m{"terminalId": id, "until": "idle", "idleMs": 300})
	}
	say("one")
	before := a.get("read_terminal", m{"terminalId": id})
	say("two")
	after := a.get("read_terminal", m{"terminalId": id, "since": before["cursor"]})
	if after["history"] != "two\ntwo\n" {
		t.Errorf("since: %q after %q", after["history"], before["history"])
	}
	if r := a.get("read_terminal", m{"terminalId": id, "since": after["cursor"]}); r["history"] != "" {
		t.Errorf("nothing new: %v", r)
	}
	if r := a.get("read_terminal", m{"terminalId": id, "tail": 1}); r["history"] != "two\n" {
		t.Errorf("tail of a terminal: %v", r)
	}
	late := a.get("run_command", m{"line": "echo one; read x; echo two; read x", "timeoutMs": 500})
	a.get("send_input", m{"terminalId": late["terminalId"], "keys": []string{"enter"}})
	a.get("wait_for", m{"terminalId": late["terminalId"], "until": "text", "pattern": "two"})
	if r := a.get("read_command", m{"terminalId": late["terminalId"], "commandId": late["commandId"], "since": late["cursor"]}); r["output"] != "\ntwo\n" {
		t.Errorf("a command since %v: %v", late["cursor"], r)
	}
}

// TestSentToTheBackground: run_command answers at once when a person sends its command to the
// background, and wait_for goes on waiting for it.
func TestSentToTheBackground(t *testing.T) {
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "sent")
	done, began := make(chan map[string]any, 1), time.Now()
	go func() { done <- a.get("run_command", m{"line": "echo begun; sleep 1000 <&-"}) }()
	var rows []struct {
		ID    string
		Claim ahp.Claim
	}
	a.Eventually("the command to run", func() bool {
		a.Must(json.Unmarshal([]byte(a.Tandemux("ls", "--json")), &rows))
		return len(rows) == 1 && rows[0].Claim.ToolCallID != "" && strings.Contains(a.Tandemux("read", rows[0].ID), "begun")
	})
	id := rows[0].ID
	waited := make(chan map[string]any, 1)
	go func() { waited <- a.get("wait_for", m{"terminalId": id, "until": "exit"}) }()
	a.Tandemux("background", id)
	r := <-done
	hint, _ := r["hint"].(string)
	if r["running"] != true || r["timedOut"] != nil || !strings.Contains(hint, "sent this command to the background") || r["terminalId"] != "pty-"+id || r["output"] != "begun\n" {
		t.Errorf("after %v: %v", time.Since(began), r)
	}
	a.get("send_input", m{"terminalId": id, "keys": []string{"ctrl+c"}})
	if w := <-waited; w["met"] != true {
		t.Errorf("wait_for: %v", w)
	}
}

// TestWaitsForInput: run_command and wait_for say that a program waits for input, behind which
// line, and what to do, long before their time is over.
func TestWaitsForInput(t *testing.T) {
	if _, err := os.Stat("/proc/self/wchan"); err != nil {
		t.Skip("no /proc: it can't be told")
	}
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "asker")
	editor, silent := make(chan map[string]any), make(chan map[string]any)
	go func() { editor <- a.get("run_command", m{"command": []string{"bash", "-c", "read -e -p 'Name: ' x"}}) }()
	go func() { silent <- a.get("run_command", m{"line": "printf 'Fetching [y/N]: '; sleep 5; echo done"}) }()
	r := a.get("run_command", m{"line": `printf 'Continue? [y/N] '; read x; echo "got $x"`})
	if r["waitsForInput"] != true || r["prompt"] != "Continue? [y/N] " || r["timedOut"] != nil || r["running"] != true {
		t.Fatalf("run_command: %v", r)
	}
	if hint, _ := r["hint"].(string); !strings.Contains(hint, "send_input") || !strings.Contains(hint, "promote_terminal") {
		t.Errorf("who may answer: %v", r["hint"])
	}
	id := r["terminalId"]
	if w := a.get("wait_for", m{"terminalId": id, "until": "exit"}); w["reason"] != "input" || w["prompt"] != "Continue? [y/N] " || w["met"] != false {
		t.Errorf("wait_for: %v", w)
	}
	if w := newAgent(a.Machine, "other").get("wait_for", m{"terminalId": id, "until": "exit"}); !strings.Contains(w["hint"].(string), "claim_terminal") {
		t.Errorf("to another: %v", w)
	}
	if w := a.get("wait_for", m{"terminalId": id, "until": "text", "pattern": "never", "timeoutMs": 100}); w["reason"] != "input" {
		t.Errorf("at the end of its time: %v", w)
	}
	a.get("send_input", m{"terminalId": id, "text": "y", "keys": []string{"enter"}})
	if w := a.get("wait_for", m{"terminalId": id, "until": "exit"}); w["met"] != true {
		t.Errorf("answered: %v", w)
	}
	// A line editor, which waits for several things.
	if r := <-editor; r["waitsForInput"] != true || r["prompt"] != "Name: " {
		t.Errorf("a line editor: %v", r)
	}
	// What is silent and reads nothing does not, whatever its line looks like.
	if r := <-silent; r["output"] != "Fetching [y/N]: done\n" || r["waitsForInput"] != nil {
		t.Errorf("silent: %v", r)
	}
}
