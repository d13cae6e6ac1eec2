package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/budget"
	"tandemux/host/task/store"
)

func (w *fixture) present(name string) (p task.Present) {
	w.t.Helper()
	w.must(http.StatusOK, http.MethodGet, "/tasks/"+name, nil, &p)
	return p
}

// costs is a script whose first turn costs 1.5 and goes on until it is stopped; the second
// makes that 2 in all.
const costs = `prompt
once DIR/files/costs
say first
update {"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":1.5,"currency":"USD"}}
await cancel
stop cancelled
always
say second
update {"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":2,"currency":"USD"}}
usage {"inputTokens":30,"outputTokens":12}
stop end_turn
`

// TestBudgetStops: a turn that passes a limit is stopped, and says which and how much was
// used; what waits begins once somebody raises it, also with the next host.
func TestBudgetStops(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("costs", strings.ReplaceAll(costs, "DIR", w.dir))
	w.create("costs", map[string]any{"name": "it"})
	w.becomes("it", store.Idle)
	frames, cut := w.stream("/tasks/it/stream", "")
	defer cut()
	first, second := w.send("it", "a"), w.send("it", "b")
	w.until("it costs something", func() bool { return w.present("it").Budget.Used.Cost != nil })
	w.must(http.StatusOK, http.MethodPut, "/tasks/it/budget", map[string]any{"max_cost": 1}, nil)
	const why = "the budget is used up: 1.50 of 1.00 USD"
	if e := w.settles(first.ID); e.Status != store.EventFailed || e.Reason != why {
		t.Errorf("the turn is %+v", e)
	}
	var end task.Part
	for f := range frames { // it ends, since nothing is begun
		end = f.part
	}
	if end.Type != task.PartFinish || end.Metadata == nil || end.Metadata.Outcome != store.OutcomeBudget || end.Metadata.Reason != why {
		t.Errorf("the stream ends with %+v", end)
	}
	held := func() {
		t.Helper()
		w.until("it is held", func() bool { return w.present("it").Status == store.Pending })
		p := w.present("it")
		if p.Last == nil || p.Last.Outcome != store.OutcomeBudget || p.Last.Reason != why || p.Doing != why || p.Budget.Over != budget.Cost {
			t.Errorf("it is %+v, %+v", p, p.Last)
		}
		if u := p.Budget.Used; u.Cost == nil || *u.Cost != 1.5 || u.Currency != "USD" || u.Tokens != nil || u.NoTokens != 1 || u.Turns != 1 {
			t.Errorf("it has used %+v", u)
		}
		w.refused(http.StatusConflict, "task budget it --max-cost N", http.MethodPost, "/tasks/it/events", map[string]any{"content": "c"})
		var page struct{ Data []task.Present }
		if w.must(http.StatusOK, "GET", "/tasks?status=pending", nil, &page); len(page.Data) != 1 {
			t.Errorf("%d tasks are pending", len(page.Data))
		}
	}
	held()
	w.stopHost()
	w.startHost()
	w.svc()
	held()
	var v budget.View
	w.must(http.StatusOK, http.MethodPut, "/tasks/it/budget", map[string]any{"max_cost": 5}, &v)
	if v.Over != "" || *v.Limits.Cost != 5 {
		t.Errorf("it is %+v", v)
	}
	if e := w.settles(second.ID); e.Status != store.EventDone {
		t.Errorf("the event that waited is %+v", e)
	}
	w.becomes("it", store.Idle)
	// The agent's process is another, but it goes on counting: 1.5 and 0.5.
	if p := w.present("it"); p.Budget.Used.Tokens == nil || *p.Budget.Used.Tokens != 42 || p.Budget.Used.Turns != 2 || p.Last.Outcome != store.OutcomeDone {
		t.Errorf("it has used %+v, %+v", p.Budget.Used, p.Last)
	}
	w.refused(http.StatusUnprocessableEntity, "", http.MethodPut, "/tasks/it/budget", map[string]any{"max_cost": "x"})
	w.refused(http.StatusUnprocessableEntity, "max_tokens is a number", http.MethodPut, "/tasks/it/budget", map[string]any{"max_tokens": -1})
	w.must(http.StatusOK, http.MethodDelete, "/tasks/it?force=true", nil, nil)
}

// TestBudgetTokens: tokens are known when a turn has ended: it has gone well, and nothing
// follows. A limit of what is never reported says so.
func TestBudgetTokens(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("tokens", "prompt\nonce "+w.dir+"/files/tokens\nsay hello\nusage {\"inputTokens\":90,\"outputTokens\":20}\nstop end_turn\nalways\nsay more\nawait cancel\nstop cancelled\n")
	w.create("tokens", map[string]any{"name": "it", "max_tokens": 100, "max_cost": 1})
	e := w.send("it", "a")
	if e = w.settles(e.ID); e.Status != store.EventDone {
		t.Errorf("the event is %+v", e)
	}
	w.becomes("it", store.Idle)
	p := w.present("it")
	if p.Last.Outcome != store.OutcomeDone || p.Doing != "the budget is used up: 110 of 100 tokens" || len(p.Budget.Unknown) != 1 || p.Budget.Unknown[0] != budget.Cost || p.Budget.Used.Cost != nil {
		t.Errorf("it is %+v", p)
	}
	w.refused(http.StatusConflict, "used up", http.MethodPost, "/tasks/it/events", map[string]any{"content": "b"})
	// A turn that a person begins in its chat is stopped, too.
	w.stopHost()
	w.startHost() // and another agent
	w.svc()
	person(t, w).prompt(p.Session, "by hand")
	w.until("it is stopped", func() bool { return w.present("it").Last.Outcome == store.OutcomeBudget })
}

