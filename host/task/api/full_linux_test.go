package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/store"

	"golang.org/x/sys/unix"
)

// TestOutcomeDisk: a turn whose files find no room has failed, and says so; they are brought
// back with the next turn (U4).
func TestOutcomeDisk(t *testing.T) {
	t.Parallel()
	w := start(t)
	small := filepath.Join(w.dir, "state", "filesystems")
	if err := os.MkdirAll(small, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 || unix.Mount("tmpfs", small, "tmpfs", 0, "size=1m,mode=0700") != nil {
		t.Skip("only root can make a small disk")
	}
	t.Cleanup(func() { unix.Unmount(small, unix.MNT_DETACH) }) //nolint:errcheck // the directory shows
	w.agent("writer", "prompt\ncall w fs/write_text_file {\"sessionId\":\"$SESSION\",\"path\":\"$CWD/out.txt\",\"content\":\"$PROMPT\"}\nshow w\n")
	w.must(http.StatusCreated, "POST", "/projects", map[string]any{"name": "p"}, nil)
	made := w.create("writer", map[string]any{"project_id": "p"})
	w.becomes(made.ID, store.Idle)
	filler, err := os.Create(filepath.Join(small, "filler"))
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	filler.Close()
	e := w.settles(w.send(made.ID, "one").ID)
	var now task.Present
	w.must(http.StatusOK, "GET", "/tasks/"+made.ID, nil, &now)
	if e.Status != store.EventFailed || now.Status != store.Idle || now.Last == nil || now.Last.Outcome != store.OutcomeDisk || !strings.Contains(now.Last.Reason, "the disk is full") {
		t.Fatalf("%s %s, its last turn %+v", e.Status, e.Reason, now.Last)
	}
	if err := os.Remove(filler.Name()); err != nil {
		t.Fatal(err)
	}
	w.settles(w.send(made.ID, "second").ID)
	now = task.Present{}
	w.must(http.StatusOK, "GET", "/tasks/"+made.ID, nil, &now)
	status, text := w.raw("GET", "/filesystems/"+made.FilesystemID+"/files/out.txt", nil, nil)
	if now.Last.Outcome != store.OutcomeDone || status != http.StatusOK || !strings.Contains(string(text), `"size":11,`) {
		t.Errorf("with room: %+v, %d %s", now.Last, status, text)
	}
}
