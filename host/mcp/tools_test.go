package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// TestTools: what is offered is what docs/agents.md lists, and how it is described (T3–T23, T42–T47).
func TestTools(t *testing.T) {
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "looker")
	r, err := a.session.ListTools(context.Background(), nil)
	a.Must(err)
	var names []string
	hints := map[string]*mcp.ToolAnnotations{}
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
		hints[tool.Name] = tool.Annotations
		if tool.Description == "" || tool.Title == "" {
			t.Errorf("%s says nothing of itself", tool.Name)
		}
		schema, _ := json.Marshal(tool.InputSchema)
		if strings.Contains(string(schema), `"null"`) {
			t.Errorf("%s takes null for an array: %s", tool.Name, schema)
		}
	}
	page, err := os.ReadFile("../../docs/agents.md")
	a.Must(err)
	var written []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+_[a-z_]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		written = append(written, m[1])
	}
	slices.Sort(names)
	if slices.Sort(written); len(names) == 0 || !slices.Equal(names, written) {
		t.Errorf("the tools are %q; docs/agents.md says %q", names, written)
	}
	if h := hints["read_terminal"]; !h.ReadOnlyHint || *h.OpenWorldHint {
		t.Error("read_terminal is not marked as reading")
	}
	if h := hints["kill_terminal"]; h.ReadOnlyHint || !*h.DestructiveHint || !h.IdempotentHint {
		t.Error("kill_terminal is not marked as destructive and idempotent")
	}
	for _, practice := range []string{"list_terminals before", "read_terminal", "promote_terminal when it is stable", "kill_terminal what", "5 minutes", "limit"} {
		if !strings.Contains(a.session.InitializeResult().Instructions, practice) {
			t.Errorf("the instructions don't mention %q", practice)
		}
	}
}

// TestLifecycle walks a background terminal through its life (T1, T2, T4–T9,
// T17–T24).
func TestLifecycle(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	a := newAgent(w, "claude")
	got := a.get("spawn_background_terminal", m{"cwd": w.Dir, "line": "echo ready; read x; echo got $x; sleep 1000"})
	id := got["id"].(string)
	if !strings.HasPrefix(id, "pty-") || got["owner"] != "agent" || got["visible"] != false || got["cwd"] != w.Dir || got["command"].([]any)[0] != "/bin/sh" {
		t.Errorf("spawned: %v", got)
	}
	if at := got["createdAt"].(float64); time.Since(time.UnixMilli(int64(at))) > time.Minute {
		t.Errorf("createdAt %v", at)
	}
	if r := a.get("wait_for", m{"terminalId": id, "until": "text", "pattern": "ready"}); r["met"] != true {
		t.Errorf("wait_for: %v", r)
	}
	if r := a.get("read_terminal", m{"terminalId": id}); r["terminalId"] != id || r["history"] != "ready\n" {
		t.Errorf("read: %v", r)
	}
	a.get("send_input", m{"terminalId": id, "text": "hello", "keys": []string{"enter"}})
	a.get("wait_for", m{"terminalId": id, "until": "text", "pattern": "got hello"})
	if l := a.list(); len(l) != 1 || l[0]["id"] != id {
		t.Errorf("list: %v", l)
	}
	if rows := w.Tandemux("ls"); !strings.Contains(rows, "claude") {
		t.Errorf("the person is not told whose it is:\n%s", rows)
	}
	// Another agent sees it, and has no say.
	b := newAgent(w, "other")
	b.refused("Cannot kill visible or user-owned terminals", "kill_terminal", m{"terminalId": id})
	if text, failed := b.call("send_input", m{"terminalId": id, "text": "x"}); !failed || !strings.Contains(text, "you do not hold") {
		t.Errorf("another agent types: %s", text)
	}
	if r := a.get("promote_terminal", m{"terminalId": id}); r["owner"] != "user" || r["visible"] != true || r["id"] != id {
		t.Errorf("promoted: %v", r)
	}
	if r := a.get("promote_terminal", m{"terminalId": id}); r["owner"] != "user" {
		t.Errorf("promoted twice: %v", r)
	}
	a.refused("Cannot kill visible or user-owned terminals", "kill_terminal", m{"terminalId": id})
	// What an agent reads whose terminal a person has is what docs/agents.md says.
	page, err := os.ReadFile("../../docs/agents.md")
	a.Must(err)
	lost := "you do not hold " + id + ": claim_terminal asks for it"
	if said := strings.ReplaceAll(lost, id, "pty-7k2m"); !strings.Contains(strings.Join(strings.Fields(string(page)), " "), said) {
		t.Errorf("docs/agents.md does not say %q", said)
	}
	if text, failed := a.call("send_input", m{"terminalId": id, "text": "x"}); !failed || !strings.Contains(text, lost) {
		t.Errorf("types after promotion: %s", text)
	}
	mine := a.get("spawn_background_terminal", m{"command": []string{"sleep", "1000"}})["id"].(string)
	if r := a.get("kill_terminal", m{"terminalId": mine}); r["terminated"] != true || r["id"] != mine {
		t.Errorf("killed: %v", r)
	}
	for _, id := range []string{mine, "pty-never"} { // T22
		if r := a.get("kill_terminal", m{"terminalId": id}); r["terminated"] != true {
			t.Errorf("killed again: %v", r)
		}
	}
	user := strings.TrimSpace(w.Tandemux("new", "--background", "--", "sleep", "1000"))
	a.refused("Cannot kill visible or user-owned terminals", "kill_terminal", m{"terminalId": "pty-" + user})
	a.refused("Terminal not found: pty-never", "read_terminal", m{"terminalId": "pty-never"})
}

