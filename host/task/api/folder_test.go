package api_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/folders"
	"tandemux/internal/soak"
)

// seesFolder is a hook that says what it sees in its folder, and leaves something there.
const seesFolder = `#!/bin/sh
cat >/dev/null
echo own >~/.agent/own
printf '{"type":"message","text":"%s"}\n' "$(cat ~/.agent/settings ~/.agent/token ~/.claude/settings 2>&1 | tr '\n"' ' .')"
`

// TestFolderTypes: a task's system folders come out and go in by type, and all of them where
// none is named (U6); logins that are mounted there do neither; a type that is none is refused
// with those that there are, before anything is read.
func TestFolderTypes(t *testing.T) {
	soak.Long(t, "each type of folder in a sandbox")
	needSandbox(t)
	t.Parallel()
	w := start(t)
	if err := errors.Join(os.MkdirAll(filepath.Join(w.dir, "home", ".agent"), 0o700), os.WriteFile(filepath.Join(w.dir, "home", ".agent", "token"), []byte("secret"), 0o600)); err != nil {
		t.Fatal(err)
	}
	w.logins = []string{".agent/token"}
	def := registry.Definition{Name: "sees", Hooks: registry.Hooks{OnEvent: []string{w.file("hook", seesFolder)}}}
	def.Sandbox.Folders = []string{".agent"}
	w.deploy(def)
	task := w.create("sees", map[string]any{"name": "it", "no_sandbox": nil})
	w.settles(w.send("it", "a").ID) // the folders, and a place for the login, are there now
	var info api.Workspace
	w.must(http.StatusOK, "GET", "/tasks/it/workspace", nil, &info)
	if got := strings.Join(info.FolderTypes, " "); info.ID != task.ID || got != "dot_agent dot_claude dot_codex" {
		t.Errorf("its types are %q, of %+v", got, info)
	}

	mine := filepath.Join(w.dir, "mine")
	for name, text := range map[string]string{".agent/settings": "one", ".agent/token": "other", ".claude/settings": "two"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(mine, name)), 0o700), os.WriteFile(filepath.Join(mine, name), []byte(text+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	if _, err := filetree.PackDir(t.Context(), mine, &packed); err != nil {
		t.Fatal(err)
	}
	const archive = "/tasks/it/archive"
	put := func(query string) (got folders.Brought) {
		t.Helper()
		w.must(http.StatusOK, "PUT", archive+query, packed.String(), &got)
		return got
	}
	said := func() string {
		t.Helper()
		w.settles(w.send("it", "again").ID)
		all := w.said("it")
		return all[strings.LastIndexByte(all, '|')+1:]
	}
	if got := put("?folder_type=dot_agent"); !slices.Equal(got.Changed, []string{".agent/settings"}) || !slices.Equal(got.Folders, []string{".agent"}) || !slices.Equal(got.Skipped, []string{".agent/token", ".claude"}) {
		t.Errorf("one type: %+v", got)
	}
	if got := said(); !strings.HasPrefix(got, "one secret") || strings.Contains(got, "two") {
		t.Errorf("the agent sees %q", got)
	}
	if got := put("?folder_type=dot_codex&folder_type=dot_claude"); !slices.Equal(got.Changed, []string{".claude/settings"}) {
		t.Errorf("two types: %+v", got)
	}
	if got := put(""); got.Count != 0 || !slices.Equal(got.Folders, []string{".agent", ".claude"}) {
		t.Errorf("all of them, again: %+v", got)
	}
	if got := put("?delete=true"); !slices.Equal(got.Changed, []string{".agent/own"}) {
		t.Errorf("all of them, and nothing else: %+v", got)
	}
	if got := said(); got != "one secrettwo " {
		t.Errorf("the agent sees %q", got)
	}

	get := func(query string) string {
		t.Helper()
		status, body := w.raw("GET", archive+query, nil, nil)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", query, status, body)
		}
		out := filepath.Join(t.TempDir(), "out")
		if _, err := filetree.Unpack(t.Context(), bytes.NewReader(body), out, filetree.PullOptions{}); err != nil {
			t.Fatal(err)
		}
		var names []string
		filepath.WalkDir(out, func(path string, _ fs.DirEntry, err error) error { //nolint:errcheck // an error is a name that lacks
			name, _ := filepath.Rel(out, path)
			names = append(names, name)
			return err
		})
		return strings.Join(names[1:], " ")
	}
	for query, want := range map[string]string{
		"?folder_type=dot_agent":                        ".agent .agent/own .agent/settings",
		"?folder_type=dot_codex&folder_type=dot_claude": ".claude .claude/settings .codex",
		"": ".agent .agent/own .agent/settings .claude .claude/settings .codex workspace",
	} {
		if got := get(query); got != want {
			t.Errorf("GET %s: %s, want %s", query, got, want)
		}
	}

	for _, method := range []string{"GET", "PUT"} {
		w.refused(http.StatusUnprocessableEntity, `there is no folder type "dot_agen"; the task has dot_agent, dot_claude, dot_codex`, method, archive+"?folder_type=dot_claude&folder_type=dot_agen", nil)
	}
	w.refused(http.StatusUnprocessableEntity, `no parameter is named "folder"`, "GET", archive+"?folder=x", nil)
	w.refused(http.StatusBadRequest, "the archive has none of .codex", "PUT", archive+"?folder_type=dot_codex", packed.String())
}

// TestFolderTypesOutside: a task at work is left alone unless that is said to be fine, and one
// without a sandbox has no folders of its own.
func TestFolderTypesOutside(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("hangs", "prompt\nsay hello\nawait cancel\nstop cancelled\n")
	w.create("hangs", map[string]any{"name": "bare"})
	w.refused(http.StatusUnprocessableEntity, `there is no folder type "dot_claude": the task runs without a sandbox`, "GET", "/tasks/bare/archive?folder_type=dot_claude", nil)
	status, text := w.raw("PUT", "/tasks/bare/archive", "", nil)
	if status < 400 || status >= 500 || !strings.Contains(string(text), "runs without a sandbox, so it has no system folders") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := w.raw("GET", "/tasks/bare/archive", nil, nil); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	needSandbox(t)
	w.create("hangs", map[string]any{"name": "busy", "no_sandbox": nil})
	w.send("busy", "a")
	w.becomes("busy", store.Running)
	dir := t.TempDir()
	var packed bytes.Buffer
	if err := os.MkdirAll(filepath.Join(dir, ".claude", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := filetree.PackDir(t.Context(), dir, &packed); err != nil {
		t.Fatal(err)
	}
	w.refused(http.StatusConflict, "is at work, so its files may hold half of a change", "PUT", "/tasks/busy/archive", packed.String())
	w.must(http.StatusOK, "PUT", "/tasks/busy/archive?running=true", packed.String(), nil)
}
