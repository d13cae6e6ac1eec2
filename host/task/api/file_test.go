package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/task/api"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
	"tandemux/internal/soak"
)

// TestFiles goes through the requests on files and their statuses (U60–U67).
func TestFiles(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.must(http.StatusCreated, http.MethodPost, "/projects", map[string]any{"name": "p"}, nil)
	var fs store.Filesystem
	w.must(http.StatusCreated, http.MethodPost, "/filesystems", map[string]any{"project_id": "p", "name": "files"}, &fs)
	at := "/filesystems/files"
	put := func(status int, query, body string, header http.Header) filetree.Written {
		t.Helper()
		var out filetree.Written
		got, text := w.raw(http.MethodPut, at+"/file-upload?"+query, body, header)
		if got != status {
			t.Errorf("PUT %s: %d, want %d: %s", query, got, status, text)
		}
		if got < 300 {
			if err := json.Unmarshal(text, &out); err != nil {
				t.Fatal(err)
			}
			return out
		}
		var e api.Error
		if json.Unmarshal(text, &e) != nil || e.StatusCode != status || len(e.Message) < 10 {
			t.Errorf("PUT %s: the error %s", query, text)
		}
		return out
	}
	a := put(201, "path=dir/a.md", "one", nil)
	b := put(200, "path=dir/a.md", "two", nil)
	if a.File == b.File || a.Version == b.Version {
		t.Errorf("versions %+v %+v", a, b)
	}
	put(201, "path=n%0Al%FF", "odd", nil)
	base := put(201, "path=c", "c", nil)
	stale := strings.Repeat("0", 64)
	for _, c := range []struct {
		status int
		query  string
	}{
		{400, "path=../x"},
		{400, "path=/etc/passwd"},
		{400, "path=dir"},
		{400, "path="},
		{400, "path=x&digest=sha256:" + stale},
		{400, "path=x&createOnly=*"},
		{422, "writeMode=overwrite"},
		{422, "path=x&writeMode=append"},
		{428, "path=x&writeMode=conditional"},
		{428, "path=x&writeMode=conditional&baseVersion=" + base.Version},
		{400, "path=c&writeMode=conditional&baseVersion=none&expectedVersion=" + base.File},
		{400, "path=c&writeMode=conditional&expectedVersion=" + strings.Repeat("z", 64) + "&baseVersion=" + base.Version},
		{409, "path=c&writeMode=conditional&baseVersion=" + stale + "&expectedVersion=" + base.File},
		{412, "path=c&writeMode=conditional&baseVersion=" + base.Version + "&expectedVersion=" + stale},
		{412, "path=c&writeMode=conditional&createOnly=*&baseVersion=" + base.Version},
	} {
		put(c.status, c.query, "x", nil)
	}
	key := http.Header{"Idempotency-Key": {"k1"}}
	first := put(200, "path=c&writeMode=conditional&baseVersion="+base.Version+"&expectedVersion="+base.File, "cc", key)
	if again := put(200, "path=c&writeMode=conditional&baseVersion="+base.Version+"&expectedVersion="+base.File, "cc", key); again != first {
		t.Errorf("replay %+v of %+v", again, first)
	}
	put(409, "path=c", "ccc", key)

	if status, text := w.raw(http.MethodGet, at+"/file-download?path=c", nil, nil); status != 200 || string(text) != "cc" {
		t.Errorf("download: %d %s", status, text)
	}
	w.refused(404, "not in the filesystem", http.MethodGet, at+"/file-download?path=nothing", nil)
	var list api.FilePage
	w.must(200, http.MethodGet, at+"/files?recursive=true&limit=2", nil, &list)
	if len(list.Data) != 2 || list.Next != "dir" || list.Archive != first.Version {
		t.Errorf("list %+v", list)
	}
	w.must(200, http.MethodGet, at+"/files?recursive=true&cursor="+list.Next, nil, &list)
	if len(list.Data) != 2 || list.Data[0].MIME != "text/markdown" || string(list.Data[1].PathBase64) != "n\nl\xff" {
		t.Errorf("list %+v", list)
	}
	var f api.File
	w.must(200, http.MethodGet, at+"/files/dir/a.md?include_content=true", nil, &f)
	if f.Content == nil || *f.Content != "two" || f.Version != b.File {
		t.Errorf("file %+v", f)
	}
	w.refused(404, "", http.MethodGet, at+"/files/dir/nothing", nil)

	status, archive := w.raw(http.MethodGet, at+"/archive", nil, nil)
	if status != 200 {
		t.Fatalf("archive: %d %s", status, archive)
	}
	w.must(201, http.MethodPost, "/filesystems", map[string]any{"project_id": "p", "name": "copy"}, nil)
	var in filetree.Synced
	w.must(200, http.MethodPut, "/filesystems/copy/archive", string(archive), &in)
	if in.Version != first.Version {
		t.Errorf("an archive out and in: %+v", in)
	}
	w.refused(409, "version", http.MethodPut, "/filesystems/copy/archive?baseVersion="+stale, string(archive))
	w.refused(400, "nothing of it was taken", http.MethodPut, "/filesystems/copy/archive", strings.Repeat("no archive ", 100))
	w.must(200, http.MethodDelete, at+"/files/dir", nil, nil)
	w.must(200, http.MethodGet, at, nil, &fs)
	if fs.Files != 2 {
		t.Errorf("filesystem %+v", fs)
	}
	w.must(204, http.MethodDelete, "/filesystems/copy", nil, nil)
	w.refused(404, "copy", http.MethodGet, "/filesystems/copy", nil)
}

