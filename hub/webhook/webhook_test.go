package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/host/auth"
	"tandemux/host/hooks"
	"tandemux/host/task"
	"tandemux/hub/front"
	"tandemux/hub/lease"
	"tandemux/hub/queue"
	"tandemux/hub/server"
	"tandemux/internal/leak"
)

func TestMain(m *testing.M) { leak.InMemory(m) }

// log is what was logged.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.text.String() }

// hub is one's, without a front.
type hub struct {
	*testing.T
	bus   *server.Bus
	queue *queue.Queue
	log   log
	at    map[string]int64 // the last part of a task
}

func begin(t *testing.T) *hub {
	t.Helper()
	s := &hub{T: t, at: map[string]int64{}}
	var err error
	s.bus, err = server.Start(t.Context(), server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	s.must(err)
	t.Cleanup(s.bus.Close)
	s.queue, err = queue.Open(t.Context(), queue.Options{NATS: s.bus.Conn, JS: s.bus.JS, Replicas: 1})
	s.must(err)
	t.Cleanup(s.queue.Close)
	return s
}

func (s *hub) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *hub) logger() *slog.Logger { return slog.New(slog.NewTextHandler(&s.log, nil)) }

// node is one of the hub's; stop has it end.
func (s *hub) node() (hs *Hooks, stop func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	hs = &Hooks{
		o: Options{Bus: s.bus, Queue: s.queue, Log: s.logger()}, ctx: ctx, all: map[string]*running{},
		pauses: []time.Duration{time.Millisecond, 20 * time.Millisecond},
	}
	s.must(hs.open(ctx))
	stop = sync.OnceFunc(func() { cancel(); hs.ended.Wait() })
	s.Cleanup(stop)
	return hs, stop
}

func (s *hub) task(id, person string) {
	s.Helper()
	_, err := s.queue.Create(s.Context(), queue.Spec{ID: id, Name: "name-" + id, Person: person, New: json.RawMessage("{}")}, lease.Fail)
	s.must(err)
}

// says has a task do something: parts of these types, in one message.
func (s *hub) says(id string, kinds ...string) {
	s.Helper()
	b := queue.Batch{First: s.at[id] + 1}
	for _, kind := range kinds {
		s.at[id]++
		b.Parts = append(b.Parts, json.RawMessage(fmt.Sprintf(`{"type":%q,"text":"n%d"}`, kind, s.at[id])))
	}
	text, err := json.Marshal(b)
	s.must(err)
	_, err = s.bus.JS.Publish(s.Context(), queue.Subjects+id, text)
	s.must(err)
}

// receiver is an address, and what came there.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	keys   map[string]string // by path
	answer func(n int) int   // to the nth request
	got    []Event           // that were answered with 200
	ids    []string          // of all requests
	bad    []string
}

func receive(t *testing.T, answer func(n int) int) *receiver {
	r := &receiver{keys: map[string]string{}, answer: answer}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids = append(r.ids, q.Header.Get("Webhook-Id"))
	key, err := hooks.ParseKey(r.keys[q.URL.Path])
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", q.Header.Get("Webhook-Id"), q.Header.Get("Webhook-Timestamp"), body)
	if err != nil || q.Header.Get("Webhook-Signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
		r.bad = append(r.bad, q.URL.Path)
	}
	status := http.StatusOK
	if r.answer != nil {
		status = r.answer(len(r.ids))
	}
	if status == http.StatusOK {
		var e Event
		if json.Unmarshal(body, &e) != nil {
			r.bad = append(r.bad, string(body))
		}
		r.got = append(r.got, e)
	}
	w.WriteHeader(status)
}

// parts are all that came, in order, as TASK:ID.
func (r *receiver) parts() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, e := range r.got {
		for _, p := range e.Parts {
			all = append(all, fmt.Sprintf("%s:%d", e.Task.ID, p.ID))
		}
	}
	return strings.Join(all, " ")
}

// add makes a webhook for a path of an address, as the hub's own user.
func (s *hub) add(hs *Hooks, r *receiver, w Wanted) {
	s.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	w.URL = r.URL + "/" + w.Name
	made, err := hs.add(s.Context(), w, front.Operator)
	s.must(err)
	r.keys["/"+w.Name] = made.Key
}

func (s *hub) until(what string, ok func() bool) {
	s.Helper()
	for end := time.Now().Add(90 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("not reached: %s\n%s", what, s.log.String())
		}
	}
}