// TestNamesForIDs: a name does for an id, and a title, which a program sets, does
// not (D5).
func TestNamesForIDs(t *testing.T) {
	soak.Long(t, "each tool by names")
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "namer")
	spawn := func() map[string]any {
		return a.get("spawn_background_terminal", m{"title": "server", "command": []string{"sh", "-c", `printf '\033]2;prod\007ready\n'; cat`}})
	}
	one, two := spawn(), spawn()
	if one["name"] != "server" || two["name"] != "server-2" {
		t.Errorf("two of a name are called %v and %v", one["name"], two["name"])
	}
	if r := a.get("wait_for", m{"terminalId": "server-2", "until": "text", "pattern": "ready"}); r["met"] != true {
		t.Errorf("wait_for: %v", r)
	}
	for {
		if l := a.list(); l[0]["title"] == "prod" && l[1]["title"] == "prod" { // as the list has it by and by
			break
		}
		a.get("wait_for", m{"terminalId": "server", "until": "text", "pattern": "ready"})
	}
	why := "it is the title of " + one["id"].(string)
	for tool, args := range map[string]m{"read_terminal": {}, "send_input": {"text": "SECRET"}} {
		args["terminalId"] = "prod"
		if text, failed := a.call(tool, args); !failed || !strings.Contains(text, why) {
			t.Errorf("%s by a title: %s", tool, text)
		}
	}
}

// TestReadTerminal: the newest 64 KiB, from a line's beginning; nothing yet is an
// empty text (T5–T8).
func TestReadTerminal(t *testing.T) {
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "reader")
	spawned := func(argv ...string) string {
		return a.get("spawn_background_terminal", m{"command": argv})["id"].(string)
	}
	quiet := spawned("sleep", "1000")
	if r := a.get("read_terminal", m{"terminalId": quiet}); r["terminalId"] != quiet || r["history"] != "" {
		t.Errorf("without output: %v", r)
	}
	long := spawned("sh", "-c", "seq 100000 199999; echo the end; sleep 1000")
	a.get("wait_for", m{"terminalId": long, "until": "text", "pattern": "^the end$"})
	text := a.get("read_terminal", m{"terminalId": long})["history"].(string)
	first, _, _ := strings.Cut(text, "\n")
	if len(text) > 64<<10 || len(text) < 60<<10 || len(first) != 6 || !strings.HasSuffix(text, "199999\nthe end\n") {
		t.Errorf("%d bytes from %q to %q", len(text), first, text[len(text)-20:])
	}
	// A line that is longer than a cut looks for is cut within.
	one := spawned("sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x; echo; echo over; sleep 1000")
	a.get("wait_for", m{"terminalId": one, "until": "text", "pattern": "^over$"})
	text = a.get("read_terminal", m{"terminalId": one})["history"].(string)
	if len(text) > 64<<10 || len(text) < 60<<10 || !strings.HasSuffix(text, "x\nover\n") {
		t.Errorf("%d bytes of one line", len(text))
	}
}

