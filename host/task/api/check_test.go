package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/host/task/api"
	"tandemux/host/task/home"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/internal/soak"
)

// checked gives a task with a change in a worktree, whose repository has a check.
func checked(t *testing.T, check string, more map[string]any) (w *fixture, id, repo string, info workspace.Info) {
	t.Helper()
	w, repo = start(t), gitRepository(t)
	w.repositories = home.Repositories{"it": {Dir: repo, Check: check, CheckTime: time.Minute}}
	w.agent("a", hello)
	body := map[string]any{"workspace": "worktree", "cwd": repo, "name": "fixer"}
	for k, v := range more {
		body[k] = v
	}
	made := w.create("a", body)
	w.becomes(made.ID, store.Idle)
	w.must(200, http.MethodGet, "/tasks/"+made.ID+"/workspace", nil, &info)
	if err := os.WriteFile(filepath.Join(info.Dir, "f"), []byte("two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return w, made.ID, repo, info
}

func fileOf(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestCheck: work comes home when the check has passed, and what is merged is what was
// checked; what a check that fails printed is told.
func TestCheck(t *testing.T) {
	t.Parallel()
	w, id, repo, info := checked(t, "echo looking; echo at it >&2; touch made; grep -q three f || { echo no three; exit 3; }; echo four >f", nil)
	at := "/tasks/" + id + "/workspace/merge"
	status, text := w.raw(http.MethodPost, at, map[string]any{}, nil)
	var e api.Error
	if json.Unmarshal(text, &e) != nil || status != 409 || e.Output != "looking\nat it\nno three\n" || !strings.Contains(e.Message, "the check failed (exit code 3), so nothing came home: `echo looking") {
		t.Errorf("%d %s", status, text)
	}
	if got := fileOf(t, repo, "f"); got != "one\n" {
		t.Errorf("it came home: %q", got)
	}
	var m workspace.Merged
	w.must(200, http.MethodPost, at, map[string]any{"dry_run": true}, &m)
	if m.Check == "" || len(m.Files) != 2 {
		t.Errorf("dry run: %+v", m)
	}
	for name, text := range map[string]string{"f": "three\n", ".gitignore": "made\n"} {
		if err := os.WriteFile(filepath.Join(info.Dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.must(200, http.MethodPost, at, map[string]any{}, &m)
	if got := fileOf(t, repo, "f"); got != "three\n" || len(m.Files) != 2 {
		t.Errorf("merged %q: %+v", got, m)
	}
	// What the check did is the task's still.
	var d workspace.Diff
	w.must(200, http.MethodGet, "/tasks/"+id+"/workspace/diff", nil, &d)
	if len(d.Files) != 1 || fileOf(t, info.Dir, "f") != "four\n" {
		t.Errorf("left: %+v", d)
	}
	w.refused(409, "exit code 3", http.MethodPost, at, map[string]any{})
	m = workspace.Merged{}
	w.must(200, http.MethodPost, at, map[string]any{"no_check": true}, &m)
	if got := fileOf(t, repo, "f"); got != "four\n" || m.Check != "" {
		t.Errorf("merged unchecked %q: %+v", got, m)
	}
	w.must(200, http.MethodPost, at, map[string]any{}, &m) // nothing: nothing is checked
	if !m.Nothing {
		t.Errorf("%+v", m)
	}
}

// TestCheckOfWhatWasSaid: a commit that the agent makes while the check runs was not checked.
func TestCheckOfWhatWasSaid(t *testing.T) {
	t.Parallel()
	w, id, repo, _ := checked(t, "git -c user.name=a -c user.email=a@b commit -qam 'the agent goes on'", nil)
	w.refused(409, "has committed something since its work was checked", http.MethodPost, "/tasks/"+id+"/workspace/merge", map[string]any{})
	if got := fileOf(t, repo, "f"); got != "one\n" {
		t.Errorf("it came home: %q", got)
	}
}

// TestCheckInSandbox: the check sees what the agent sees, and nothing else.
func TestCheckInSandbox(t *testing.T) {
	soak.Long(t, "TestCheck has a check, without a sandbox")
	t.Parallel()
	needSandbox(t)
	w, id, repo, _ := checked(t, `pwd; git log --oneline | wc -l; echo $HOME; test -e "`+os.TempDir()+`/outside-of-it" && echo seen; test "$PWD" = /workspace`, map[string]any{"no_sandbox": nil})
	w.must(200, http.MethodPost, "/tasks/"+id+"/workspace/merge", map[string]any{}, nil)
	if got := fileOf(t, repo, "f"); got != "two\n" {
		t.Errorf("%q", got)
	}
	w.repositories["it"] = home.Repository{Dir: repo, Check: "pwd; ls " + repo + " 2>/dev/null && echo seen; false"}
	if err := os.WriteFile(filepath.Join(w.dir, "state", "tasks", id, "workspace", "f"), []byte("three\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, text := w.raw(http.MethodPost, "/tasks/"+id+"/workspace/merge", map[string]any{}, nil)
	var e api.Error
	if json.Unmarshal(text, &e) != nil || e.Output != "/workspace\n" {
		t.Errorf("%s", text)
	}
}

// TestSetup: a new task has what git ignores and the configuration names, and what its setup
// makes, before its agent starts; where that fails, so does the task, and says why.
func TestSetup(t *testing.T) {
	t.Parallel()
	w, repo := start(t), gitRepository(t)
	for name, text := range map[string]string{".gitignore": "ignored*\n", "ignored": "carried\n"} {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.repositories = home.Repositories{"it": {Dir: repo, Setup: "test -e ignored && echo made >ignored.too", Carry: []string{"ign*"}}}
	w.agent("a", "prompt\nsay $PROMPT\n")
	of := func(name string) store.Task {
		return w.create("a", map[string]any{"workspace": "worktree", "cwd": repo, "name": name})
	}
	made := of("one")
	w.becomes(made.ID, store.Idle)
	dir := filepath.Join(w.dir, "state", "tasks", made.ID, "workspace")
	if got := fileOf(t, dir, "ignored") + fileOf(t, dir, "ignored.too"); got != "carried\nmade\n" {
		t.Errorf("%q", got)
	}
	w.repositories["it"] = home.Repository{Dir: repo, Setup: "echo it is broken; exit 4"}
	failed := w.becomes(of("two").ID, store.FailedRun)
	if !strings.Contains(failed.Reason, "the setup failed (exit code 4): `echo it is broken; exit 4`: it is broken") {
		t.Errorf("reason %q", failed.Reason)
	}
}