// TestFileRights: who may read a project reads its files; who may change it writes
// them; others see nothing of them (U58, U65, U86).
func TestFileRights(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("a", hello)
	for _, name := range []string{"p", "q"} {
		w.must(http.StatusCreated, http.MethodPost, "/projects", map[string]any{"name": name}, nil)
	}
	w.must(http.StatusCreated, http.MethodPost, "/filesystems", map[string]any{"project_id": "p", "name": "files"}, nil)
	w.must(http.StatusCreated, http.MethodPut, "/filesystems/files/file-upload?path=x", "x", nil)
	needSandbox(t) // a task without one is the operator's alone
	task := w.create("a", map[string]any{"filesystem_id": "files", "no_sandbox": nil})
	w.becomes(task.ID, store.Idle)
	keys := map[string]string{
		"viewer": w.key("viewer", "project:p:viewer", "agent:a:executor").Secret, "editor": w.key("editor", "project:p:editor", "agent:a:executor").Secret,
		"other": w.key("other", "project:q:owner", "agent:a:executor").Secret,
	}
	ws := "/tasks/" + task.ID + "/workspace"
	for _, c := range []struct {
		who, method, path string
		body              any
		status            int
	}{
		{"viewer", "GET", "/filesystems/files", nil, 200},
		{"viewer", "GET", "/filesystems/files/files", nil, 200},
		{"viewer", "GET", "/filesystems/files/file-download?path=x", nil, 200},
		{"viewer", "GET", "/filesystems/files/archive", nil, 200},
		{"viewer", "PUT", "/filesystems/files/file-upload?path=y", "y", 403},
		{"viewer", "DELETE", "/filesystems/files/files/x", nil, 403},
		{"viewer", "PUT", "/filesystems/files/archive", "", 403},
		{"viewer", "DELETE", "/filesystems/files", nil, 403},
		{"viewer", "POST", "/filesystems", map[string]any{"project_id": "p"}, 403},
		{"editor", "PUT", "/filesystems/files/file-upload?path=y", "y", 201},
		{"editor", "POST", "/filesystems", map[string]any{"project_id": "p", "dir": "/etc"}, 403},
		{"other", "GET", "/filesystems/files", nil, 404},
		{"other", "GET", "/filesystems/files/file-download?path=x", nil, 404},
		{"other", "PUT", "/filesystems/files/file-upload?path=y", "y", 404},
		{"other", "GET", ws + "/diff", nil, 404},
		{"other", "POST", ws + "/merge", map[string]any{}, 404},
		{"other", "POST", ws + "/update", map[string]any{}, 404},
		{"other", "POST", ws + "/commit", map[string]any{}, 404},
		{"viewer", "POST", ws + "/commit", map[string]any{}, 403},
		{"other", "POST", ws + "/resolve", map[string]any{"keep": "task"}, 404},
		{"editor", "POST", ws + "/resolve", map[string]any{"keep": "mine"}, 422},
		{"editor", "POST", ws + "/resolve", map[string]any{"keep": "filesystem"}, 200},
		{"viewer", "GET", ws + "/diff", nil, 200},
		{"viewer", "GET", "/tasks/" + task.ID + "/archive", nil, 200},
		{"viewer", "POST", ws + "/merge", map[string]any{}, 403},
	} {
		if status, text := w.as(keys[c.who], c.method, c.path, c.body); status != c.status {
			t.Errorf("%s: %s %s: %d, want %d: %s", c.who, c.method, c.path, status, c.status, text)
		}
	}
	if _, text := w.as(keys["viewer"], "GET", ws, nil); strings.Contains(text, `"dir"`) {
		t.Errorf("a key is told where the host keeps things: %s", text)
	}
}

