package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/question"
	"tandemux/host/task/store"
)

// asks is an agent that asks whether it may run a command, and says the answer.
const asks = `prompt
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"Run make","kind":"execute","rawInput":{"command":"make \u001b[2Ktest"}},"options":[{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"once","name":"Allow once","kind":"allow_once"},{"optionId":"not","name":"Reject","kind":"reject_once"}]}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}
show p
`

// question waits for a task's question.
func (w *fixture) question(id string) (task.Present, question.Question) {
	w.t.Helper()
	var t task.Present
	w.until("it asks", func() bool {
		w.must(http.StatusOK, "GET", "/tasks/"+id, nil, &t)
		return t.Status == store.Waiting
	})
	if len(t.Questions) != 1 {
		w.t.Fatalf("it asks %+v", t.Questions)
	}
	return t, t.Questions[0]
}

// TestAnswer: a task whose agent asks is WAITING everywhere, with the question; it is
// answered by HTTP, once, by its id, by who may (U41, U48, U82, U89).
func TestAnswer(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("asks", asks)
	w.agent("other", hello)
	w.create("asks", map[string]any{"name": "t"})
	e := w.send("t", "go")
	now, q := w.question("t")
	if q.Kind != question.AsksPermission || q.Title != "Allow Run make?" || len(q.Options) != 3 || q.ToolCallID != "c1" {
		t.Errorf("it asks %+v", q)
	}
	if text := fmt.Sprint(q.Lines); !strings.Contains(text, "{command make <U+001B>[2Ktest}") {
		t.Errorf("its lines are %s", text)
	}
	if now.Task.Facts.Last != nil || now.Last != nil {
		t.Errorf("no turn has ended: %+v", now.Last)
	}
	var page struct{ Data []task.Present }
	for status, want := range map[string]int{"WAITING": 1, "waiting,failed": 1, "RUNNING": 0, "IDLE": 0, "": 1} {
		page.Data = nil
		if w.must(http.StatusOK, "GET", "/tasks?status="+status, nil, &page); len(page.Data) != want {
			t.Errorf("%d tasks are %q", len(page.Data), status)
		}
	}
	if got := page.Data; len(got) == 1 && (got[0].Questions[0].Lines != nil || got[0].Questions[0].ID != q.ID) {
		t.Errorf("the list has %+v", got[0].Questions)
	}
	var p task.Progress
	if w.must(http.StatusOK, "GET", "/tasks/t/progress", nil, &p); p.Status != "WAITING" {
		t.Errorf("its progress says %s", p.Status)
	}

	answer := func(id, answer string) map[string]any {
		return map[string]any{"question_id": id, "answer": answer}
	}
	const at = "/tasks/t/answers"
	w.refused(http.StatusConflict, "is not asked, or not in these words", "POST", at, answer("q_another", "yes"))
	w.refused(http.StatusUnprocessableEntity, "say which question", "POST", at, answer("", "yes"))
	w.refused(http.StatusUnprocessableEntity, `use one of "always", "once", "not"`, "POST", at, answer(q.ID, "perhaps"))
	w.refused(http.StatusUnprocessableEntity, "a permission", "POST", at, map[string]any{"question_id": q.ID, "decline": true})
	w.refused(http.StatusRequestEntityTooLarge, "more than", "POST", at, answer(q.ID, strings.Repeat("y", question.MaxSize)))
	for _, c := range []struct {
		name   string
		scopes []string
		want   int
	}{{"owns", []string{"agent:asks:owner", "project:*:owner"}, 404}, {"elsewhere", []string{"agent:other:owner"}, 404}} {
		// It has no sandbox: it is the operator's alone.
		if status, text := w.as(w.key(c.name, c.scopes...).Secret, "POST", at, answer(q.ID, "yes")); status != c.want {
			t.Errorf("%s: %d %s", c.name, status, text)
		}
	}
	s, ctx := w.svc(), context.Background()
	inside := access.Principal{Kind: access.TaskKind, ID: now.ID}
	if _, err := s.Answer(ctx, inside, now.ID, question.Answer{QuestionID: q.ID, Answer: "once"}); err == nil || !strings.Contains(err.Error(), "no right to answer") {
		t.Errorf("the task's own agent: %v", err)
	}
	var said task.Answered
	w.must(http.StatusCreated, "POST", at, answer(q.ID, "yes"), &said)
	if said.Answer != "Allow once" {
		t.Errorf("the answer was %+v", said)
	}
	if e = w.settles(e.ID); e.Status != store.EventDone || !strings.Contains(w.said("t"), `"optionId":"once"`) {
		t.Errorf("it ended %s: %s", e.Status, w.said("t"))
	}
	w.refused(http.StatusConflict, "asks nothing now", "POST", at, answer(q.ID, "no"))
	w.must(http.StatusOK, "GET", "/tasks/t", nil, &now)
	if now.Last == nil || now.Last.Outcome != store.OutcomeDone || now.Last.EventID != e.ID || now.Last.Ended.IsZero() {
		t.Errorf("its turn ended %+v", now.Last)
	}

	// The stream tells the question, and its end.
	var asked, ended int
	for _, f := range w.whole("/tasks/t/stream", "") {
		part := f.part
		switch part.Type {
		case task.PartQuestion:
			if asked++; part.Question == nil || part.ID != q.ID || len(part.Question.Lines) == 0 {
				t.Errorf("the stream asks %+v", part)
			}
		case task.PartQuestionEnd:
			if ended++; part.ID != q.ID || part.Answer != "Allow once" {
				t.Errorf("the stream ends it with %+v", part)
			}
		case task.PartFinish:
			if part.Metadata.Outcome != store.OutcomeDone {
				t.Errorf("the stream's end is %+v", part.Metadata)
			}
		}
	}
	if asked != 1 || ended != 1 {
		t.Errorf("the stream asks %d times and ends %d", asked, ended)
	}
	var paths struct{ Paths map[string]any }
	if w.must(http.StatusOK, "GET", "/openapi.json", nil, &paths); paths.Paths["/api/v1/tasks/{task}/answers"] == nil {
		t.Error("it is not described")
	}
}

