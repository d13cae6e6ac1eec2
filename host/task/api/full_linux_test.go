package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/internal/smalldisk"
)

// TestOutcomeDisk: a turn whose files find no room has failed, and says so; they are brought
// back with the next turn (U4).
func TestOutcomeDisk(t *testing.T) {
	t.Parallel()
	w := start(t)
	small := filepath.Join(w.dir, "state", "filesystems")
	if smalldisk.Mount(t, small, "1m") {
		return
	}
	w.agent("writer", "prompt\ncall w fs/write_text_file {\"sessionId\":\"$SESSION\",\"path\":\"$CWD/out.txt\",\"content\":\"$PROMPT\"}\nshow w\n")
	w.must(http.StatusCreated, "POST", "/projects", map[string]any{"name": "p"}, nil)
	made := w.create("writer", map[string]any{"project_id": "p"})
	w.becomes(made.ID, store.Idle)
	filler := filepath.Join(small, "filler")
	smalldisk.Fill(t, filler)
	e := w.settles(w.send(made.ID, "one").ID)
	var now task.Present
	w.must(http.StatusOK, "GET", "/tasks/"+made.ID, nil, &now)
	if e.Status != store.EventFailed || now.Status != store.Idle || now.Last == nil || now.Last.Outcome != store.OutcomeDisk || !strings.Contains(now.Last.Reason, "the disk is full") {
		t.Fatalf("%s %s, its last turn %+v", e.Status, e.Reason, now.Last)
	}
	if err := os.Remove(filler); err != nil {
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