// TestWorkspaceHome: what a task changed is compared and merged, over HTTP.
func TestWorkspaceHome(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("a", hello)
	repo := gitRepository(t)
	task := w.create("a", map[string]any{"workspace": "worktree", "cwd": repo})
	w.becomes(task.ID, store.Idle)
	at := "/tasks/" + task.ID + "/workspace"
	var info workspace.Info
	w.must(200, http.MethodGet, at, nil, &info)
	if info.Kind != workspace.Worktree || info.Source != repo || info.Branch != "tandemux/"+task.Name {
		t.Errorf("workspace %+v", info)
	}
	if err := os.WriteFile(filepath.Join(info.Dir, "f"), []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var d workspace.Diff
	w.must(200, http.MethodGet, at+"/diff", nil, &d)
	if d.Added != 1 {
		t.Errorf("diff %+v", d)
	}
	if status, text := w.raw(http.MethodGet, at+"/patch", nil, nil); status != 200 || !bytes.Contains(text, []byte("+two\n")) {
		t.Errorf("patch: %d %s", status, text)
	}
	w.refused(400, "", http.MethodGet, at+"/diff?path=../x", nil)
	w.refused(422, "direction", http.MethodPost, at+"/sync", map[string]any{"direction": "around"})
	if err := os.WriteFile(filepath.Join(repo, "f"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.refused(409, "uncommitted changes", http.MethodPost, at+"/merge", map[string]any{})
	if err := os.WriteFile(filepath.Join(repo, "f"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var m workspace.Merged
	w.must(200, http.MethodPost, at+"/merge", map[string]any{}, &m)
	if text, _ := os.ReadFile(filepath.Join(repo, "f")); string(text) != "one\ntwo\n" || m.Into != "main" {
		t.Errorf("merged %+v: %s", m, text)
	}
	if status, _ := w.raw(http.MethodGet, "/tasks/"+task.ID+"/archive", nil, nil); status != 200 {
		t.Errorf("archive: %d", status)
	}
	if err := os.RemoveAll(info.Dir); err != nil {
		t.Fatal(err)
	}
	w.refused(404, "deleted", http.MethodGet, at+"/diff", nil)
	w.refused(404, "deleted", http.MethodGet, "/tasks/"+task.ID+"/archive", nil)
}

// TestMergeWhileRunning: a turn that runs may have done half of a change, so that its
// merge wants to be meant.
func TestMergeWhileRunning(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	t.Parallel()
	w := start(t)
	w.agent("a", "prompt\ncall w fs/write_text_file {\"sessionId\":\"$SESSION\",\"path\":\"$CWD/f\",\"content\":\"half\"}\nsay half\nhang\n")
	dir := t.TempDir()
	task := w.create("a", map[string]any{"workspace": "copy:" + dir})
	at := "/tasks/" + task.ID + "/workspace"
	w.send(task.ID, "go")
	var info workspace.Info
	w.must(200, http.MethodGet, at, nil, &info)
	w.until("half is there", func() bool { _, err := os.Stat(filepath.Join(info.Dir, "f")); return err == nil })
	for _, body := range []map[string]any{{}, {"dry_run": true}} {
		w.refused(409, "is at work, so its files may hold half of a change", http.MethodPost, at+"/merge", body)
	}
	if _, err := os.Stat(filepath.Join(dir, "f")); err == nil {
		t.Error("half of a change came home")
	}
	var m workspace.Merged
	w.must(200, http.MethodPost, at+"/merge", map[string]any{"running": true}, &m)
	if text, _ := os.ReadFile(filepath.Join(dir, "f")); string(text) != "half" || len(m.Files) != 1 {
		t.Errorf("merged %+v: %q", m, text)
	}
	w.must(200, http.MethodPost, "/tasks/"+task.ID+"/cancel", nil, nil)
	w.until("its turn has ended, too", func() bool {
		status, text := w.raw(http.MethodPost, at+"/merge", map[string]any{}, nil)
		return status == 200 && json.Unmarshal(text, &m) == nil
	})
	if !m.Nothing {
		t.Errorf("a cancelled task: %+v", m)
	}
}

// TestMergeMessage: a commit says what the task was asked and what its agent said in the
// end, of the time since the last merge.
func TestMergeMessage(t *testing.T) {
	soak.Long(t, "TestWorkspaceHome merges")
	t.Parallel()
	w := start(t)
	turn := func(text, says string) string {
		return "prompt\ncall w fs/write_text_file {\"sessionId\":\"$SESSION\",\"path\":\"$CWD/f\",\"content\":\"" + text + "\"}\nsay " + says + "\n"
	}
	w.agent("a", turn("1", `Looking.\nMore.`)+turn("2", `Fixed: it was late.\n\nDetails.`)+turn("3", "Also.")+turn("4", "Nothing"))
	repo := gitRepository(t)
	task := w.create("a", map[string]any{"workspace": "worktree", "cwd": repo, "name": "fixer"})
	for _, text := range []string{"fix the flaky\x1b[1m test\n\nIt is in x.", "and now the docs"} {
		w.settles(w.send(task.ID, text).ID)
	}
	w.becomes(task.ID, store.Idle)
	at := "/tasks/" + task.ID + "/workspace/merge"
	last := func() string {
		t.Helper()
		out, err := exec.Command("git", "-C", repo, "log", "-1", "--format=%B").Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	w.must(200, http.MethodPost, at, map[string]any{}, nil)
	if got, want := last(), "fix the flaky[1m test\n\n* and now the docs\n\nFixed: it was late.\n\nTask: fixer"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	w.settles(w.send(task.ID, "another thing").ID)
	w.becomes(task.ID, store.Idle)
	w.must(200, http.MethodPost, at, map[string]any{}, nil)
	if got, want := last(), "another thing\n\nAlso.\n\nTask: fixer"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	w.settles(w.send(task.ID, "x").ID)
	w.becomes(task.ID, store.Idle)
	w.must(200, http.MethodPost, at, map[string]any{"message": "Mine"}, nil)
	if got := last(); got != "Mine" {
		t.Errorf("%q", got)
	}
}

// gitRepository makes one with a commit.
func gitRepository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	repo := t.TempDir()
	if err := os.WriteFile(filepath.Join(repo, "f"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", args, out)
		}
	}
	return repo
}