// TestAnswerByKey: in a sandbox a key answers a task that it made, or whose project it
// may change; a token of the host's without approve says no, and never yes.
func TestAnswerByKey(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	w := start(t)
	w.agent("asks", asks)
	var p store.Project
	w.must(http.StatusCreated, "POST", "/projects", map[string]any{"name": "p"}, &p)
	made, looks, edits := w.key("made", "agent:asks:executor", "project:p:editor"), w.key("looks", "agent:asks:executor", "project:p:viewer"), w.key("edits", "agent:asks:executor", "project:p:editor")
	status, text := w.as(made.Secret, "POST", "/tasks", map[string]any{"agent_name": "asks", "name": "t", "project_id": "p"})
	if status != http.StatusCreated {
		t.Fatal(text)
	}
	for _, c := range []struct{ secret, answer, said string }{{made.Secret, "no", `"not"`}, {edits.Secret, "once", `"once"`}} {
		e := w.send("t", "go")
		now, q := w.question("t")
		if status, text := w.as(looks.Secret, "POST", "/tasks/t/answers", map[string]any{"question_id": q.ID, "answer": "no"}); status != 403 {
			t.Errorf("who may only look at the project: %d %s", status, text)
		}
		token := access.Principal{Kind: access.Key, ID: "token", NeverYes: true, Scopes: edits.Scopes}
		if _, err := w.svc().Answer(t.Context(), token, now.ID, question.Answer{QuestionID: q.ID, Answer: "yes"}); err == nil || !strings.Contains(err.Error(), "the scope approve") {
			t.Errorf("a token without approve: %v", err)
		}
		if status, text := w.as(c.secret, "POST", "/tasks/t/answers", map[string]any{"question_id": q.ID, "answer": c.answer}); status != 201 {
			t.Fatalf("%d %s", status, text)
		}
		if w.settles(e.ID); !strings.Contains(w.said("t"), c.said) {
			t.Errorf("it was told %s", w.said("t"))
		}
	}
}

