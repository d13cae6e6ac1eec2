package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/host/workspace/filetree"
)

// TestMessages: texts and data, in and out, by page and direction; progress (U10,
// U11, U21, U45, U46, U55).
func TestMessages(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("echo", "prompt\nsay $PROMPT\n")
	w.create("echo", map[string]any{"name": "one"})
	w.create("echo", map[string]any{"name": "two"})
	var m store.Message
	for _, content := range []any{"plain", map[string]any{"type": "text", "text": "**bold**"}, map[string]any{"type": "data", "data": map[string]any{"a": 1}}} {
		w.must(http.StatusCreated, "POST", "/tasks/one/messages", map[string]any{"content": content}, &m)
	}
	if m.Author != "user" || compact(m.Content[0].Data) != `{"a":1}` {
		t.Errorf("said: %+v", m)
	}
	w.must(http.StatusOK, "GET", "/messages/"+m.ID, nil, &m)
	if said := w.said("one"); said != `plain|**bold**|{"a":1}` {
		t.Errorf("messages: %s", said)
	}
	if said := w.said("two"); said != "" {
		t.Errorf("another task said %s", said)
	}
	var page struct {
		Data []store.Message
		Next string
	}
	w.must(http.StatusOK, "GET", "/tasks/one/messages?direction=older&limit=1", nil, &page)
	if len(page.Data) != 1 || page.Data[0].ID != m.ID || page.Next == "" {
		t.Errorf("the newest: %+v", page)
	}
	next := page.Next
	page.Data, page.Next = nil, ""
	w.must(http.StatusOK, "GET", "/tasks/one/messages?direction=older&limit=5&cursor="+next, nil, &page)
	if len(page.Data) != 2 || page.Data[0].Content[0].Text != "**bold**" || page.Next != "" {
		t.Errorf("those before: %+v", page)
	}
	var e store.Event
	w.must(http.StatusCreated, "POST", "/tasks/one/events", map[string]any{"content": []any{
		map[string]any{"type": "text", "text": "look:"}, map[string]any{"type": "data", "data": map[string]any{"issue": 12}},
	}}, &e)
	w.settles(e.ID)
	if said := w.said("one"); !strings.HasSuffix(said, "|text:look:\n\n```json\n{\"issue\":12}\n```") {
		t.Errorf("the agent got %s", said)
	}
	var p task.Progress
	w.must(http.StatusOK, "PUT", "/tasks/one/progress", map[string]any{"progress": 75, "status_message": "step 3 of 4"}, &p)
	w.must(http.StatusOK, "PUT", "/tasks/one/progress", map[string]any{"progress": 80}, nil)
	w.must(http.StatusOK, "GET", "/tasks/one/progress", nil, &p)
	if p.Percent == nil || *p.Percent != 80 || p.Line != "step 3 of 4" {
		t.Errorf("progress: %+v", p)
	}
	var all struct{ Data []task.Progress }
	w.must(http.StatusOK, "GET", "/progress", nil, &all)
	if len(all.Data) != 2 {
		t.Errorf("progress of all: %+v", all)
	}
}

// TestStates: created once for a task and an agent, merged, replaced, deleted
// (U12–U16, U46, U57).
func TestStates(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("echo", "prompt\nsay $PROMPT\n")
	other := w.agent("other", "prompt\nsay $PROMPT\n")
	w.create("echo", map[string]any{"name": "one"})
	w.create("echo", map[string]any{"name": "two"})
	var v store.State
	w.must(http.StatusCreated, "POST", "/states", map[string]any{"task_id": "one", "state": map[string]any{"a": 1, "b": map[string]any{"c": 2, "d": 3}}}, &v)
	w.refused(http.StatusConflict, "such a state", "POST", "/states", map[string]any{"task_id": "one", "state": map[string]any{}})
	w.must(http.StatusCreated, "POST", "/states", map[string]any{"task_id": "one", "agent_id": other.Agent.ID, "state": map[string]any{}}, nil)
	w.must(http.StatusCreated, "POST", "/states", map[string]any{"task_id": "two", "state": map[string]any{"z": 1}}, nil)
	w.must(http.StatusOK, "PUT", "/states/"+v.ID, map[string]any{"state": map[string]any{"a": nil, "b": map[string]any{"c": 7}, "e": []int{1}}}, &v)
	if compact(v.State) != `{"b":{"c":7,"d":3},"e":[1]}` {
		t.Errorf("merged: %s", v.State)
	}
	w.must(http.StatusOK, "PUT", "/states/"+v.ID, map[string]any{"replace": true, "state": map[string]any{"x": 1}}, &v)
	w.must(http.StatusOK, "GET", "/states/"+v.ID, nil, &v)
	if compact(v.State) != `{"x":1}` {
		t.Errorf("replaced: %s", v.State)
	}
	var list struct{ Data []store.State }
	w.must(http.StatusOK, "GET", "/states?task_id=one", nil, &list)
	if len(list.Data) != 2 {
		t.Errorf("states of one: %+v", list.Data)
	}
	w.must(http.StatusOK, "GET", "/states?task_id=one&agent_id=other", nil, &list)
	if len(list.Data) != 1 || list.Data[0].AgentID != other.Agent.ID {
		t.Errorf("states of one and the other agent: %+v", list.Data)
	}
	w.must(http.StatusNoContent, "DELETE", "/states/"+v.ID, nil, nil)
	w.refused(http.StatusNotFound, "no state", "GET", "/states/"+v.ID, nil)
}