// TestBlocked: what agents may not start (T10, T11, T14), and that refused calls
// don't count (docs/contributing/decisions.md §24).
func TestBlocked(t *testing.T) {
	t.Parallel()
	a := newAgent(hosttest.New(t, "agent-policy = \"strict\"\n"), "rogue")
	const blocked = "Command blocked for security reasons"
	for _, argv := range [][]string{
		{"rm", "x"},
		{"/bin/rm", "-rf", "/"},
		{"sudo", "ls"},
		{"env", "A=1", "kill", "1"},
		{"nice", "-n", "5", "pkill", "x"},
		{"sh", "-c", "rm x"},
		{"bash", "-c", "echo $(id)"},
		{"busybox", "rm", "x"},
		{"sh", "-c", "curl x | sh"},
		{"sh", "-c", "echo x > /dev/sda"},
		{"sh", "-c", "e\"v\"al x"},
		{"sh", "-c", "`id`"},
	} {
		a.refused(blocked, "spawn_background_terminal", m{"command": argv})
		a.refused(blocked, "run_command", m{"command": argv})
	}
	a.refused(blocked, "run_command", m{"line": "true && rm x"})
	for range 3 {
		id := a.get("spawn_background_terminal", m{"command": []string{"sleep", "1000"}})["id"]
		a.get("kill_terminal", m{"terminalId": id})
	}
	a.refused("Spawn rate limit exceeded (max 3/minute)", "spawn_background_terminal", m{"command": []string{"true"}})
	if n := len(a.list()); n != 0 {
		t.Errorf("%d terminals are left", n)
	}
}

// TestQuotaRace: limits hold when everybody asks at once (T12, T13).
func TestQuotaRace(t *testing.T) {
	soak.Long(t, "thirty terminals at once")
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "many")
	answers := make(chan string)
	const calls = 30
	for range calls {
		go func() {
			text, failed := a.call("spawn_background_terminal", m{"command": []string{"sleep", "1000"}})
			if !failed {
				text = "started"
			}
			answers <- text
		}()
	}
	got := map[string]int{}
	for range calls {
		got[<-answers]++
	}
	if got["started"] != 3 || got["Spawn rate limit exceeded (max 3/minute)"] != calls-3 {
		t.Errorf("%v", got)
	}
}

// TestBadInput: wrong types, null where an array belongs, unknown ids.
func TestBadInput(t *testing.T) {
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "clumsy")
	for _, c := range []struct {
		tool string
		args m
		want string
	}{
		{"spawn_background_terminal", m{"command": nil}, "null"},
		{"spawn_background_terminal", m{"command": []string{}}, "must not be empty"},
		{"spawn_background_terminal", m{"command": []string{"ls"}, "line": "ls"}, "either"},
		{"spawn_background_terminal", m{"command": "ls -l"}, "type"},
		{"spawn_background_terminal", m{"command": []string{"ls"}, "cwd": "here"}, "not an absolute path"},
		{"spawn_background_terminal", m{"command": []string{"ls"}, "cwd": "/no/such"}, "no such file"},
		{"spawn_background_terminal", m{"command": []string{"no-such-program-here"}}, "no-such-program-here"},
		{"spawn_background_terminal", m{"command": []string{"ls"}, "colour": 1}, "colour"},
		{"run_command", m{}, "either command"},
		{"run_command", m{"command": []string{"ls"}, "line": "ls"}, "either command"},
		{"run_command", m{"line": "ls", "timeoutMs": -1}, "out of range"},
		{"run_command", m{"line": "ls", "terminalId": "pty-x"}, "Terminal not found: pty-x"},
		{"send_input", m{"terminalId": "pty-x"}, "nothing to send"},
		{"wait_for", m{"terminalId": "pty-x", "until": "never"}, "none of exit"},
		{"wait_for", m{"terminalId": "pty-x", "until": "exit"}, "Terminal not found"},
		{"read_terminal", m{}, "terminalId"},
		{"read_terminal", m{"terminalId": strings.Repeat("x", 100000)}, "Terminal not found"},
		{"claim_terminal", m{"terminalId": "pty-x", "reason": "x"}, "Terminal not found"},
	} {
		text, failed := a.call(c.tool, c.args)
		if strings.Contains(text, "reflect") || strings.Contains(text, "validating") || strings.Contains(text, "x-tandemux") {
			t.Errorf("%s: %.200q has words of the program's own", c.tool, text)
		}
		if !failed || !strings.Contains(text, c.want) {
			t.Errorf("%s %v: error %v, %.200q, want one about %q", c.tool, c.args, failed, text, c.want)
		}
		if len(text) > 2000 {
			t.Errorf("%s: an error of %d bytes", c.tool, len(text))
		}
	}
}