// TestBudgetTime: a turn that hangs is stopped when its time is over.
func TestBudgetTime(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("hangs", "prompt\nsay hello\nawait cancel\nstop cancelled\n")
	w.create("hangs", map[string]any{"name": "it", "max_seconds": 1})
	e := w.settles(w.send("it", "a").ID)
	if e.Status != store.EventFailed || !strings.HasPrefix(e.Reason, "the budget is used up: ") || !strings.HasSuffix(e.Reason, "s of 1s") {
		t.Errorf("the event is %+v", e)
	}
}

// TestBudgetDefaults: the configuration's limits are those of new tasks, and keys stay below
// them.
func TestBudgetDefaults(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.budgets.Store(&budget.Defaults{budget.AllAgents: {Tokens: new(int64(100))}})
	d := w.agent("hello", hello)
	w.create("hello", map[string]any{"name": "it"})
	if l := w.present("it").Budget.Limits; l.Tokens == nil || *l.Tokens != 100 {
		t.Errorf("it has %+v", l)
	}
	w.create("hello", map[string]any{"name": "free", "max_tokens": 0})
	if l := w.present("free").Budget.Limits; *l.Tokens != 0 {
		t.Errorf("it has %+v", l)
	}
	ctx, svc := t.Context(), w.svc()
	key := access.Principal{Kind: access.Key, ID: "k", Scopes: []access.Scope{{Kind: access.Agent, ID: d.Agent.ID, Role: access.Editor}}}
	if _, err := svc.Create(ctx, key, task.NewTask{AgentName: "hello", Limits: budget.Limits{Tokens: new(int64(101))}, NoSandbox: false}); err == nil || !strings.Contains(err.Error(), "only the operator may set limits above") {
		t.Errorf("a key went beyond the configuration: %v", err)
	}
	inside := access.Principal{Kind: access.TaskKind, ID: w.get("it").ID}
	if _, err := svc.SetBudget(ctx, inside, "it", budget.Limits{Tokens: new(int64(0))}); err == nil {
		t.Error("a task raised its own limit")
	}
	if _, err := svc.SetBudget(ctx, access.TheOperator(), "it", budget.Limits{Tokens: new(int64(5000))}); err != nil {
		t.Error(err)
	}
}

// TestBudgetDisk: a turn whose files pass their limit is stopped, whatever it writes; what was
// deleted counts no more, and of tasks without a limit nothing is measured.
func TestBudgetDisk(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("writes", "prompt\nsay hello\nshell w head -c 3000000 /dev/urandom >big\nawait cancel\nstop cancelled\nprompt\nsay fine\n")
	w.create("writes", map[string]any{"name": "it", "max_bytes": 1 << 20})
	first, second := w.send("it", "a"), w.send("it", "b")
	if e := w.settles(first.ID); e.Status != store.EventFailed || !strings.HasPrefix(e.Reason, "the budget is used up: ") || !strings.HasSuffix(e.Reason, "M of 1M of files") {
		t.Errorf("the event is %+v", e)
	}
	w.until("it is held", func() bool { return w.present("it").Status == store.Pending })
	if p := w.present("it"); p.Last == nil || p.Last.Outcome != store.OutcomeBudget || p.Budget.Over != budget.Disk || p.Budget.Used.Bytes == nil || *p.Budget.Used.Bytes < 1<<20 {
		t.Errorf("it is %+v", p)
	}
	w.refused(http.StatusConflict, "--max-disk N` raises it, and so does it to delete files", http.MethodPost, "/tasks/it/events", map[string]any{"content": "c"})
	big, err := filepath.Glob(filepath.Join(w.dir, "state", "scratch", "*", "workspace", "big"))
	if err != nil || len(big) != 1 {
		t.Fatalf("%v %v", big, err)
	}
	if err := os.Remove(big[0]); err != nil {
		t.Fatal(err)
	}
	third := w.send("it", "c") // it is looked at again
	for _, e := range []store.Event{second, third} {
		if e = w.settles(e.ID); e.Status != store.EventDone {
			t.Errorf("the event is %+v", e)
		}
	}
	if v := w.present("it").Budget; v.Over != "" || *v.Used.Bytes > 1<<20 {
		t.Errorf("it has used %+v", v)
	}
	w.agent("hello", hello)
	w.create("hello", map[string]any{"name": "free"})
	w.settles(w.send("free", "a").ID)
	if u := w.present("free").Budget.Used; u.Bytes != nil {
		t.Errorf("it was measured: %+v", u)
	}
}