// TestFilesystems: a task of a project gets a filesystem of its own; what an event
// wrote is in it afterwards, what somebody put there is in the workspace before the
// next; what was written before a cancel is not brought back (U4, U5, U39, U46).
func TestFilesystems(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("writer", `prompt
call r fs/read_text_file {"sessionId":"$SESSION","path":"$CWD/in.txt"}
show r
call w fs/write_text_file {"sessionId":"$SESSION","path":"$CWD/out.txt","content":"written"}
`)
	w.agent("hanger", `prompt
call w fs/write_text_file {"sessionId":"$SESSION","path":"$CWD/late.txt","content":"late"}
say wrote
hang
`)
	var p store.Project
	w.must(http.StatusCreated, "POST", "/projects", map[string]any{"name": "prj"}, &p)
	one := w.create("writer", map[string]any{"name": "one", "project_id": "prj"})
	w.becomes("one", store.Idle)
	if one.FilesystemID == "" || !one.Writable {
		t.Fatalf("created: %+v", one)
	}
	status, text := w.raw("PUT", "/filesystems/"+one.FilesystemID+"/file-upload?path=in.txt", "from outside", http.Header{"Content-Type": {"application/octet-stream"}})
	if status != http.StatusCreated {
		t.Fatalf("put a file: %d %s", status, text)
	}
	if e := w.settles(w.send("one", "go").ID); e.Status != store.EventDone {
		t.Errorf("%+v", e)
	}
	if said := w.said("one"); !strings.Contains(said, "from outside") {
		t.Errorf("the agent read %s", said)
	}
	tree, err := w.svc().Files.Tree(one.FilesystemID)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := tree.Manifest(); err != nil || !has(m, "out.txt") {
		t.Errorf("what the event wrote: %v", err)
	}
	// Another task of the same filesystem sees it; a third has its own.
	w.create("hanger", map[string]any{"name": "two", "filesystem_id": one.FilesystemID})
	w.becomes("two", store.Idle)
	w.send("two", "go")
	frames, cut := w.stream("/tasks/two/stream", "")
	for f := range frames {
		if f.part.Type == task.PartTextDelta {
			break
		}
	}
	cut()
	space, err := w.svc().Files.Workspace(w.get("two").ID)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(filepath.Join(space.Dir(), "out.txt")); string(text) != "written" {
		t.Errorf("another task has %q", text)
	}
	w.must(http.StatusOK, "POST", "/tasks/two/cancel", nil, nil)
	w.until("the cancelled task is at rest", func() bool {
		s := w.svc()
		rec, err := s.Store.Tasks.Find(context.Background(), "two")
		if err != nil {
			return false
		}
		rest, err := s.AtRest(context.Background(), rec)
		return err == nil && rest
	})
	if m, err := tree.Manifest(); err != nil || has(m, "late.txt") {
		t.Error("what was written before a cancel was brought back")
	}
	var three store.Task
	w.must(http.StatusCreated, "POST", "/tasks", map[string]any{"agent_name": "writer", "no_sandbox": true, "project_id": "prj"}, &three)
	if three.FilesystemID == one.FilesystemID {
		t.Error("a project's tasks share a filesystem that neither named")
	}
	w.refused(http.StatusConflict, "has 2 tasks", "DELETE", "/filesystems/"+one.FilesystemID, nil)
	for _, id := range []string{"one", "two", three.ID} {
		w.must(http.StatusOK, "DELETE", "/tasks/"+id, nil, nil)
	}
	var left struct{ Data []json.RawMessage }
	w.must(http.StatusOK, "GET", "/filesystems", nil, &left)
	if len(left.Data) != 0 {
		t.Errorf("filesystems that were made for tasks are left: %s", left.Data)
	}
}

func has(m *filetree.Manifest, path string) bool {
	_, ok := m.Find(path)
	return ok
}
