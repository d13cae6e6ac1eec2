package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/soak"
)

// TestKeys: what a key may do is its scopes, and it is over at once (U87–U90, U97,
// U98).
func TestKeys(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("a", hello)
	w.agent("b", hello)
	var p store.Project
	w.must(http.StatusCreated, http.MethodPost, "/projects", map[string]any{"name": "p"}, &p)
	k := w.key("k", "agent:a:executor", "project:p:viewer")
	for _, c := range []struct {
		method, path string
		body         any
		status       int
	}{
		{"GET", "/agents/a", nil, 200},
		{"GET", "/agents/b", nil, 404},
		{"GET", "/agents/a/versions", nil, 200},
		{"GET", "/agents/b/versions", nil, 404},
		{"DELETE", "/agents/a", nil, 403},
		{"POST", "/agents/deploy", api.NewDeploy{Definition: registry.Definition{Name: "a", Command: []string{"sh"}}}, 403},
		{"POST", "/agents/deploy", api.NewDeploy{Definition: registry.Definition{Name: "b", Command: []string{"sh"}}}, 403},
		{"POST", "/agents/deploy", api.NewDeploy{Definition: registry.Definition{Name: "new", Command: []string{"sh"}}}, 403},
		{"GET", "/agents/a/environments/prod/variables", nil, 200},
		{"PUT", "/agents/a/environments/prod/variables", api.NewVariables{}, 403},
		{"GET", "/projects/p", nil, 200},
		{"PATCH", "/projects/p", map[string]any{"description": "x"}, 403},
		{"DELETE", "/projects/p", nil, 403},
		{"POST", "/projects", map[string]any{"name": "q"}, 403},
		{"GET", "/api_keys", nil, 403},
		{"POST", "/api_keys", map[string]any{"name": "x", "scopes": k.Scopes}, 403},
		{"DELETE", "/api_keys/k", nil, 403},
		{"POST", "/tasks", map[string]any{"agent_name": "b", "workspace": "none"}, 404},
		{"POST", "/tasks", map[string]any{"agent_name": "a", "workspace": "rw:/"}, 403},
		{"POST", "/tasks", map[string]any{"agent_command": []string{"sh"}, "workspace": "none"}, 403},
		{"POST", "/tasks", map[string]any{"agent_name": "a", "workspace": "none", "no_sandbox": true}, 403},
	} {
		if status, text := w.as(k.Secret, c.method, c.path, c.body); status != c.status {
			t.Errorf("%s %s: %d, want %d: %s", c.method, c.path, status, c.status, text)
		}
	}
	if status, text := w.as(k.Secret, "GET", "/agents", nil); status != 200 || strings.Contains(text, `"b"`) || !strings.Contains(text, `"a"`) {
		t.Errorf("it sees %s", text)
	}
	for what, secret := range map[string]string{"a part": k.Secret[:len(k.Secret)-1], "another": "tandemux_sk_" + strings.Repeat("A", 43), "its id": k.ID} {
		if status, _ := w.as(secret, "GET", "/agents", nil); status != 401 {
			t.Errorf("%s of it is answered with %d", what, status)
		}
	}
	if _, text := w.raw("GET", "/api_keys", nil, nil); strings.Contains(string(text), "tandemux_sk_") || strings.Contains(string(text), `"hash"`) {
		t.Errorf("the list has %s", text)
	}
	if strings.Contains(w.log.String(), k.Secret) {
		t.Error("the log has the secret")
	}

	// What runs without a sandbox runs as the operator: no key sees it, or speaks to it.
	bare := w.create("a", map[string]any{"workspace": "none"})
	all := w.key("all", "agent:*:owner", "project:*:owner").Secret
	for at, body := range map[string]any{
		"GET ": nil, "GET /stream": nil, "GET /messages": nil, "POST /events": map[string]any{"content": "x"}, "POST /answers": map[string]any{"question_id": "q"}, "POST /cancel": nil, "DELETE ": nil,
	} {
		method, below, _ := strings.Cut(at, " ")
		if status, text := w.as(all, method, "/tasks/"+bare.ID+below, body); status != 404 {
			t.Errorf("%s of a task without a sandbox: %d %s", at, status, text)
		}
	}

	// A stream that is open ends with the key.
	needSandbox(t)
	task := w.create("a", map[string]any{"workspace": "none", "no_sandbox": nil})
	w.becomes(task.ID, store.Idle)
	w.settles(w.send(task.ID, "x").ID)
	ended := make(chan error, 1)
	reading := make(chan struct{})
	go func() {
		req, err := http.NewRequest("GET", "http://localhost"+api.Prefix+"/tasks/"+task.ID+"/stream?follow=true", nil)
		if err != nil {
			ended <- err
			return
		}
		req.Header.Set("Authorization", "Bearer "+k.Secret)
		resp, err := w.http.Do(req)
		if err != nil {
			ended <- err
			return
		}
		defer resp.Body.Close()
		b := make([]byte, 4096)
		_, err = resp.Body.Read(b)
		close(reading)
		for err == nil {
			_, err = resp.Body.Read(b)
		}
		ended <- err
	}()
	select {
	case <-reading:
	case err := <-ended:
		t.Fatal(err)
	}
	before := time.Now()
	w.must(http.StatusOK, http.MethodDelete, "/api_keys/k", nil, nil)
	if status, _ := w.as(k.Secret, "GET", "/agents", nil); status != 401 {
		t.Errorf("after it was revoked it is answered with %d", status)
	}
	<-ended
	t.Logf("its stream ended %v after the key", time.Since(before))
	var revoked store.APIKey
	w.must(http.StatusOK, http.MethodGet, "/api_keys/"+k.ID, nil, &revoked)
	if revoked.Revoked.IsZero() || len(revoked.Scopes) != 0 {
		t.Errorf("%+v", revoked)
	}
}

