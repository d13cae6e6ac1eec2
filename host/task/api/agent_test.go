package api_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/task/access"
	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

// as sends a request with a key.
func (w *fixture) as(secret, method, path string, body any) (int, string) {
	w.t.Helper()
	status, text := w.raw(method, path, body, http.Header{"Authorization": {"Bearer " + secret}})
	return status, string(text)
}

// key makes a key with scopes.
func (w *fixture) key(name string, scopes ...string) registry.MadeKey {
	w.t.Helper()
	var parsed []access.Scope
	for _, s := range scopes {
		p, err := access.ParseScope(s)
		if err != nil {
			w.t.Fatal(err)
		}
		parsed = append(parsed, p)
	}
	var k registry.MadeKey
	w.must(http.StatusCreated, http.MethodPost, "/api_keys", map[string]any{"name": name, "scopes": parsed}, &k)
	return k
}

// TestAgents: agents, versions, branches and variables by the interface (U19,
// U23–U32, U96).
func TestAgents(t *testing.T) {
	t.Parallel()
	w := start(t)
	def := registry.Definition{Name: "a", Description: "first", Command: []string{"sh"}}
	var one store.Deployed
	w.must(http.StatusCreated, http.MethodPost, "/agents/deploy", api.NewDeploy{Definition: def, DeployOptions: api.DeployOptions{Branch: "feature/x", Note: "n"}}, &one)
	if one.Version.Status != store.Ready || one.Branch.Environment != "preview" {
		t.Errorf("%+v", one)
	}
	var files bytes.Buffer
	tw := tar.NewWriter(&files)
	text := "name = \"a\"\ncommand = [\"./run\"]\n"
	for name, body := range map[string]string{registry.DefinitionFile: text, "run": "#!/bin/sh\n"} {
		if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(body)), Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
		tw.Write([]byte(body)) //nolint:errcheck // a buffer
	}
	tw.Close()
	status, raw := w.raw(http.MethodPost, "/agents/deploy/files?branch=feature/x", files.String(), http.Header{"Content-Type": {"application/x-tar"}})
	var two store.Deployed
	if err := json.Unmarshal(raw, &two); err != nil || status != http.StatusCreated || two.Version.Number != 2 || two.Version.Code == "" {
		t.Fatalf("%d %s", status, raw)
	}
	var agents api.Page[store.Agent]
	w.must(http.StatusOK, http.MethodGet, "/agents", nil, &agents)
	if len(agents.Data) != 1 || agents.Data[0].Name != "a" {
		t.Errorf("%+v", agents)
	}
	for _, ref := range []string{"a", one.Agent.ID} {
		w.must(http.StatusOK, http.MethodGet, "/agents/"+ref, nil, nil)
	}
	var branch store.Branch
	w.must(http.StatusOK, http.MethodGet, "/agents/a/branches/feature%2Fx", nil, &branch)
	w.must(http.StatusOK, http.MethodGet, "/branches/"+branch.ID, nil, nil)
	var branches api.Page[store.Branch]
	w.must(http.StatusOK, http.MethodGet, "/agents/a/environments/preview/branches", nil, &branches)
	if len(branches.Data) != 1 || branches.Data[0].ActiveID != two.Version.ID {
		t.Errorf("%+v", branches)
	}
	var none api.Page[store.Branch]
	w.must(http.StatusOK, http.MethodGet, "/agents/a/environments/production/branches", nil, &none)
	if len(none.Data) != 0 {
		t.Errorf("%+v", none)
	}
	var versions api.Page[store.Version]
	w.must(http.StatusOK, http.MethodGet, "/agents/a/versions?limit=1", nil, &versions)
	if len(versions.Data) != 1 || versions.Next == "" {
		t.Errorf("%+v", versions)
	}
	var rest api.Page[store.Version]
	w.must(http.StatusOK, http.MethodGet, "/agents/a/versions?cursor="+versions.Next, nil, &rest)
	if len(rest.Data) != 1 || rest.Data[0].ID != one.Version.ID || rest.Next != "" {
		t.Errorf("%+v", rest)
	}
	w.must(http.StatusOK, http.MethodGet, "/versions/a@2", nil, nil)
	w.must(http.StatusOK, http.MethodGet, "/branches/"+branch.ID+"/versions", nil, &versions)

	// Variables, and what has them.
	path := "/agents/a/environments/prev/variables"
	w.must(http.StatusOK, http.MethodPut, path, api.NewVariables{Variables: []store.Variable{{Name: "K", Value: "hush-hush", Secret: true}, {Name: "P", Value: "plain"}}}, nil)
	if _, text := w.raw(http.MethodGet, path, nil, nil); strings.Contains(string(text), "hush") || !strings.Contains(string(text), "plain") || !strings.Contains(string(text), `"pending":true`) {
		t.Errorf("%s", text)
	}
	w.refused(http.StatusNotFound, "no variable", http.MethodGet, path+"/NONE", nil)
	w.refused(http.StatusUnprocessableEntity, "no name of a variable", http.MethodPut, path, api.NewVariables{Variables: []store.Variable{{Name: "B-D"}}})
	w.refused(http.StatusUnprocessableEntity, "is production or preview", http.MethodGet, "/agents/a/environments/x/variables", nil)
	var re, back store.Deployed
	w.must(http.StatusCreated, http.MethodPost, "/branches/"+branch.ID+"/redeploy", nil, &re)
	w.must(http.StatusOK, http.MethodPost, "/agents/a/branches/feature%2Fx/rollback", api.NewRollback{Version: "1", Note: "back"}, &back)
	if re.Version.Number != 3 || back.Version.ID != one.Version.ID {
		t.Errorf("version %d, then %d", re.Version.Number, back.Version.Number)
	}
	w.refused(http.StatusConflict, "active one already", http.MethodPost, "/branches/"+branch.ID+"/rollback", api.NewRollback{Version: one.Version.ID})
	w.must(http.StatusNoContent, http.MethodDelete, path+"/K", nil, nil)
	var events api.Page[store.BranchEvent]
	w.must(http.StatusOK, http.MethodGet, "/branches/"+branch.ID+"/events", nil, &events)
	if len(events.Data) != 4 || events.Data[0].Kind != "rollback" || events.Data[0].Note != "back" || events.Data[3].Note != "n" {
		t.Errorf("%+v", events)
	}
	var logs api.LogPage
	w.must(http.StatusOK, http.MethodGet, "/agents/a/logs?level=INFO&source=deploy&since=1h", nil, &logs)
	if len(logs.Data) != 4 || logs.Last != logs.Data[3].N {
		t.Errorf("%+v", logs)
	}

	// What is wrong says so.
	w.refused(http.StatusUnprocessableEntity, "neither a command", http.MethodPost, "/agents/deploy", api.NewDeploy{Definition: registry.Definition{Name: "b"}})
	w.refused(http.StatusUnprocessableEntity, "no name of a branch", http.MethodPost, "/agents/deploy", api.NewDeploy{Definition: def, DeployOptions: api.DeployOptions{Branch: "a b"}})
	w.refused(http.StatusNotFound, "nobody", http.MethodGet, "/agents/nobody/versions", nil)
	w.refused(http.StatusUnprocessableEntity, "level", http.MethodGet, "/agents/a/logs?level=loud", nil)
	w.must(http.StatusNoContent, http.MethodDelete, "/agents/a", nil, nil)
	w.refused(http.StatusNotFound, "", http.MethodGet, "/branches/"+branch.ID, nil)
	if left, _ := os.ReadDir(filepath.Join(w.dir, "state", "versions")); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

