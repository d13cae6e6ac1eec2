package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/soak"
)

const hello = `prompt
think hm
say Hello,
update {"sessionUpdate":"tool_call","toolCallId":"c1","title":"look","kind":"read","status":"in_progress","rawInput":{"path":"a.txt"}}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":{"lines":3}}
say $PROMPT!
`

// TestTask: a task by its interface from creation to deletion (U17, U18, U20,
// U37–U46, U55, U56).
func TestTask(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("hello", hello)
	got := w.create("hello", map[string]any{"name": "one", "params": map[string]any{"goal": "test"}})
	if got.Status != store.Creating || got.Name != "one" || !strings.HasPrefix(got.ID, "tsk_") || string(got.Params) != `{"goal":"test"}` {
		t.Errorf("created: %+v", got)
	}
	w.becomes("one", store.Idle)
	if said := w.said("one"); said != "" {
		t.Errorf("nothing was sent, and it said %q", said)
	}
	e := w.send(got.ID, "you")
	if e.Status != store.EventPending || e.TaskID != got.ID || e.Author != "operator" {
		t.Errorf("sent: %+v", e)
	}
	if e = w.settles(e.ID); e.Status != store.EventDone {
		t.Errorf("the event is %+v", e)
	}
	if said := w.said("one"); said != "Hello,|text:you!" {
		t.Errorf("it said %q", said)
	}
	var list struct{ Data []store.Task }
	w.must(http.StatusOK, http.MethodGet, "/tasks?status=idle&agent=hello", nil, &list)
	if len(list.Data) != 1 || list.Data[0].ID != got.ID || list.Data[0].Session == "" {
		t.Errorf("listed: %+v", list)
	}
	var events struct{ Data []store.Event }
	w.must(http.StatusOK, http.MethodGet, "/tasks/one/events", nil, &events)
	if len(events.Data) != 1 || events.Data[0].Content[0].Text != "you" {
		t.Errorf("events: %+v", events)
	}
	w.must(http.StatusOK, http.MethodPut, "/tasks/one", map[string]any{"name": "two"}, nil)
	w.refused(http.StatusNotFound, `"one"`, http.MethodGet, "/tasks/one", nil)
	var gone task.Deleted
	w.must(http.StatusOK, http.MethodDelete, "/tasks/two", nil, &gone)
	w.refused(http.StatusNotFound, got.ID, http.MethodGet, "/tasks/"+got.ID, nil)
	w.refused(http.StatusNotFound, e.ID, http.MethodGet, "/events/"+e.ID, nil)
	if left, _ := os.ReadDir(filepath.Join(w.dir, "state", "tasks")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// TestParts: the stream's parts of a turn, in the words of the documents (U47–U54).
func TestParts(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("hello", hello)
	w.agent("fails", "prompt\nsay Before\nerror -32603 the model is gone\n")
	got := w.create("hello", nil)
	w.send(got.ID, "you")
	all := w.whole("/tasks/"+got.ID+"/stream", "")
	const want = "start start-step reasoning-start reasoning-delta reasoning-end text-start text-delta text-end " +
		"tool-input-start tool-input-delta tool-input-end tool-call tool-result finish-step start-step text-start text-delta text-end finish-step finish"
	if kinds(all) != want {
		t.Errorf("parts:\n%s\nwant\n%s", kinds(all), want)
	}
	for i, f := range all {
		if f.id != strings.TrimSpace(string(mustJSON(t, i+1))) {
			t.Errorf("part %d has the id %s", i+1, f.id)
		}
		switch f.part.Type {
		case task.PartToolCall:
			if f.part.ToolCallID != "c1" || string(f.part.Input) != `{"path":"a.txt"}` || f.part.Metadata.Title != "look" {
				t.Errorf("tool call: %s", f.raw)
			}
		case task.PartToolResult:
			if f.part.ToolCallID != "c1" || f.part.ToolName == "" || !json.Valid(f.part.Output) {
				t.Errorf("tool result: %s", f.raw)
			}
		case task.PartFinish:
			if f.part.FinishReason != task.FinishStop || f.part.TotalUsage == nil {
				t.Errorf("finish: %s", f.raw)
			}
		case task.PartTextDelta:
			if f.part.ID == "" || f.part.Text == "" {
				t.Errorf("text: %s", f.raw)
			}
		}
	}
	bad := w.create("fails", nil)
	w.send(bad.ID, "x")
	all = w.whole("/tasks/"+bad.ID+"/stream", "")
	if end := all[len(all)-1]; end.part.FinishReason != task.FinishError {
		t.Errorf("it failed: %s", end.raw)
	}
	if e := all[len(all)-2]; !strings.Contains(kinds(all), "error") || e.part.Type != task.PartFinishStep {
		t.Errorf("it failed: %s", kinds(all))
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCancel: the status at once, the turn stopped, what waits discarded, and no
// files brought back (U5, U20, U44).
func TestCancel(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("slow", "prompt\nsay begun\nawait cancel\nsay bye\n")
	w.agent("deaf", "deaf\nprompt\nsay never\nhang\n")
	for _, name := range []string{"slow", "deaf"} {
		got := w.create(name, map[string]any{"name": name})
		first, second := w.send(name, "go"), w.send(name, "and then")
		frames, cut := w.stream("/tasks/"+name+"/stream?follow=true", "")
		for f := range frames {
			if f.part.Type == task.PartTextDelta {
				break
			}
		}
		var cancelled store.Task
		w.must(http.StatusOK, http.MethodPost, "/tasks/"+name+"/cancel", nil, &cancelled)
		if cancelled.Status != store.Cancelled {
			t.Errorf("%s: cancelled: %s", name, cancelled.Status)
		}
		var last frame
		for f := range frames { // to its [DONE]
			last = f
		}
		cut()
		if last.part.Type != task.PartFinish || last.part.FinishReason != task.FinishOther || !last.part.Metadata.Cancelled {
			t.Errorf("%s: the stream ends with %s", name, last.raw)
		}
		if e := w.settles(first.ID); e.Status != store.EventDiscarded {
			t.Errorf("%s: the event that ran is %+v", name, e)
		}
		if e := w.settles(second.ID); e.Status != store.EventDiscarded {
			t.Errorf("%s: the event that waited is %+v", name, e)
		}
		w.refused(http.StatusConflict, "takes no events", http.MethodPost, "/tasks/"+name+"/events", map[string]any{"content": "x"})
		w.must(http.StatusOK, http.MethodPost, "/tasks/"+name+"/cancel", nil, nil)
		w.refused(http.StatusNotFound, "there is no", http.MethodGet, "/tasks/"+got.ID+"x", nil)
		w.must(http.StatusOK, http.MethodDelete, "/tasks/"+name, nil, nil)
	}
}

// hooksOf is an agent of three programs.
func hooksOf(w *fixture, name, interpreter, create, event, cancel string) registry.Definition {
	d := registry.Definition{Name: name}
	d.Hooks.OnCreate = []string{interpreter, w.file(name+"-create", create)}
	d.Hooks.OnEvent = []string{interpreter, w.file(name+"-event", event)}
	d.Hooks.OnCancel = []string{interpreter, w.file(name+"-cancel", cancel)}
	return d
}

// These hooks, in sh and in Python, count events in the state.
const (
	shCreate = `cat >create.json; echo '{"type":"state","replace":{"turns":0,"made":true}}'; echo '{"type":"message","text":"Created."}'`
	shEvent  = `in=$(cat); n=$(printf %s "$in" | sed 's/.*"turns":\([0-9]*\).*/\1/'); n=$((n+1))
echo "{\"type\":\"state\",\"merge\":{\"turns\":$n}}"
echo "{\"type\":\"progress\",\"percent\":$((n*10)),\"text\":\"turn $n\"}"
echo '{"type":"tool-call","id":"t'$n'","name":"count","title":"Counting","input":{"n":'$n'}}'
echo '{"type":"tool-result","id":"t'$n'","output":{"n":'$n'}}'
echo "{\"type\":\"message\",\"text\":\"turn $n of $TANDEMUX_TASK_AGENT\"}"
echo "{\"type\":\"message\",\"data\":{\"turn\":$n}}"
echo "turn $n" >>output.txt
echo a line of log; echo a complaint >&2`
	shCancel = `cat >/dev/null; echo '{"type":"message","text":"Cancelled."}'`

	pyCreate = `import json, sys
task = json.load(sys.stdin)
assert task["hook"] == "on_create" and task["state"] == {}, task
print(json.dumps({"type": "state", "replace": {"turns": 0, "made": True}}))
print(json.dumps({"type": "message", "text": "Created."}))
`
	pyEvent = `import json, os, sys
call = json.load(sys.stdin)
n = call["state"]["turns"] + 1
print(json.dumps({"type": "state", "merge": {"turns": n}}))
print(json.dumps({"type": "progress", "percent": n * 10, "text": "turn %d" % n}))
print(json.dumps({"type": "tool-call", "id": "t%d" % n, "name": "count", "title": "Counting", "input": {"n": n}}))
print(json.dumps({"type": "tool-result", "id": "t%d" % n, "output": {"n": n}}))
print(json.dumps({"type": "message", "text": "turn %d of %s" % (n, os.environ["TANDEMUX_TASK_AGENT"])}))
print(json.dumps({"type": "message", "data": {"turn": n}}))
open("output.txt", "a").write("turn %d\n" % n)
print("a line of log")
print("a complaint", file=sys.stderr)
`
	pyCancel = `import json, sys
sys.stdin.read()
print(json.dumps({"type": "message", "text": "Cancelled."}))
`
)

// TestHooks: programs that are called in place of an agent, in sh and in Python:
// the three hooks, messages, state, progress and files (U8, U10, U11, U12–U16, U21,
// U22, U41–U43, U50, U51).
func TestHooks(t *testing.T) {
	t.Parallel()
	w, outer := start(t), t
	for _, d := range []registry.Definition{
		hooksOf(w, "sh", "sh", shCreate, shEvent, shCancel), hooksOf(w, "python", "python3", pyCreate, pyEvent, pyCancel),
	} {
		t.Run(d.Name, func(t *testing.T) {
			w.t = t
			defer func() { w.t = outer }()
			if _, err := exec.LookPath("python3"); err != nil && d.Name == "python" {
				t.Skip("python3 is not installed")
			}
			w.deploy(d)
			dir := t.TempDir()
			name := d.Name
			w.create(name, map[string]any{"name": name, "workspace": "rw:" + dir, "cwd": dir})
			w.becomes(name, store.Idle)
			for range 2 {
				e := w.send(name, "again")
				if e = w.settles(e.ID); e.Status != store.EventDone {
					t.Fatalf("the event is %+v", e)
				}
			}
			want := "Created.|turn 1 of " + name + `|{"turn":1}|turn 2 of ` + name + `|{"turn":2}`
			if said := strings.ReplaceAll(w.said(name), `{"turn": `, `{"turn":`); said != want {
				t.Errorf("it said %q, want %q", said, want)
			}
			var states struct{ Data []store.State }
			w.must(http.StatusOK, http.MethodGet, "/states?task_id="+name, nil, &states)
			if len(states.Data) != 1 || compact(states.Data[0].State) != `{"made":true,"turns":2}` {
				t.Errorf("the state is %+v", states.Data)
			}
			got := w.get(name)
			if got.Progress == nil || *got.Progress != 20 || got.ProgressLine != "turn 2" {
				t.Errorf("the progress is %v %q", got.Progress, got.ProgressLine)
			}
			if text, _ := os.ReadFile(filepath.Join(dir, "output.txt")); string(text) != "turn 1\nturn 2\n" {
				t.Errorf("it wrote %q", text)
			}
			if parts := kinds(w.whole("/tasks/"+name+"/stream", "")); !strings.Contains(parts, "tool-call tool-result") {
				t.Errorf("parts: %s", parts)
			}
			w.must(http.StatusOK, http.MethodPost, "/tasks/"+name+"/cancel", nil, nil)
			w.until("on_cancel was run", func() bool { return strings.HasSuffix(w.said(name), "|Cancelled.") })
		})
	}
}

// TestDeleteWhileCancelling: a task that is deleted while it is being cancelled is deleted.
func TestDeleteWhileCancelling(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.deploy(hooksOf(w, "slow", "sh", "cat", "cat", `cat; touch begun; until [ -e go ]; do sleep 0.01; done`))
	dir := t.TempDir()
	w.create("slow", map[string]any{"name": "slow", "workspace": "rw:" + dir, "cwd": dir})
	w.becomes("slow", store.Idle)
	w.must(http.StatusOK, http.MethodPost, "/tasks/slow/cancel", nil, nil)
	w.until("on_cancel runs", func() bool { _, err := os.Stat(filepath.Join(dir, "begun")); return err == nil })
	deleted := make(chan string, 1)
	go func() {
		status, text := w.raw(http.MethodDelete, "/tasks/slow", nil, nil)
		deleted <- fmt.Sprint(status, " ", string(text))
	}()
	w.becomes("slow", store.Deleting)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-deleted; !strings.HasPrefix(got, "200 ") {
		t.Errorf("deleted: %s", got)
	}
}

func compact(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	b, _ := json.Marshal(v) //nolint:errcheck // it was JSON
	return string(b)
}

// TestBadHooks: hooks that fail, hang, flood or are not there end their event with
// the reason, and nothing else (U43, U81).
func TestBadHooks(t *testing.T) {
	soak.Long(t, "each way in which a hook can fail")
	t.Parallel()
	w := start(t)
	for name, bad := range map[string]struct{ event, timeout, why string }{
		"fails":  {`echo it is broken >&2; exit 3`, "", "exit code 3): it is broken"},
		"hangs":  {`trap '' TERM; sleep 1000 & sleep 1000`, "1s", "took longer than 1s"},
		"floods": {`head -c 3000000 /dev/zero | tr '\0' x; sleep 1000`, "", "said more than"},
		"says":   {`echo '{"type":"error","text":"no such issue"}'`, "", "no such issue"},
	} {
		d := registry.Definition{Name: name, Hooks: registry.Hooks{OnEvent: []string{"sh", w.file(name, bad.event)}, Timeout: bad.timeout}}
		w.deploy(d)
		w.create(name, map[string]any{"name": name})
		e := w.send(name, "x")
		if e = w.settles(e.ID); e.Status != store.EventFailed || !strings.Contains(e.Reason, bad.why) {
			t.Errorf("%s: the event is %s: %s", name, e.Status, e.Reason)
		}
		w.becomes(name, store.Idle)
	}
	d := registry.Definition{Name: "unborn", Hooks: registry.Hooks{OnCreate: []string{"sh", "-c", "echo bad params >&2; exit 1"}, OnEvent: []string{"true"}}}
	w.deploy(d)
	w.create("unborn", map[string]any{"name": "unborn"})
	if got := w.becomes("unborn", store.FailedRun); !strings.Contains(got.Reason, "bad params") {
		t.Errorf("it failed by %q", got.Reason)
	}
}