// TestDualParents: creating and seeing a task takes the agent and the project
// (U82–U86).
func TestDualParents(t *testing.T) {
	soak.Long(t, "each right of an agent and of a project")
	t.Parallel()
	needSandbox(t)
	w := start(t)
	w.agent("a", hello)
	for _, name := range []string{"p", "q"} {
		w.must(http.StatusCreated, http.MethodPost, "/projects", map[string]any{"name": name}, nil)
	}
	var fs struct{ ID string }
	w.must(http.StatusCreated, http.MethodPost, "/filesystems", map[string]any{"project_id": "p", "name": "files"}, &fs)
	reader, writer := w.key("reader", "agent:a:executor", "project:p:viewer"), w.key("writer", "agent:a:executor", "project:p:editor")
	runner, other := w.key("runner", "agent:a:executor"), w.key("other", "agent:a:owner", "project:q:owner")
	viewer := w.key("viewer", "agent:a:viewer", "project:p:viewer")
	create := func(k registry.MadeKey, body map[string]any) (int, store.Task) {
		t.Helper()
		body["agent_name"] = "a"
		status, text := w.as(k.Secret, "POST", "/tasks", body)
		var task store.Task
		json.Unmarshal([]byte(text), &task) //nolint:errcheck // the status tells
		if status != 201 {
			t.Logf("%s: %d %s", k.Name, status, strings.TrimSpace(text))
		}
		return status, task
	}
	on := func() map[string]any { return map[string]any{"filesystem_id": fs.ID} }
	status, read := create(reader, on())
	if status != 201 || read.Writable || read.ProjectID == "" || read.FilesystemID != fs.ID {
		t.Errorf("a reader's: %d %+v", status, read)
	}
	status, write := create(writer, on())
	if status != 201 || !write.Writable {
		t.Errorf("a writer's: %d %+v", status, write)
	}
	for name, c := range map[string]struct {
		k    registry.MadeKey
		want int
	}{"no project": {runner, 404}, "another project": {other, 404}, "may not run": {viewer, 403}} {
		if status, _ := create(c.k, on()); status != c.want {
			t.Errorf("%s: %d, want %d", name, status, c.want)
		}
	}
	if status, task := create(writer, map[string]any{"project_id": "p"}); status != 201 || !task.Writable || task.FilesystemID == "" {
		t.Errorf("of a project: %d %+v", status, task)
	}
	if status, _ := create(reader, map[string]any{"project_id": "p"}); status != 403 {
		t.Errorf("of a project that may only be read: %d", status)
	}
	for name, c := range map[string]struct {
		k    registry.MadeKey
		want int
	}{"reader": {reader, 200}, "writer": {writer, 200}, "viewer": {viewer, 200}, "runner": {runner, 404}, "other": {other, 404}} {
		if status, _ := w.as(c.k.Secret, "GET", "/tasks/"+read.ID, nil); status != c.want {
			t.Errorf("%s gets the task: %d, want %d", name, status, c.want)
		}
		status, text := w.as(c.k.Secret, "GET", "/tasks", nil)
		if status != 200 || strings.Contains(text, read.ID) != (c.want == 200) {
			t.Errorf("%s lists %d %s", name, status, text)
		}
		if c.want == 404 { // for the others it goes on
			if status, _ := w.as(c.k.Secret, "GET", "/tasks/"+read.ID+"/stream", nil); status != 404 {
				t.Errorf("%s streams it: %d", name, status)
			}
		}
	}
	if status, _ := w.as(viewer.Secret, "POST", "/tasks/"+read.ID+"/events", map[string]any{"content": "x"}); status != 403 {
		t.Errorf("a viewer sends: %d", status)
	}
	if status, _ := w.as(viewer.Secret, "DELETE", "/tasks/"+read.ID, nil); status != 403 {
		t.Errorf("a viewer deletes: %d", status)
	}
	if status, _ := w.as(writer.Secret, "DELETE", "/tasks/"+read.ID, nil); status != 403 {
		t.Errorf("somebody else who may run it deletes: %d", status)
	}
	if status, text := w.as(reader.Secret, "DELETE", "/tasks/"+read.ID, nil); status != 200 {
		t.Errorf("who created it deletes: %d %s", status, text)
	}
	// A task on a directory of the operator's is nobody else's.
	private := w.create("a", map[string]any{"workspace": "ro:" + w.dir + "/files"})
	if status, _ := w.as(w.key("all", "agent:*:owner", "project:*:owner").Secret, "GET", "/tasks/"+private.ID, nil); status != 404 {
		t.Errorf("a key sees what is the operator's: %d", status)
	}
}

