package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/hub/directory"
	"tandemux/internal/apiclient"
	"tandemux/internal/hosttest"
)

// work is tasks that a test gives a hub. Each writes down, apart from everything, that it
// was begun and that it has ended.
type work struct {
	*testing.T
	api   *apiclient.Client
	dir   string
	tasks []given
}

// given is a task, and what it was sent.
type given struct{ id, event string }

func newWork(t *testing.T, hub *hosttest.Machine) *work {
	t.Helper()
	w := &work{T: t, dir: t.TempDir()}
	w.api = apiclient.New(apiclient.Options{Dial: func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(hub.Dir, "r", "tandemux", socketName))
	}})
	t.Cleanup(w.api.Close)
	return w
}

// insist asks the hub, again while it does not know.
func (w *work) insist(r apiclient.Request, into any) {
	w.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = w.api.Do(w.Context(), r, into); err == nil {
			return
		}
	}
	w.Fatalf("%s %s: %v", r.Method, r.Path, err)
}

// add gives the hub a task that runs a line of the shell, and writes down that it did.
func (w *work) add(line string) {
	w.Helper()
	ran := filepath.Join(w.dir, fmt.Sprint("ran", len(w.tasks)))
	w.give(task.NewTask{}, fmt.Sprintf("echo begun >>%s; %s; echo ended >>%[1]s", ran, line))
}

// give gives the hub a task whose agent runs a line of the shell.
func (w *work) give(n task.NewTask, line string) {
	w.Helper()
	self, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}
	at := len(w.tasks)
	script := filepath.Join(w.dir, fmt.Sprint("script", at))
	if err := os.WriteFile(script, []byte("prompt\nshell a "+line+"\nsay done\n"), 0o600); err != nil {
		w.Fatal(err)
	}
	once := func(what string) http.Header {
		return http.Header{"Idempotency-Key": {fmt.Sprintf("%s-%d-%d", what, os.Getpid(), at)}}
	}
	n.Name = cmp.Or(n.Name, fmt.Sprint("t", at))
	n.Command, n.NoSandbox, n.Workspace = []string{self, "agent", script}, true, "none"
	var tk store.Task
	w.insist(apiclient.Request{Method: http.MethodPost, Path: "/tasks", Header: once("task"), Body: n}, &tk)
	var e store.Event
	w.insist(apiclient.Request{Method: http.MethodPost, Path: "/tasks/" + tk.ID + "/events", Header: once("event"), Body: map[string]string{"content": "go"}}, &e)
	w.tasks = append(w.tasks, given{tk.ID, e.ID})
}

// reaches waits until a task is as is wanted.
func (w *work) reaches(n int, within time.Duration, what string, ok func(task.Present) bool) {
	w.Helper()
	for end := time.Now().Add(within); !ok(w.get(n)); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("not reached: task %d %s: it is %+v", n, what, w.get(n))
		}
	}
}

// here reports whether a host is. It asks by this process: a command takes its time to start.
func (w *work) here(name string) bool {
	w.Helper()
	var all []directory.Entry
	w.insist(apiclient.Request{Method: http.MethodGet, Path: "/hosts"}, &all)
	return slices.ContainsFunc(all, func(e directory.Entry) bool { return e.Name == name && e.Present })
}

// ran is how often the command of a task was begun, and how often it came to its end.
func (w *work) ran(n int) (begun, ended int) {
	text, _ := os.ReadFile(filepath.Join(w.dir, fmt.Sprint("ran", n)))
	return strings.Count(string(text), "begun"), strings.Count(string(text), "ended")
}

// get is a task as the hub says that it is.
func (w *work) get(n int) (p task.Present) {
	w.Helper()
	w.insist(apiclient.Request{Method: http.MethodGet, Path: "/tasks/" + w.tasks[n].id}, &p)
	return p
}

// event is what a task was sent.
func (w *work) event(n int) (e store.Event) {
	w.Helper()
	w.insist(apiclient.Request{Method: http.MethodGet, Path: "/events/" + w.tasks[n].event}, &e)
	return e
}

// over is how many have nothing to do any more.
func (w *work) over() (n int) {
	w.Helper()
	var all struct{ Data []task.Present }
	w.insist(apiclient.Request{Method: http.MethodGet, Path: "/tasks", Query: url.Values{"limit": {"1000"}}}, &all)
	for _, p := range all.Data {
		if p.Status == store.Idle || p.Status == store.FailedRun || p.Status == store.Cancelled {
			n++
		}
	}
	return n
}

// until waits until as many are over as is wanted.
func (w *work) until(what string, ok func(over int) bool) {
	w.Helper()
	for end := time.Now().Add(5 * time.Minute); !ok(w.over()); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("not reached: %s: %d of %d are over", what, w.over(), len(w.tasks))
		}
	}
}

// check wants each task to have been done once, or to have failed with a word, which at most
// so many may.
func (w *work) check(mayFail int) {
	w.Helper()
	done, failed := 0, 0
	for n := range w.tasks {
		begun, ended := w.ran(n)
		switch e := w.event(n); {
		case begun > 1 || ended > 1:
			w.Errorf("task %d was begun %d times and ended %d times: %+v", n, begun, ended, e)
		case e.Status == store.EventDone && ended == 1:
			done++
		case e.Status == store.EventFailed && strings.Contains(e.Reason, "again") && failed < mayFail:
			failed++
		default:
			w.Errorf("task %d, which was begun %d times and ended %d times, is %+v", n, begun, ended, e)
		}
	}
	w.Logf("%d tasks were done once, %d are to be sent again", done, failed)
}