// TestTold: an address is told what it asked for, from when it was made on, signed, in order; one that was removed nothing. No list and no line of the
// log has its key or its path.
func TestTold(t *testing.T) {
	s := begin(t)
	hs, _ := s.node()
	s.task("tsk_a", "ann")
	s.task("tsk_b", "bob")
	s.says("tsk_a", "start")
	r := receive(t, nil)
	some := receive(t, nil)
	s.add(hs, r, Wanted{Name: "all"})
	s.add(hs, some, Wanted{Name: "some", On: []string{task.PartFinish, task.PartQuestion}})
	s.says("tsk_a", "text-start", "text-delta")
	s.says("tsk_b", "start", "question")
	s.says("tsk_gone", "start")
	s.says("tsk_a", "text-end", "finish")
	for _, c := range []struct {
		r    *receiver
		want string
	}{{r, "tsk_a:2 tsk_a:3 tsk_b:1 tsk_b:2 tsk_a:4 tsk_a:5"}, {some, "tsk_b:2 tsk_a:5"}} {
		s.until("it was told "+c.want, func() bool { return c.r.parts() == c.want })
		if len(c.r.bad) > 0 {
			t.Errorf("signatures or bodies are wrong: %q", c.r.bad)
		}
	}
	if e := r.got[0]; e.Event != "task" || e.Task.Name != "name-tsk_a" || e.Task.Person != "ann" || string(e.Parts[0].Part) != `{"type":"text-start","text":"n2"}` || time.Since(e.At) > time.Minute {
		t.Errorf("the first event is %+v", e)
	}
	list := func() string {
		all, err := hs.list(t.Context())
		s.must(err)
		text, err := json.Marshal(all)
		s.must(err)
		return string(text)
	}
	s.until("nothing waits", func() bool { return !strings.Contains(list(), `"waiting":1`) })
	s.must(hs.remove(t.Context(), "some"))
	s.says("tsk_b", "finish")
	s.until("the one that is left is told", func() bool { return strings.HasSuffix(r.parts(), "tsk_b:3") })
	if some.parts() != "tsk_b:2 tsk_a:5" {
		t.Errorf("one that was removed was told %s", some.parts())
	}
	if err := hs.remove(t.Context(), "some"); err == nil || !strings.Contains(err.Error(), "no webhook") {
		t.Errorf("it is removed again: %v", err)
	}
	r.answer = func(int) int { return http.StatusTeapot }
	s.says("tsk_a", "start")
	s.until("a refusal is logged", func() bool { return strings.Contains(s.log.String(), "418") })
	for what, text := range map[string]string{"list": list(), "log": s.log.String()} {
		if strings.Contains(text, "whsec_") || strings.Contains(text, "/all") {
			t.Errorf("the %s has a secret: %s", what, text)
		}
	}
}

// TestFailing: an address that fails is tried again with the same id and misses nothing; one
// that hangs, and one that never answers well, hold up no other, and go on where they were once
// they do, also at the next hub.
func TestFailing(t *testing.T) {
	s := begin(t)
	hs, stop := s.node()
	fails := receive(t, func(n int) int { return []int{500, 429, 503, 200}[min(n-1, 3)] })
	hung := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hung }))
	defer hangs.Close()
	defer close(hung)
	good := receive(t, nil)
	dead := receive(t, func(int) int { return http.StatusBadGateway })
	s.add(hs, fails, Wanted{Name: "fails"})
	s.add(hs, good, Wanted{Name: "good"})
	s.add(hs, dead, Wanted{Name: "dead"})
	if _, err := hs.add(t.Context(), Wanted{Name: "hangs", URL: hangs.URL}, front.Operator); err != nil {
		t.Fatal(err)
	}
	s.task("tsk_a", "ann")
	var want []string
	for i := range 50 {
		s.says("tsk_a", "text-delta")
		want = append(want, fmt.Sprintf("tsk_a:%d", i+1))
	}
	all := strings.Join(want, " ")
	s.until("the others were told", func() bool { return good.parts() == all && fails.parts() == all })
	if ids := fails.ids[:5]; ids[0] != ids[3] || ids[3] == ids[4] {
		t.Errorf("the ids of attempts are %q", ids)
	}
	waits := func() string {
		list, err := hs.list(t.Context())
		s.must(err)
		text := ""
		for _, l := range list {
			text += fmt.Sprintf("%s %d ", l.Name, l.Waiting)
			if l.Name == "dead" && l.Failing {
				text += "failing "
			}
		}
		return text
	}
	// What was answered counts once JetStream knows: what it does not is told again.
	s.until("the others count as told", func() bool { return waits() == "dead 50 failing fails 0 good 0 hangs 50 " })
	stop()
	hs, _ = s.node()
	s.says("tsk_a", "finish")
	s.until("the next hub tells", func() bool { return good.parts() == all+" tsk_a:51" })
	dead.mu.Lock()
	dead.answer = nil
	dead.mu.Unlock()
	s.until("it was told all", func() bool { return dead.parts() == all+" tsk_a:51" })
}