// TestOthersAgents: an agent that a key deployed is shown no file of the host's that
// its definition names, and runs in a sandbox only.
func TestOthersAgents(t *testing.T) {
	soak.Long(t, "rights of several people")
	t.Parallel()
	needSandbox(t)
	w := start(t)
	secret := w.file("private", "the operator's own")
	k := w.key("k", "agent:*:owner")
	def := registry.Definition{Name: "a", Hooks: registry.Hooks{OnEvent: []string{"cat", secret}}}
	status, text := w.as(k.Secret, "POST", "/agents/deploy", api.NewDeploy{Definition: def})
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	reads := func(task string) (store.Event, string) {
		t.Helper()
		e := w.settles(w.send(task, "x").ID)
		var logs api.LogPage
		w.must(http.StatusOK, http.MethodGet, "/agents/a/logs?task="+task, nil, &logs)
		all := ""
		for _, l := range logs.Data {
			all += l.Text + "\n"
		}
		return e, all
	}
	task := w.create("a", map[string]any{"workspace": "none", "no_sandbox": nil})
	if e, log := reads(task.ID); e.Status != store.EventFailed || strings.Contains(log, "the operator's own") {
		t.Errorf("it read what is the operator's: %+v\n%s", e, log)
	}
	bare := w.create("a", map[string]any{"workspace": "none"})
	w.until("it has failed", func() bool { return w.get(bare.ID).Status == store.FailedRun })
	if reason := w.get(bare.ID).Reason; !strings.Contains(reason, "it runs in a sandbox only") {
		t.Errorf("without a sandbox: %s", reason)
	}
	// The operator's own definition is shown what it names (U73).
	w.deploy(def)
	task = w.create("a", map[string]any{"workspace": "none", "no_sandbox": nil})
	if e, log := reads(task.ID); e.Status != store.EventDone || !strings.Contains(log, "the operator's own") {
		t.Errorf("the operator's: %+v\n%s", e, log)
	}
}
