package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/task/api"
	"tandemux/host/task/store"
)

// TestBadInput: what is wrong with a request is answered with the right status and a
// sentence, and changes nothing (U39, U65, U66, U100).
func TestBadInput(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("hello", hello)
	got := w.create("hello", map[string]any{"name": "one"})
	w.becomes("one", store.Idle)
	big := strings.Repeat("x", 2<<20)
	m := func(kv ...any) map[string]any {
		body := map[string]any{"no_sandbox": true}
		for i := 0; i < len(kv); i += 2 {
			body[kv[i].(string)] = kv[i+1]
		}
		return body
	}
	for _, tt := range []struct {
		status        int
		says, way, at string
		body          any
	}{
		{400, "not JSON", "POST", "/tasks", `{"a"`},
		{400, "goes on", "POST", "/tasks", `{} {}`},
		{413, "more than", "POST", "/tasks", `{"name":"` + big + `"}`},
		{422, `unknown field "agent"`, "POST", "/tasks", m("agent", "x")},
		{422, "name: want a text, not a number", "POST", "/tasks", m("agent_name", "hello", "name", 7)},
		{422, "the body: want an object, not a list", "POST", "/tasks", `[]`},
		{422, "definition.command: want a list, not a text", "POST", "/agents/deploy", map[string]any{"definition": map[string]any{"command": "sh"}}},
		{422, "branch: want a text, not a list", "POST", "/agents/deploy", map[string]any{"branch": []int{}}},
		{422, "say which agent", "POST", "/tasks", m()},
		{422, "give one of", "POST", "/tasks", m("agent_name", "a", "agent_id", "b")},
		{404, `no agent "nobody"`, "POST", "/tasks", m("agent_name", "nobody")},
		{404, "nothing was deployed on the branch", "POST", "/tasks", m("agent_name", "hello", "branch", "other")},
		{404, "no filesystem", "POST", "/tasks", m("agent_name", "hello", "filesystem_id", "fs_x")},
		{404, "no project", "POST", "/tasks", m("agent_name", "hello", "project_id", "prj_x")},
		{422, "give one of filesystem_id", "POST", "/tasks", m("agent_name", "hello", "project_id", "a", "filesystem_id", "b")},
		{400, "want worktree", "POST", "/tasks", m("agent_name", "hello", "workspace", "odd")},
		{422, "absolute path", "POST", "/tasks", m("agent_name", "hello", "workspace", "worktree", "cwd", "here")},
		{409, `named "one"`, "POST", "/tasks", m("agent_name", "hello", "name", "one")},
		{422, "lowercase", "POST", "/tasks", m("agent_name", "hello", "name", "../up")},
		{422, "JSON object", "POST", "/tasks", m("agent_name", "hello", "params", []int{1})},
		{422, "ask, reads or all", "POST", "/tasks", m("agent_name", "hello", "approve", "maybe")},
		{422, "no-such-program-anywhere can't be run", "POST", "/tasks", m("agent_command", []string{"no-such-program-anywhere"})},
		{404, `"two"`, "GET", "/tasks/two", nil},
		{404, "there is nothing at this path", "GET", "/task", nil},
		{404, "there is nothing at this path", "GET", "/tasks/one/", nil},
		{405, "GET, POST", "DELETE", "/tasks", nil},
		{422, `no parameter is named "all"`, "GET", "/tasks?all=1", nil},
		{422, "more than once", "GET", "/tasks?limit=1&limit=2", nil},
		{422, "from 1 to 1000", "GET", "/tasks?limit=0", nil},
		{422, "from 1 to 1000", "GET", "/tasks?limit=x", nil},
		{422, "from 0 to 60", "GET", "/agents/a/logs?wait=61", nil},
		{422, "want a time", "GET", "/agents/a/logs?since=tomorrow", nil},
		{422, "want true or false", "GET", "/tasks/none/stream?follow=perhaps", nil},
		{422, "none that a list gave", "GET", "/tasks?cursor=!!", nil},
		{422, `"SLEEPING" is none of`, "GET", "/tasks?status=sleeping", nil},
		{422, "there is no content", "POST", "/tasks/one/events", m0()},
		{422, "the content is a text", "POST", "/tasks/one/events", map[string]any{"content": 7}},
		{422, "the type of a part", "POST", "/tasks/one/events", map[string]any{"content": map[string]any{"type": "image"}}},
		{422, "has text, one of type", "POST", "/tasks/one/events", map[string]any{"content": map[string]any{"type": "data", "text": "x"}}},
		{413, "bytes, more than", "POST", "/tasks/one/events", map[string]any{"content": strings.Repeat("x", 1<<20+1)}},
		{404, "no event", "GET", "/events/evt_x", nil},
		{404, "no message", "GET", "/messages/msg_x", nil},
		{404, "no state", "GET", "/states/st_x", nil},
		{422, "a state is a JSON object", "POST", "/states", map[string]any{"task_id": "one", "state": []int{}}},
		{422, "percentage", "PUT", "/tasks/one/progress", map[string]any{"progress": 101}},
		{422, "more than 200", "PUT", "/tasks/one/progress", map[string]any{"status_message": strings.Repeat("x", 201)}},
		{422, "say either", "POST", "/tasks/migrate", m0()},
	} {
		if body, ok := tt.body.(map[string]any); ok && tt.at != "/tasks" {
			delete(body, "no_sandbox")
		}
		w.refused(tt.status, tt.says, tt.way, tt.at, tt.body)
	}
	status, text := w.raw("POST", "/tasks", "x=y", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	if status != http.StatusUnsupportedMediaType {
		t.Errorf("a form: %d %s", status, text)
	}
	var list struct{ Data []store.Task }
	w.must(http.StatusOK, "GET", "/tasks", nil, &list)
	if len(list.Data) != 1 || list.Data[0].ID != got.ID {
		t.Errorf("there are %d tasks", len(list.Data))
	}
	if left, _ := os.ReadDir(filepath.Join(w.dir, "state", "tasks")); len(left) != 1 {
		t.Errorf("workspaces are left: %v", left)
	}
}

func m0() map[string]any { return map[string]any{} }

// TestBadRepositories: a dirty tree is left alone, a branch that exists is refused or
// gone around, a workspace that is deleted under a task fails its event.
func TestBadRepositories(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	w := start(t)
	w.agent("writer", "prompt\ncall w fs/write_text_file {\"sessionId\":\"$SESSION\",\"path\":\"$CWD/made.txt\",\"content\":\"x\"}\nsay wrote\n")
	repo := filepath.Join(w.dir, "files", "repo")
	git(t, w.dir, "init", "-q", "-b", "main", repo)
	w.refused(http.StatusUnprocessableEntity, "commit", "POST", "/tasks", map[string]any{"agent_name": "writer", "no_sandbox": true, "workspace": "worktree", "cwd": repo})
	if err := os.WriteFile(filepath.Join(repo, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-q", "-m", "one")
	if err := os.WriteFile(filepath.Join(repo, "a.txt"), []byte("dirty\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, repo, "branch", "tandemux/taken")
	make := func(name string, more map[string]any) store.Task {
		body := map[string]any{"name": name, "workspace": "worktree", "cwd": repo}
		for k, v := range more {
			body[k] = v
		}
		return w.create("writer", body)
	}
	one := make("taken", nil)
	info, err := w.svc().Files.Workspace(one.ID)
	if err != nil || info.Info().Branch != "tandemux/taken-2" {
		t.Errorf("its branch is %q, %v", info.Info().Branch, err)
	}
	w.refused(http.StatusConflict, "tandemux/taken", "POST", "/tasks", map[string]any{
		"agent_name": "writer", "no_sandbox": true, "workspace": "worktree", "cwd": repo, "git_branch": "tandemux/taken",
	})
	w.settles(w.send("taken", "go").ID)
	if text, _ := os.ReadFile(filepath.Join(repo, "a.txt")); string(text) != "dirty\n" {
		t.Errorf("the user's file is %q", text)
	}
	if out := git(t, repo, "status", "--porcelain"); out != " M a.txt\n" {
		t.Errorf("the user's tree is %q", out)
	}
	if err := os.RemoveAll(info.Dir()); err != nil {
		t.Fatal(err)
	}
	w.settles(w.send("taken", "again").ID)
	w.becomes("taken", store.Idle)
	w.must(http.StatusOK, "DELETE", "/tasks/taken?force=true", nil, nil)
	if out := git(t, repo, "worktree", "list"); strings.Count(out, "\n") != 1 {
		t.Errorf("worktrees are left:\n%s", out)
	}
}

// TestIdempotency: the same request under a key is done once and answered as it was;
// another one is a conflict (U66).
func TestIdempotency(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("hello", hello)
	key := http.Header{"Idempotency-Key": {"one"}}
	body := map[string]any{"agent_name": "hello", "no_sandbox": true}
	status, first := w.raw("POST", "/tasks", body, key)
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, first)
	}
	status, again := w.raw("POST", "/tasks", body, key)
	if status != http.StatusCreated || strings.TrimSpace(string(again)) != strings.TrimSpace(string(first)) {
		t.Errorf("again: %d %s, was %s", status, again, first)
	}
	body["name"] = "other"
	if status, text := w.raw("POST", "/tasks", body, key); status != http.StatusConflict {
		t.Errorf("another: %d %s", status, text)
	}
	body["agent_name"] = "nobody"
	other := http.Header{"Idempotency-Key": {"two"}}
	if status, _ := w.raw("POST", "/tasks", body, other); status != http.StatusNotFound {
		t.Errorf("what fails: %d", status)
	}
	body["agent_name"] = "hello"
	if status, text := w.raw("POST", "/tasks", body, other); status != http.StatusCreated {
		t.Errorf("a key of what failed is free: %d %s", status, text)
	}
	var list struct{ Data []store.Task }
	w.must(http.StatusOK, "GET", "/tasks", nil, &list)
	if len(list.Data) != 2 {
		t.Errorf("there are %d tasks", len(list.Data))
	}

	// An event is there once, also where the host died before it kept its answer.
	var sent [2]store.Event
	for i := range sent {
		status, text := w.raw("POST", "/tasks/other/events", map[string]any{"content": "go"}, http.Header{"Idempotency-Key": {"three"}})
		if err := json.Unmarshal(text, &sent[i]); err != nil || status != http.StatusCreated {
			t.Fatalf("send: %d %s", status, text)
		}
		if err := w.svc().Store.Abandon(t.Context(), "operator", "three"); err != nil {
			t.Fatal(err)
		}
	}
	if sent[0].ID != sent[1].ID {
		t.Errorf("one key, two events: %s, %s", sent[0].ID, sent[1].ID)
	}
}

// TestIdempotencyGone: who asks is gone before it is answered, and asks again: what failed is
// done then, what was done is answered as it was (U66).
func TestIdempotencyGone(t *testing.T) {
	t.Parallel()
	w := start(t)
	done := 0
	ask := func(ctx context.Context, do func() error) (any, error) {
		r := httptest.NewRequestWithContext(ctx, "POST", "/tasks/x/events", nil)
		r.Header.Set("Idempotency-Key", "one")
		return api.Once(r, w.svc(), func() (any, error) {
			err := do()
			if err == nil {
				done++
			}
			return done, err
		})
	}
	for _, fails := range []bool{true, false} {
		ctx, gone := context.WithCancel(t.Context())
		_, err := ask(ctx, func() error {
			if gone(); fails {
				return ctx.Err()
			}
			return nil
		})
		if fails != errors.Is(err, context.Canceled) {
			t.Errorf("who is gone is answered %v", err)
		}
	}
	if got, err := ask(t.Context(), func() error { return nil }); fmt.Sprintf("%s", got) != "1" || err != nil || done != 1 {
		t.Errorf("it was done %d times, and is answered %s, %v", done, got, err)
	}
}

// TestNameOfDeleted: a name whose task is being deleted is free in a moment, and who wants it
// asks again.
func TestNameOfDeleted(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("hello", hello)
	old := w.create("hello", map[string]any{"name": "other"})
	old.ID, old.Name, old.Status = "", "one", store.Deleting // a record without a runner: nobody begins with it
	old, err := w.svc().Store.Tasks.Create(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	body := map[string]any{"agent_name": "hello", "name": "one", "no_sandbox": true}
	w.refused(http.StatusServiceUnavailable, "still being deleted", "POST", "/tasks", body)
	w.must(http.StatusOK, "DELETE", "/tasks/"+old.ID, nil, nil)
	w.must(http.StatusCreated, "POST", "/tasks", body, nil)
}