// TestRunCommand: output, exit code, duration; nothing is left behind.
func TestRunCommand(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	a := newAgent(w, "builder")
	r := a.get("run_command", m{"command": []string{"printf", `\033[31mred\033[0m %s\n`, "x"}})
	if r["output"] != "red x\n" || r["exitCode"] != 0.0 || r["running"] != false || r["durationMs"] == nil {
		t.Errorf("%v", r)
	}
	if r := a.get("run_command", m{"line": "echo out; echo err >&2; pwd; exit 3", "cwd": "/"}); r["output"] != "out\nerr\n/\n" || r["exitCode"] != 3.0 {
		t.Errorf("%v", r)
	}
	if r := a.get("run_command", m{"command": []string{"printf", `\033[31mred`}, "raw": true}); !strings.Contains(r["output"].(string), "\x1b[31m") {
		t.Errorf("raw: %v", r)
	}
	if r := a.get("run_command", m{"line": "seq 1 200000"}); len(r["output"].(string)) > 17<<10 || r["omittedBytes"] == nil ||
		!strings.HasPrefix(r["output"].(string), "1\n2\n") || !strings.HasSuffix(r["output"].(string), "\n200000\n") {
		t.Errorf("much output: %d bytes", len(r["output"].(string)))
	}
	for range 30 { // more than any quota: each is over before the next
		a.get("run_command", m{"command": []string{"true"}})
	}
	if n := len(a.running()); n != 0 {
		t.Errorf("%d terminals are left", n)
	}
	r = a.get("run_command", m{"line": "echo begun; sleep 1000", "timeoutMs": 300})
	if r["timedOut"] != true || r["running"] != true || r["output"] != "begun\n" || r["exitCode"] != nil {
		t.Fatalf("timed out: %v", r)
	}
	id := r["terminalId"]
	a.get("send_input", m{"terminalId": id, "keys": []string{"ctrl+c"}})
	if r := a.get("wait_for", m{"terminalId": id, "until": "exit"}); r["met"] != true {
		t.Errorf("interrupted: %v", r)
	}
	if r := a.get("read_command", m{"terminalId": id}); r["running"] != false || r["output"] != "begun\n^C" {
		t.Errorf("afterwards: %v", r)
	}
}

// TestRunInShell: a shell that the agent holds keeps its state between commands.
func TestRunInShell(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	a := newAgent(w, "builder")
	id := a.get("spawn_background_terminal", m{"command": []string{"bash"}})["id"]
	a.get("run_command", m{"terminalId": id, "line": "cd /; x=7"})
	r := a.get("run_command", m{"terminalId": id, "line": "pwd; echo $x; false"})
	if r["output"] != "/\n7\n" || r["exitCode"] != 1.0 || r["cwd"] != "/" {
		t.Errorf("%v", r)
	}
	if r := a.get("run_command", m{"terminalId": id, "command": []string{"printf", "%s|", "a b", "$x", "*"}}); r["output"] != "a b|$x|*|" {
		t.Errorf("words: %v", r)
	}
	if r := a.get("read_command", m{"terminalId": id, "failed": true}); !strings.Contains(r["commandLine"].(string), "pwd; echo $x; false") || r["exitCode"] != 1.0 {
		t.Errorf("the last that failed: %v", r)
	}
	a.blocked("rm: nobody", "run_command", m{"terminalId": id, "line": "echo; rm -r x"})
	if text, failed := newAgent(w, "other").call("run_command", m{"terminalId": id, "line": "id"}); !failed || !strings.Contains(text, "you do not hold") {
		t.Errorf("another agent runs: %s", text)
	}
	plain := a.get("spawn_background_terminal", m{"command": []string{"cat"}})["id"]
	if text, failed := a.call("run_command", m{"terminalId": plain, "line": "id"}); !failed || !strings.Contains(text, "shell") {
		t.Errorf("in a terminal without a shell: %s", text)
	}
}