// TestAnswerInput: a question with fields is answered by their values.
func TestAnswerInput(t *testing.T) {
	t.Parallel()
	w := start(t)
	ask := func(properties string) string {
		return "prompt\ncall q elicitation/create {\"sessionId\":\"$SESSION\",\"mode\":\"form\",\"message\":\"Which\\u001b way?\",\"requestedSchema\":{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{" + properties + "}}}\nshow q\n"
	}
	w.agent("one", ask(`"a":{"type":"string","title":"The way"}`))
	w.agent("two", ask(`"a":{"type":"integer"},"b":{"type":"boolean"},"c":{"type":"string","enum":["left","right"]}`))
	for _, c := range []struct {
		agent string
		bad   map[string]string // an answer's values, and what is said of it
		good  map[string]any
		want  string
	}{
		{"one", map[string]string{`{"answer":"","values":{"z":"x"}}`: "no field", `{"answer":"x","values":{"a":"x"}}`: "not both"}, map[string]any{"answer": "left at the oak"}, `"a":"left at the oak"`},
		{"one", nil, map[string]any{"decline": true}, `"decline"`},
		{"two", map[string]string{
			`{"answer":"5"}`: "wants 3 values", `{"values":{"a":1.5}}`: "a whole number", `{"values":{"a":"1","b":"maybe"}}`: "yes or no", `{"values":{"a":1,"c":"up"}}`: "offers no", `{"values":{"b":true}}`: "needs an answer",
		}, map[string]any{"values": map[string]any{"a": "7", "b": "yes", "c": "right"}}, `"a":7,"b":true,"c":"right"`},
	} {
		made := w.create(c.agent, nil)
		e := w.send(made.ID, "go")
		_, q := w.question(made.ID)
		if q.Kind != question.AsksInput || q.Title != "Which<U+001B> way?" || len(q.Fields) == 0 {
			t.Fatalf("it asks %+v", q)
		}
		for body, want := range c.bad {
			var in map[string]any
			if err := json.Unmarshal([]byte(body), &in); err != nil {
				t.Fatal(err)
			}
			in["question_id"] = q.ID
			status, text := w.raw("POST", "/tasks/"+made.ID+"/answers", in, nil)
			if status != 422 && status != 409 || !strings.Contains(string(text), want) {
				t.Errorf("%s: %d %s, want %q", body, status, text, want)
			}
		}
		c.good["question_id"] = q.ID
		w.must(http.StatusCreated, "POST", "/tasks/"+made.ID+"/answers", c.good, nil)
		if w.settles(e.ID); !strings.Contains(w.said(made.ID), c.want) {
			t.Errorf("it was told %s, want %s", w.said(made.ID), c.want)
		}
	}
}

// TestOutcomes: an idle task says how its last turn ended, and why.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	w := start(t)
	for name, c := range map[string]struct {
		script  string
		outcome store.Outcome
		reason  string
	}{
		"done":    {"prompt\nsay hi\n", store.OutcomeDone, ""},
		"fails":   {"prompt\nerror -32603 the model is gone\n", store.OutcomeFailed, "the model is gone"},
		"crashes": {"prompt\nexit 3\n", store.OutcomeFailed, "ended by itself"},
	} {
		w.agent(name, c.script)
		made := w.create(name, nil)
		e := w.send(made.ID, "go")
		w.settles(e.ID)
		var now task.Present
		w.must(http.StatusOK, "GET", "/tasks/"+made.ID, nil, &now)
		if now.Status != store.Idle || now.Last == nil || now.Last.Outcome != c.outcome || !strings.Contains(now.Last.Reason, c.reason) || now.Last.EventID != e.ID {
			t.Errorf("%s: %s %+v", name, now.Status, now.Last)
		}
	}
}

// TestDoing: a task that runs says which tool call does.
func TestDoing(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("works", `prompt
update {"sessionUpdate":"tool_call","toolCallId":"c1","title":"Run \u001b[31mthe tests","kind":"execute","status":"in_progress"}
hang
`)
	made := w.create("works", nil)
	w.send(made.ID, "go")
	var now task.Present
	w.until("it runs", func() bool {
		w.must(http.StatusOK, "GET", "/tasks/"+made.ID, nil, &now)
		return now.Doing != ""
	})
	if now.Status != store.Running || !strings.Contains(now.Doing, "the tests") || strings.Contains(now.Doing, "\x1b") || now.Questions != nil {
		t.Errorf("it does %q, and is %s", now.Doing, now.Status)
	}
}
