package api_test

import (
	"net/http"
	"strings"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/queue"
	"tandemux/host/task/store"
	"tandemux/internal/soak"
)

// TestTasksAtOnce: no more tasks work at once than may, of an agent and of all; the others
// are PENDING and follow in order, also with the next host.
func TestTasksAtOnce(t *testing.T) {
	soak.Long(t, "many tasks at once")
	t.Parallel()
	w := start(t)
	w.limits.Store(&queue.Limits{"asks": 1, queue.AllTasks: 2})
	w.agent("asks", asks)
	w.agent("other", asks)
	names := []string{"a1", "a2", "a3", "a4", "b1", "b2"}
	for _, name := range names {
		agent := "asks"
		if strings.HasPrefix(name, "b") {
			agent = "other"
		}
		w.create(agent, map[string]any{"name": name})
		w.becomes(name, store.Idle)
	}
	for _, name := range names {
		w.send(name, "go")
	}
	now := func(name string) (p task.Present) {
		w.must(http.StatusOK, "GET", "/tasks/"+name, nil, &p)
		return p
	}
	shows := func(want string) {
		t.Helper()
		var got string
		defer func() {
			if t.Failed() {
				t.Logf("they are %s", got)
			}
		}()
		w.until("they are "+want, func() bool {
			var all []string
			for _, name := range names {
				all = append(all, string(now(name).Status)[:1])
			}
			got = strings.Join(all, "")
			return got == want
		})
	}
	shows("WPPPWP")
	if p := now("a4"); !strings.Contains(p.Doing, "2 before it") {
		t.Errorf("it says %q", p.Doing)
	}
	var page struct{ Data []task.Present }
	if w.must(http.StatusOK, "GET", "/tasks?status=pending", nil, &page); len(page.Data) != 4 {
		t.Errorf("%d tasks are pending", len(page.Data))
	}
	answer := func(name string) {
		t.Helper()
		_, q := w.question(name)
		w.must(http.StatusCreated, "POST", "/tasks/"+name+"/answers", map[string]any{"question_id": q.ID, "answer": "no"}, nil)
	}
	answer("a1")
	shows("IWPPWP")
	answer("b1")
	shows("IWPPIW")

	// One that is cancelled, or deleted, gives its place, or its turn, to the next.
	w.must(http.StatusOK, "POST", "/tasks/a2/cancel", nil, nil)
	shows("ICWPIW")
	w.must(http.StatusOK, "POST", "/tasks/a4/cancel", nil, nil)
	w.send("a1", "again")
	shows("PCWCIW")

	// The next host goes on: who was at work has failed, and who waited is at work.
	w.stopHost()
	w.startHost()
	w.svc()
	shows("WCICII")
	answer("a1")

	// A limit that is raised counts at once.
	w.limits.Store(&queue.Limits{queue.AllTasks: 1})
	w.send("b1", "go")
	shows("ICICWI")
	w.send("b2", "go")
	w.send("a1", "go")
	shows("PCICWP")
	w.limits.Store(nil)
	w.svc().LimitsChanged()
	shows("WCICWW")
	for _, name := range []string{"a1", "b1", "b2"} {
		answer(name)
	}
	shows("ICICII")
}