// TestCancel: a cancelled run_command leaves no process, and a record.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	cmd := newAgent(w, "impatient")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := cmd.session.CallTool(ctx, &mcp.CallToolParams{Name: "run_command", Arguments: m{"command": []string{"sleep", "1234"}}})
		done <- err
	}()
	b := newAgent(w, "watcher")
	w.Eventually("it runs", func() bool { return len(b.list()) == 1 })
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled call succeeded")
	}
	w.Eventually("it is interrupted", func() bool { return len(b.running()) == 0 })
	if l := b.list(); len(l) != 1 || l[0]["ended"] != "by SIGINT" {
		t.Errorf("what is left of it: %v", l)
	}
}

// TestCancelEarly: nor does one that is cancelled before it has been told that its terminal
// is there.
func TestCancelEarly(t *testing.T) {
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "hasty")
	for i := range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*300*time.Microsecond)
		if _, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: "run_command", Arguments: m{"command": []string{"sleep", "1234"}}}); err == nil {
			t.Error("a cancelled call succeeded")
		}
		cancel()
	}
	a.Eventually("nothing runs", func() bool { return len(a.running()) == 0 })
}

// TestManyCalls: a hundred at once, each right.
func TestManyCalls(t *testing.T) {
	soak.Long(t, "many calls at once")
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "busy")
	a.get("run_command", m{"command": []string{"true"}})
	const calls = 18 // below the quota of calls at once
	answers := make(chan string)
	for i := range calls {
		go func() {
			text, failed := a.call("run_command", m{"command": []string{"echo", fmt.Sprint("number ", i)}})
			if want := fmt.Sprintf("\nnumber %d\n", i); failed || !strings.Contains(text, want) {
				answers <- text
				return
			}
			answers <- ""
		}()
	}
	for range calls {
		if text := <-answers; text != "" {
			t.Errorf("wrong: %s", text)
		}
	}
}

// TestInactivity: an agent's background terminal without input and output is ended;
// one that was promoted is not (T38–T41).
func TestInactivity(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "agent-idle = 1\n")
	a := newAgent(w, "forgetful")
	quiet := a.get("spawn_background_terminal", m{"command": []string{"sleep", "1000"}})["id"]
	busy := a.get("spawn_background_terminal", m{"command": []string{"sh", "-c", "while :; do echo x; sleep 0.1; done"}})["id"]
	given := a.get("spawn_background_terminal", m{"command": []string{"sleep", "1000"}})["id"]
	a.get("promote_terminal", m{"terminalId": given})
	w.Eventually("the quiet one is ended", func() bool {
		return !slices.ContainsFunc(a.list(), func(t map[string]any) bool { return t["id"] == quiet })
	})
	var left []any
	for _, t := range a.list() {
		left = append(left, t["id"])
	}
	if !slices.Contains(left, busy) || !slices.Contains(left, given) {
		t.Errorf("left: %v, want %v and %v", left, busy, given)
	}
}

// TestFlood: thousands of calls at once are each answered, by the tool or by the
// limit, and afterwards all is as before.
func TestFlood(t *testing.T) {
	soak.Long(t, "megabytes of output")
	t.Parallel()
	a := newAgent(hosttest.New(t, ""), "flood")
	calls := soak.Size(t, soak.Short(300, 1_000), 10_000)
	answers := make(chan string)
	for range calls {
		go func() {
			text, failed := a.call("kill_terminal", m{"terminalId": "pty-never"})
			if !failed {
				text = "ok"
			}
			answers <- text
		}()
	}
	for range calls {
		if text := <-answers; text != "ok" && !strings.Contains(text, "slow down") {
			t.Fatalf("%s", text)
		}
	}
	a.Eventually("it serves again", func() bool {
		text, failed := a.call("run_command", m{"command": []string{"echo", "still here"}})
		return !failed && strings.Contains(text, "still here")
	})
	a.Eventually("nothing is left", func() bool { // also of the rate of requests
		text, failed := a.call("list_terminals", nil)
		return !failed && text == "[]"
	})
}
