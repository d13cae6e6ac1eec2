package api_test

import (
	"net/http"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/store"
)

// TestTurnConflict: a turn whose work did not arrive in the filesystem, as somebody changed
// the same file there, has not gone well, and says which file and what to do; once that is
// decided the next turn has.
func TestTurnConflict(t *testing.T) {
	t.Parallel()
	w := start(t)
	write := func(text string) string {
		return "prompt\ncall w fs/write_text_file {\"sessionId\":\"$SESSION\",\"path\":\"$CWD/f\",\"content\":\"" + text + "\"}\nsay done\n"
	}
	w.agent("a", "prompt\ncall p session/request_permission {\"sessionId\":\"$SESSION\",\"toolCall\":{\"toolCallId\":\"c1\",\"title\":\"go\",\"kind\":\"execute\"},\"options\":[{\"optionId\":\"once\",\"name\":\"Once\",\"kind\":\"allow_once\"},{\"optionId\":\"no\",\"name\":\"No\",\"kind\":\"reject_once\"}]}\n"+strings.TrimPrefix(write("mine"), "prompt\n")+"prompt\nsay fine\n")
	w.must(http.StatusCreated, http.MethodPost, "/projects", map[string]any{"name": "p"}, nil)
	w.must(http.StatusCreated, http.MethodPost, "/filesystems", map[string]any{"project_id": "p", "name": "files"}, nil)
	w.must(http.StatusCreated, http.MethodPut, "/filesystems/files/file-upload?path=f", "1", nil)
	made := w.create("a", map[string]any{"filesystem_id": "files", "name": "fixer"})
	w.becomes(made.ID, store.Idle)
	e := w.send(made.ID, "go")
	w.becomes(made.ID, store.Waiting) // its files are as they were when the turn began
	w.must(http.StatusOK, http.MethodPut, "/filesystems/files/file-upload?path=f", "theirs", nil)
	var now task.Present
	w.must(http.StatusOK, http.MethodGet, "/tasks/"+made.ID, nil, &now)
	if len(now.Questions) != 1 {
		t.Fatalf("waiting: %+v", now)
	}
	w.must(http.StatusCreated, http.MethodPost, "/tasks/"+made.ID+"/answers", map[string]any{"question_id": now.Questions[0].ID, "answer": "yes"}, nil)
	e = w.settles(e.ID)
	if e.Status != store.EventFailed || !strings.Contains(e.Reason, "\"f\" changed both here and in the filesystem") || !strings.Contains(e.Reason, "tandemux ws resolve fixer") {
		t.Errorf("event %+v", e)
	}
	w.becomes(made.ID, store.Idle)
	w.must(http.StatusOK, http.MethodGet, "/tasks/"+made.ID, nil, &now)
	if now.Last == nil || now.Last.Outcome != store.OutcomeConflict {
		t.Errorf("task %+v", now.Last)
	}
	w.must(http.StatusOK, http.MethodPost, "/tasks/"+made.ID+"/workspace/resolve", map[string]any{"keep": "task"}, nil)
	if got := w.settles(w.send(made.ID, "again").ID); got.Status != store.EventDone {
		t.Errorf("afterwards %+v", got)
	}
}
