package api_test

import (
	"net/http"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/store"
)

// TestRestart: a host ends while a turn runs and events wait; the next one ends the
// turn as lost, tells so in the stream, which goes on without a gap, and carries out
// what waits.
func TestRestart(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("once", "prompt\nonce "+w.dir+"/files/once\nsay hanging\nhang\nalways\nsay done: $PROMPT\n")
	got := w.create("once", map[string]any{"name": "once"})
	first, second := w.send("once", "first"), w.send("once", "second")
	frames, cut := w.stream("/tasks/once/stream", "")
	last := ""
	for f := range frames {
		if last = f.id; f.part.Type == task.PartTextDelta {
			break
		}
	}
	cut()
	w.stopHost()
	if !task.Unfinished(w.dir + "/state") {
		t.Error("nothing says that there is work left")
	}
	w.startHost()
	w.svc()
	if e := w.settles(first.ID); e.Status != store.EventFailed || e.Reason == "" {
		t.Errorf("the turn that ran is %+v", e)
	}
	if e := w.settles(second.ID); e.Status != store.EventDone {
		t.Errorf("the event that waited is %+v", e)
	}
	rest := w.whole("/tasks/once/stream", last)
	if want := "text-end error finish-step finish start start-step text-start text-delta text-end finish-step finish"; !strings.HasSuffix(kinds(rest), want) {
		t.Errorf("behind %s the stream goes on with %s", last, kinds(rest))
	}
	if said := w.said("once"); said != "hanging|done: text:second" {
		t.Errorf("it said %q", said)
	}
	w.becomes("once", store.Idle)
	w.stopHost()
	if task.Unfinished(w.dir + "/state") {
		t.Error("something says that there is work left")
	}
	w.startHost()
	if got = w.get("once"); got.Status != store.Idle {
		t.Errorf("it is %s", got.Status)
	}
	w.must(http.StatusOK, http.MethodDelete, "/tasks/once", nil, nil)
}

// TestSessionEnded: somebody ends a task's session; the next event begins another.
func TestSessionEnded(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("hello", hello)
	got := w.create("hello", map[string]any{"name": "hello"})
	w.settles(w.send("hello", "a").ID)
	session := w.get("hello").Session
	dispose(t, w, session)
	if e := w.settles(w.send("hello", "b").ID); e.Status != store.EventDone {
		t.Errorf("the event is %+v", e)
	}
	if got = w.get("hello"); got.Session == session || got.Status != store.Idle {
		t.Errorf("the task is %+v", got)
	}
}

// TestOthersTurns: a turn that a person begins in the task's session is told as one
// of an event, and what was sent meanwhile waits for it (U81).
func TestOthersTurns(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("asks", "prompt\ncall p session/request_permission {\"sessionId\":\"$SESSION\",\"toolCall\":{\"toolCallId\":\"c1\",\"title\":\"may I\",\"kind\":\"execute\"},\"options\":[{\"optionId\":\"once\",\"name\":\"Once\",\"kind\":\"allow_once\"}]}\nsay to $PROMPT\n")
	got := w.create("asks", map[string]any{"name": "asks"})
	w.becomes("asks", store.Idle)
	session := w.get("asks").Session
	p := person(t, w)
	p.prompt(session, "by hand")
	e := w.send("asks", "by event")
	p.approve(session)
	p.approve(session)
	if e = w.settles(e.ID); e.Status != store.EventDone {
		t.Errorf("the event is %+v", e)
	}
	if said := w.said("asks"); said != "to text:by hand|to text:by event" {
		t.Errorf("it said %q", said)
	}
	var events struct{ Data []store.Event }
	w.must(http.StatusOK, http.MethodGet, "/tasks/asks/events", nil, &events)
	if len(events.Data) != 2 {
		t.Fatalf("events: %+v", events.Data)
	}
	for _, ev := range events.Data {
		if ev.Status != store.EventDone {
			t.Errorf("%+v", ev)
		}
	}
	_ = got
}
