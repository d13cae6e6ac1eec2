package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/host/hooks"
	"tandemux/host/task"
	"tandemux/hub/webhook"
	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// told is an address, and what it was told of each task.
type told struct {
	testing.TB
	*httptest.Server
	mu    sync.Mutex
	key   []byte
	times map[string]int       // by Webhook-Id
	last  map[string]int64     // by task
	over  map[string]time.Time // tasks that have finished
}

// tell has an address told what tasks do, by the hub of a machine.
func tell(t *testing.T, hub *hosttest.Machine) *told {
	r := &told{TB: t, times: map[string]int{}, last: map[string]int64{}, over: map[string]time.Time{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.key, err = hooks.ParseKey(hub.Tandemux("hub", "webhook", "add", "all", r.URL+"/path-of-secrets")); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *told) ServeHTTP(_ http.ResponseWriter, q *http.Request) {
	time.Sleep(20 * time.Millisecond) // so that hubs die while it is told
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	id := q.Header.Get("Webhook-Id")
	mac := hmac.New(sha256.New, r.key)
	fmt.Fprintf(mac, "%s.%s.%s", id, q.Header.Get("Webhook-Timestamp"), body)
	if q.Header.Get("Webhook-Signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
		r.Errorf("it was not signed by the key: %s", body)
	}
	var e webhook.Event
	if err := json.Unmarshal(body, &e); err != nil {
		r.Errorf("it was told %s", body)
		return
	}
	if r.times[id]++; r.times[id] > 1 {
		return // what it was told before
	}
	for _, p := range e.Parts {
		if p.ID != r.last[e.Task.ID]+1 {
			r.Errorf("of %s it was told part %d after %d", e.Task.ID, p.ID, r.last[e.Task.ID])
		}
		r.last[e.Task.ID] = p.ID
		if strings.Contains(string(p.Part), `"type":"`+task.PartFinish+`"`) {
			r.over[e.Task.ID] = time.Now()
		}
	}
}

// count is how many messages it was told, and how many of them more than once.
func (r *told) count() (messages, again int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.times {
		again += n - 1
	}
	return len(r.times), again
}

// finished is how many tasks it was told to their ends.
func (r *told) finished() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.over)
}

// works makes tasks that say much, and waits until the address was told all of it; kill is
// called meanwhile, each time that it was told some more.
func (r *told) works(m *hosttest.Machine, at []string, tasks int, kill ...func()) {
	r.Helper()
	self, err := os.Executable()
	m.Must(err)
	script := filepath.Join(m.Dir, "script")
	text := "prompt\n"
	for i := range 40 {
		text += fmt.Sprintf("say line %d \nshell s%d sleep 0.1\n", i, i)
	}
	m.Must(os.WriteFile(script, []byte(text), 0o600))
	for i := range tasks {
		m.Tandemux(append(at, "task", "new", "--no-sandbox", "--name", fmt.Sprintf("t%d", i), "--agent-command", self+" agent "+script, "-m", "go")...)
	}
	before := 0
	for _, k := range kill {
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			// While no hub runs, much gathers in one message: all may have been told in few.
			n, _ := r.count()
			if n >= before+15 || before > 0 && r.finished() == tasks {
				break
			} else if time.Now().After(end) {
				r.Fatalf("a minute after a hub was killed it was told %d messages, after %d, and %d of %d tasks to their ends", n, before, r.finished(), tasks)
			}
		}
		k()
		before, _ = r.count()
	}
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if r.finished() == tasks {
			break
		}
		if time.Now().After(end) {
			r.Fatalf("of %d tasks it was told to their ends: %d; %v", tasks, r.finished(), r.last)
		}
	}
	messages, again := r.count()
	r.Logf("%d messages of %d tasks, %d of them twice", messages, tasks, again)
}

// TestWebhookKilled: an address is told all that tasks do, in order, though the hub is killed
// by -9 again and again while it tells; an address at which nobody listens is in nobody's way.
// Neither the log nor the list has the key, or the address's path.
func TestWebhookKilled(t *testing.T) {
	t.Parallel()
	soak.Long(t, "a hub is killed again and again")
	home, build := hosttest.New(t, ""), hosttest.New(t, "")
	hub, addr := runHub(t, home)
	_, rest, _ := strings.Cut(hub.text(), "hosts join at nats://")
	nats := strings.Fields(rest)[0]
	start(t, build, home.Tandemux("hub", "invite", "build"), "join", "--room", "4")
	home.Eventually("the host is here", func() bool { return fleet(home)["build"].Present })
	home.Tandemux("hub", "webhook", "add", "dead", "http://127.0.0.1:1/path-of-secrets")
	r := tell(t, home)
	token := filepath.Join(home.Dir, "token")
	home.Must(os.WriteFile(token, []byte(home.Tandemux("hub", "token", "new", "me", "--scope", "admin")), 0o600))
	said := ""
	kill := func() {
		hub.Process.Kill() //nolint:errcheck // it runs
		hub.Wait()         //nolint:errcheck // it was killed
		said += hub.text()
		hub = start(t, home, "", "hub", "serve", "--listen", addr, "--nats", nats)
		home.Eventually("the next hub runs", func() bool { return strings.Contains(hub.text(), "hosts join at") })
	}
	r.works(home, []string{"--host", "ws://" + addr, "--token-file", token}, 3, kill, kill, kill)
	list := home.Tandemux("hub", "webhook", "ls")
	if !strings.Contains(list, "tries again") || !strings.Contains(list, "http://127.0.0.1:1 ") {
		t.Errorf("the list says %s", list)
	}
	for what, text := range map[string]string{"log": said + hub.text(), "list": list + home.Tandemux("hub", "webhook", "ls", "--json")} {
		if strings.Contains(text, "whsec_") || strings.Contains(text, "path-of-secrets") {
			t.Errorf("the %s has a secret: %s", what, text)
		}
	}
	home.Tandemux("hub", "webhook", "rm", "dead", "all")
	if out := home.Tandemux("hub", "webhook", "ls", "--json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("after rm there are %s", out)
	}
}
