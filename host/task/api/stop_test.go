package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/store"
)

// TestStopTurn: a turn is stopped and its task goes on; its stream tells so (U44).
// Nothing of a task that is at work is merged from its chat, either.
func TestStopTurn(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("a", "prompt\nupdate {\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c\",\"title\":\"Waiting\",\"kind\":\"other\",\"status\":\"in_progress\"}\nawait cancel\nprompt\nsay again\n")
	repo := gitRepository(t)
	made := w.create("a", map[string]any{"workspace": "worktree", "cwd": repo})
	w.becomes(made.ID, store.Idle)
	w.must(http.StatusConflict, "POST", "/tasks/"+made.ID+"/stop", nil, nil)
	e := w.send(made.ID, "one")
	w.until("its agent works", func() bool { // before that, a cancelled turn never reaches it
		_, text := w.raw("GET", "/tasks/"+made.ID, nil, nil)
		return strings.Contains(string(text), `"RUNNING"`) && strings.Contains(string(text), "Waiting")
	})
	s, err := w.open()
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.Files.Workspace(made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Files.ChangesAt(files.Dir()).Merge(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "is at work") {
		t.Errorf("merged from the chat of a task that is at work: %v", err)
	}
	w.until("it is stopped", func() bool {
		status, _ := w.raw("POST", "/tasks/"+made.ID+"/stop", nil, nil)
		return status == http.StatusOK
	})
	if e = w.settles(e.ID); e.Status != store.EventDiscarded {
		t.Errorf("the turn is %s", e.Status)
	}
	var now task.Present
	w.must(http.StatusOK, "GET", "/tasks/"+made.ID, nil, &now)
	if now.Status != store.Idle || now.Last.Outcome != store.OutcomeCancelled {
		t.Errorf("the task is %s, its last turn %+v", now.Status, now.Last)
	}
	if e := w.settles(w.send(made.ID, "two").ID); e.Status != store.EventDone {
		t.Errorf("the next turn is %s: %s", e.Status, e.Reason)
	}
}

// TestMessagesOfBothSides: what the agent is told is a message, too, before the answer, and
// both name their event (U10, U55).
func TestMessagesOfBothSides(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("echo", "prompt\nsay to $PROMPT\n")
	made := w.create("echo", nil)
	var want []string
	for _, text := range []string{"one", "two"} {
		e := w.settles(w.send(made.ID, text).ID)
		want = append(want, "user "+e.ID+" "+text, "agent "+e.ID+" to text:"+text)
	}
	var page struct{ Data []store.Message }
	w.must(http.StatusOK, "GET", "/tasks/"+made.ID+"/messages", nil, &page)
	var got []string
	for _, m := range page.Data {
		got = append(got, m.Author+" "+m.EventID+" "+m.Content[0].Text)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the messages are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