// TestNodes: of three nodes one delivers each message, and when nodes end the others go on
// where they were.
func TestNodes(t *testing.T) {
	s := begin(t)
	var stops []func()
	var hs *Hooks
	for range 3 {
		var stop func()
		hs, stop = s.node()
		stops = append(stops, stop)
	}
	r := receive(t, nil)
	s.add(hs, r, Wanted{Name: "all"})
	s.task("tsk_a", "ann")
	s.task("tsk_b", "bob")
	var want []string
	for i := range 90 {
		for _, id := range []string{"tsk_a", "tsk_b"} {
			s.says(id, "text-delta")
			want = append(want, fmt.Sprintf("%s:%d", id, i+1))
		}
		if i%30 == 29 {
			stops[i/30]()
		}
		if i == 89 {
			s.node()
		}
	}
	s.until("all were told", func() bool { return strings.HasSuffix(r.parts(), want[len(want)-1]) })
	seen := map[string]bool{}
	var got []string
	for _, part := range strings.Fields(r.parts()) {
		if !seen[part] { // what a node had begun that ended is told again
			got = append(got, part)
		}
		seen[part] = true
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("they were told %q", got)
	}
	if again := len(r.got) - len(want); again > 3 {
		t.Errorf("%d messages were told again", again)
	}
}

// TestAddresses: what may be asked for, and by whom.
func TestAddresses(t *testing.T) {
	s := begin(t)
	hs, _ := s.node()
	admin := front.Person{Name: "token:ci", Scopes: []string{auth.ScopeAdmin}}
	for _, c := range []struct {
		w    Wanted
		by   front.Person
		says string
	}{
		{Wanted{Name: "a", URL: "http://127.0.0.1:1/x"}, front.Operator, ""},
		{Wanted{Name: "b", URL: "https://example.org/x", On: []string{"finish"}}, admin, ""},
		{Wanted{Name: "b", URL: "https://example.org/x"}, admin, "already"},
		{Wanted{Name: "c", URL: "http://example.org/x"}, admin, "https"},
		{Wanted{Name: "c", URL: "https://127.0.0.1/x"}, admin, "private network"},
		{Wanted{Name: "c", URL: "https://[::ffff:169.254.169.254]/x"}, admin, "private network"},
		{Wanted{Name: "c", URL: "https://10.1.2.3/x"}, admin, "private network"},
		{Wanted{Name: "c", URL: "file:///etc/passwd"}, front.Operator, "such as https"},
		{Wanted{Name: "c", URL: "https:///x"}, front.Operator, "such as https"},
		{Wanted{Name: "c", URL: "https://example.org/" + strings.Repeat("x", maxURL)}, front.Operator, "more than"},
		{Wanted{Name: "C.*", URL: "https://example.org"}, front.Operator, "other characters"},
		{Wanted{Name: "c", URL: "https://example.org", On: []string{"finished"}}, front.Operator, "no type of a part"},
		{Wanted{Name: "c", URL: "https://example.org", On: slices.Repeat([]string{"finish"}, 20)}, front.Operator, "more than once"},
	} {
		_, err := hs.add(t.Context(), c.w, c.by)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v by %s: %v, want %q", c.w, c.by.Name, err, c.says)
		}
	}
	// A name that leads inside is found out when it is dialled.
	inside := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was called") }))
	defer inside.Close()
	if _, err := hs.add(t.Context(), Wanted{Name: "c", URL: strings.Replace(inside.URL, "127.0.0.1", "localhost", 1)}, admin); err != nil {
		t.Fatal(err)
	}
	s.task("tsk_a", "ann")
	s.says("tsk_a", "start")
	s.until("it is refused", func() bool { return strings.Contains(s.log.String(), "the name leads to a private network") })
}

// TestRoutes: only who has the scope admin has webhooks.
func TestRoutes(t *testing.T) {
	s := begin(t)
	hs, _ := s.node()
	for _, r := range hs.Routes() {
		if r.Scope != auth.ScopeAdmin || r.Open {
			t.Errorf("%s needs the scope %q", r.Pattern, r.Scope)
		}
	}
	if err := hs.remove(t.Context(), "a.>"); err == nil || !strings.Contains(err.Error(), "no webhook") {
		t.Errorf("a name that is none: %v", err)
	}
}
