package api_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/hub/queue"
	"tandemux/internal/hosttest"
)

// TestHalfMade: a worker finds a task on its host that was begun to be made by a host that died:
// it goes in a moment, and is made before the work begins.
func TestHalfMade(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	h := &member{Machine: hosttest.New(t, ""), name: "half"}
	var err error
	h.credential, err = f.bus.Invite(h.name, 0, queue.Grant(h.name))
	f.must(err)
	f.must(os.MkdirAll(filepath.Dir(socket(h.Dir)), 0o700))
	ln, err := net.Listen("unix", socket(h.Dir))
	f.must(err)
	var made, deleted atomic.Bool
	mux := http.NewServeMux()
	answer := func(at string, with func(w http.ResponseWriter)) {
		mux.HandleFunc(at, func(w http.ResponseWriter, _ *http.Request) { with(w) })
	}
	say := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, text) //nolint:errcheck // the worker is gone, then
	}
	answer("GET /api/v1/agents", func(w http.ResponseWriter) { say(w, http.StatusOK, `{"data":[]}`) })
	answer("GET /api/v1/tasks", func(w http.ResponseWriter) { say(w, http.StatusOK, `{"data":[]}`) })
	answer("GET /api/v1/tasks/{task}", func(w http.ResponseWriter) {
		say(w, http.StatusOK, map[bool]string{true: `{"status":"IDLE"}`, false: `{"status":"DELETING"}`}[made.Load()])
	})
	answer("POST /api/v1/tasks", func(w http.ResponseWriter) {
		if !deleted.Swap(true) {
			say(w, http.StatusServiceUnavailable, `{"statusCode":503,"message":"it is still being deleted"}`)
			return
		}
		made.Store(true)
		say(w, http.StatusCreated, `{}`)
	})
	answer("POST /api/v1/tasks/{task}/events", func(w http.ResponseWriter) {
		if !made.Load() {
			say(w, http.StatusNotFound, `{"statusCode":404,"message":"there is no such task"}`)
			return
		}
		say(w, http.StatusCreated, `{"id":"evt_1"}`)
	})
	answer("GET /api/v1/tasks/{task}/stream", func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i, part := range []string{`{"type":"start","id":"evt_1"}`, `{"type":"finish","metadata":{"eventId":"evt_1","outcome":"done"}}`} {
			fmt.Fprintf(w, "id: %d\ndata: %s\n\n", i+1, part)
		}
	})
	host := &http.Server{Handler: mux} //nolint:gosec // its one client is the worker
	go host.Serve(ln)                  //nolint:errcheck // it is closed
	t.Cleanup(func() { host.Close() })
	f.work(h, 1)
	_, e := f.create(task.NewTask{Command: []string{"true"}}, "x")
	if e = f.settles(e.ID); e.Status != store.EventDone {
		t.Errorf("the event is %+v", e)
	}
}