// TestLogsAreFollowed: a question for more lines is answered when there is one.
func TestLogsAreFollowed(t *testing.T) {
	t.Parallel()
	w := start(t)
	d := w.deploy(registry.Definition{Name: "a", Command: []string{"sh"}})
	var first api.LogPage
	w.must(http.StatusOK, http.MethodGet, "/agents/a/logs", nil, &first)
	answer := make(chan api.LogPage)
	asked := make(chan struct{})
	go func() {
		close(asked)
		var got api.LogPage
		_, text := w.raw(http.MethodGet, fmt.Sprintf("/agents/a/logs?after=%d&wait=30&source=agent", first.Last), nil, nil)
		json.Unmarshal(text, &got) //nolint:errcheck // then it is empty
		answer <- got
	}()
	<-asked
	l, err := w.svc().Agents.Launch(context.Background(), d.Version.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"hook", "agent"} { // the first is not what was asked for
		if err := w.svc().Agents.Log(context.Background(), l, store.LogEntry{Level: store.Info, Source: source, Text: source}); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-answer; len(got.Data) != 1 || got.Data[0].Text != "agent" {
		t.Errorf("%+v", got)
	}
	var none api.LogPage
	w.must(http.StatusOK, http.MethodGet, fmt.Sprintf("/agents/a/logs?after=%d&wait=1", first.Last+100), nil, &none)
	if len(none.Data) != 0 {
		t.Errorf("%+v", none)
	}
}

// TestVersionsOfTasks: a running task goes on with its version where the
// environment is sticky, and moves with its next event where it isn't (U30, U31,
// U40).
func TestVersionsOfTasks(t *testing.T) {
	t.Parallel()
	w := start(t)
	deploy := func(branch, word string) store.Deployed {
		t.Helper()
		hook := w.file(branch+word, "#!/bin/sh\necho '{\"type\":\"message\",\"text\":\""+word+" '$K'\"}'\n")
		def := registry.Definition{Name: "a", Hooks: registry.Hooks{OnEvent: []string{hook}}}
		got, err := w.svc().Agents.Deploy(context.Background(), access.TheOperator(), registry.Deploy{Definition: &def, Branch: branch})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	says := func(task, want string) {
		t.Helper()
		w.settles(w.send(task, "x").ID)
		if said := w.said(task); said[strings.LastIndex(said, "|")+1:] != want {
			t.Errorf("it said %q, want %q", said, want)
		}
	}
	deploy("main", "one")
	deploy("next", "one")
	w.must(http.StatusOK, http.MethodPut, "/agents/a/environments/preview/variables", api.NewVariables{Variables: []store.Variable{{Name: "K", Value: "k1"}}}, nil)
	sticky, moves := w.create("a", map[string]any{"branch": "main"}), w.create("a", map[string]any{"branch": "next"})
	says(sticky.ID, "one ")
	says(moves.ID, "one ")
	deploy("main", "two")
	got := deploy("next", "two")
	w.svc().Changed(got.Moved...)
	says(sticky.ID, "one ")
	says(moves.ID, "two k1")
	if now := w.get(moves.ID); now.VersionID != got.Version.ID || now.LaunchedID != got.Version.ID {
		t.Errorf("%+v", now)
	}
	w.must(http.StatusOK, http.MethodPost, "/branches/"+got.Branch.ID+"/rollback", api.NewRollback{}, nil)
	says(moves.ID, "one ") // with the variables of then: none
	var migrated registry.Migrated
	w.must(http.StatusOK, http.MethodPost, "/tasks/migrate", map[string]any{"task_ids": []string{sticky.ID}, "to_latest": true}, &migrated)
	if len(migrated.Moved) != 1 {
		t.Errorf("%+v", migrated)
	}
	says(sticky.ID, "two ")
}
