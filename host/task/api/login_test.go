package api_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

// showsLogin is a hook that says what it sees of a login, and writes to it.
const showsLogin = `#!/bin/sh
cat >/dev/null
say() { printf '{"type":"message","text":"%s"}\n' "$1"; }
say "$(cat ~/.agent/token ~/.config/agent/more ~/.agent.json 2>&1 | tr '\n"' ' .')"
echo renewed > ~/.agent/token && echo kept > ~/.agent/kept
ls -A ~/.secret >/dev/null 2>&1 && say "it sees another file"
true
`

// TestLogins: an agent of the operator's sees copies of the files that the configuration
// names, and no others; what it writes to them does not come back; they are in nothing that
// is pulled, and go with the task. Keys' tasks see none.
func TestLogins(t *testing.T) {
	needSandbox(t)
	t.Parallel()
	w := start(t)
	home := filepath.Join(w.dir, "home")
	for name, text := range map[string]string{".agent/token": "secret-one", ".config/agent/more": "secret-two", ".agent.json": "secret-three", ".secret": "other"} {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	w.logins = []string{".agent/token", ".config/agent", ".agent.json", ".missing"}
	hook := w.file("hook", showsLogin)
	def := registry.Definition{Name: "shows", Hooks: registry.Hooks{OnEvent: []string{hook}}}
	def.Sandbox.Folders = []string{".agent"}
	d := w.deploy(def)
	got := w.create("shows", map[string]any{"name": "it", "no_sandbox": nil})
	if e := w.settles(w.send("it", "a").ID); e.Status != store.EventDone {
		t.Fatalf("the event is %+v", e)
	}
	if said := w.said("it"); said != "secret-one secret-two secret-three " {
		t.Errorf("it sees %q", said)
	}
	if e := w.settles(w.send("it", "b").ID); e.Status != store.EventDone {
		t.Fatalf("the event is %+v", e)
	}
	if said := w.said("it"); !strings.HasSuffix(said, "|renewed secret-two secret-three ") {
		t.Errorf("what it wrote is not there for its next process: %q", said)
	}
	if text, err := os.ReadFile(filepath.Join(home, ".agent", "token")); err != nil || string(text) != "secret-one\n" {
		t.Errorf("the login is %q: %v", text, err)
	}
	// What the task keeps of its own, and what can be pulled, is there, and the login isn't.
	system := filepath.Join(w.dir, "state", "tasks", got.ID)
	kept := false
	err := filepath.WalkDir(system, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		kept = kept || e.Name() == "kept"
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("secret-")) || bytes.Contains(text, []byte("renewed")) {
			t.Errorf("%s has the login", path)
		}
		return err
	})
	if err != nil || !kept {
		t.Errorf("it kept its own: %v, %v", kept, err)
	}
	if strings.Contains(w.log.String(), "secret-") {
		t.Error("the log has the login")
	}

	// A key's task sees none of it, though the agent is the operator's.
	key := access.Principal{Kind: access.Key, ID: "k", Scopes: []access.Scope{{Kind: access.Agent, ID: d.Agent.ID, Role: access.Editor}}}
	of, err := w.svc().Create(t.Context(), key, task.NewTask{AgentName: "shows", Name: "keys"})
	if err != nil {
		t.Fatal(err)
	}
	if e := w.settles(w.send(of.ID, "a").ID); e.Status != store.EventDone {
		t.Fatalf("the event is %+v", e)
	}
	if said := w.said(of.ID); strings.Contains(said, "secret-") {
		t.Errorf("a key's task sees %q", said)
	}

	scratch := filepath.Join(w.dir, "state", "scratch", got.ID)
	w.must(http.StatusOK, http.MethodPost, "/tasks/it/cancel", nil, nil)
	w.until("the copies are gone", func() bool { _, err := os.Stat(filepath.Join(scratch, "login")); return errors.Is(err, os.ErrNotExist) })
}

// TestLoginRefused: a login that leads out of the home directory, or is in place of the task's
// own directory, lets no agent start.
func TestLoginRefused(t *testing.T) {
	needSandbox(t)
	t.Parallel()
	for name, why := range map[string]string{".out": "the login ~/.out", ".claude": "name the files in it"} {
		w := start(t)
		home := filepath.Join(w.dir, "home")
		if err := errors.Join(os.MkdirAll(filepath.Join(home, ".claude"), 0o700), os.Symlink("/etc/hostname", filepath.Join(home, ".out"))); err != nil {
			t.Fatal(err)
		}
		w.logins = []string{name}
		w.agent("hello", hello)
		w.create("hello", map[string]any{"name": "it", "no_sandbox": nil})
		if got := w.becomes("it", store.FailedRun); !strings.Contains(got.Reason, why) {
			t.Errorf("%s: %q", name, got.Reason)
		}
	}
}
