package api_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/host/listen"
	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/hub/api"
	"tandemux/hub/front"
	"tandemux/hub/lease"
	"tandemux/hub/queue"
	"tandemux/hub/server"
	"tandemux/hub/worker"
	"tandemux/internal/acptest"
	"tandemux/internal/apiclient"
	"tandemux/internal/hosttest"
	"tandemux/internal/linktest"
	"tandemux/internal/soak"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "agent" {
		script, err := os.ReadFile(os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(acptest.Main(string(script)))
	}
	if len(os.Args) == 4 && os.Args[1] == "worker" {
		workerProcess(os.Args[2], os.Args[3])
		return
	}
	os.Exit(hosttest.Main(m))
}

// shortTerms are short, so that what is lost is lost soon.
var shortTerms = lease.Terms{Claimed: 3 * time.Second, Begun: 6 * time.Second}

// fleet is a hub in this process, and the machine of who uses it.
type fleet struct {
	*testing.T
	terms lease.Terms
	dir   string
	at    string // of its NATS
	bus   *server.Bus
	queue *queue.Queue
	api   *apiclient.Client
	stop  func()
	hosts map[string]*member
}

// member is a host of the fleet.
type member struct {
	*hosttest.Machine
	name       string
	credential server.Credential
	stop       func()
	way        *linktest.Proxy // to the hub; nil: none between
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	return fleetOf(t, shortTerms)
}

func fleetOf(t *testing.T, terms lease.Terms) *fleet {
	t.Helper()
	dir, err := os.MkdirTemp("", "q")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f := &fleet{T: t, terms: terms, dir: dir, hosts: map[string]*member{}}
	f.start()
	t.Cleanup(func() { f.stop() })
	return f
}

func (f *fleet) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fleet) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(testWriter{f.T}, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type testWriter struct{ *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.Logf("%s", strings.TrimSpace(string(b)))
	return len(b), nil
}

// start starts the hub, again with what it stored.
func (f *fleet) start() {
	f.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	f.bus, err = server.Start(ctx, server.Options{Dir: filepath.Join(f.dir, "hub"), Listen: cmp.Or(f.at, "127.0.0.1:0")})
	f.must(err)
	f.at = f.bus.Addr()
	log := slog.New(slog.DiscardHandler)
	f.queue, err = queue.Open(ctx, queue.Options{NATS: f.bus.Conn, JS: f.bus.JS, Replicas: 1, Terms: f.terms, Log: log})
	f.must(err)
	a := &api.API{Queue: f.queue, Log: log}
	sock := filepath.Join(f.dir, "hub.sock")
	os.Remove(sock) //nolint:errcheck // there may be none
	ln, err := net.Listen("unix", sock)
	f.must(err)
	served := make(chan error, 1)
	go func() { served <- front.New(front.Config{Routes: a.Routes()}).Serve(ctx, ln) }()
	f.api = apiclient.New(apiclient.Options{Dial: func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", sock)
	}})
	f.stop = sync.OnceFunc(func() {
		f.queue.Close()
		f.bus.Close()
		cancel()
		<-served
		f.api.Close()
	})
}

// socket is that of a machine's host.
func socket(dir string) string { return filepath.Join(dir, "r", "tandemux", listen.SocketName) }

// host adds a host with labels, and starts its worker.
func (f *fleet) host(name string, room int, labels ...string) *member {
	f.Helper()
	h := &member{Machine: hosttest.New(f.T, ""), name: name}
	var err error
	h.credential, err = f.bus.Invite(name, 0, queue.Grant(name))
	f.must(err)
	h.Tandemux("host")
	f.hosts[name] = h
	f.work(h, room, labels...)
	return h
}

// connect joins the hub's NATS as a host.
func connect(at, name, credential string) (*nats.Conn, error) {
	file, err := os.CreateTemp("", "cred")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(credential); err != nil {
		return nil, err
	}
	file.Close()
	user := nats.UserCredentialBytes([]byte(credential))
	return nats.Connect(at, user, nats.CustomInboxPrefix(server.InboxOf(name)), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond), nats.RetryOnFailedConnect(true),
		nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2))
}

// hostAPI is the interface of a machine's host.
func hostAPI(dir string) *apiclient.Client {
	return apiclient.New(apiclient.Options{Dial: func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket(dir))
	}})
}

// work starts a host's worker in this process.
func (f *fleet) work(h *member, room int, labels ...string) {
	f.Helper()
	nc, err := connect("nats://"+f.bus.Addr(), h.name, h.credential.Text)
	f.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	client := hostAPI(h.Dir)
	go func() {
		defer close(ended)
		if err := worker.Run(ctx, worker.Options{Host: h.name, NATS: nc, API: client, Labels: labels, Room: room, Dir: filepath.Join(h.Dir, "hub-files"), Log: f.log()}); err != nil {
			f.Error(err)
		}
	}()
	h.stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		nc.Close()
		client.Close()
	})
	f.Cleanup(h.stop)
}

// workerProcess is a worker that can be killed: the directory of its machine and a file
// that says the rest.
func workerProcess(dir, file string) {
	var o struct {
		At, Name, Credential string
		Room                 int
		Labels               []string
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	var nc *nats.Conn
	if err == nil {
		nc, err = connect(o.At, o.Name, o.Credential)
	}
	if err == nil {
		err = worker.Run(context.Background(), worker.Options{Host: o.Name, NATS: nc, API: hostAPI(dir), Labels: o.Labels, Room: o.Room, Dir: filepath.Join(dir, "hub-files"), Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func (f *fleet) eventually(what string, within time.Duration, ok func() bool) {
	f.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.Errorf("not reached within %v: %s", within, what)
			f.explain()
			f.FailNow()
		}
	}
}

// explain logs what is known of the tasks that are not over, and what each host says of them.
func (f *fleet) explain() {
	idle := 0
	for _, t := range f.queue.Tasks() {
		if t.Record.State == lease.Idle {
			idle++
			continue
		}
		t.Record.Task = nil
		record, _ := json.Marshal(t.Record) //nolint:errcheck // it was JSON
		f.Logf("%s %q: %s", t.Spec.ID, f.queue.Waits(t.Spec.ID), record)
	}
	f.Logf("%d tasks are idle; leases by host: %v", idle, f.queue.Working())
	for name, h := range f.hosts {
		out, err := h.Command("task", "ls", "--all", "--json").CombinedOutput()
		log, _ := os.ReadFile(filepath.Join(h.Dir, ".local", "state", "tandemux", "host.log")) //nolint:errcheck // there may be none
		f.Logf("%s has, %v:\n%s\nits log:\n%s", name, err, out, log[max(0, len(log)-16<<10):])
	}
}

// script writes one for the agent and gives the command that runs it.
func (f *fleet) script(text string) []string {
	f.Helper()
	self, err := os.Executable()
	f.must(err)
	file, err := os.CreateTemp(f.dir, "script")
	f.must(err)
	_, err = file.WriteString(text)
	f.must(err)
	f.must(file.Close())
	return []string{self, "agent", file.Name()}
}

// do asks the hub.
func (f *fleet) do(method, path string, body, into any) error {
	return f.api.Do(context.Background(), apiclient.Request{Method: method, Path: path, Body: body}, into)
}

// create makes a task and sends it something.
func (f *fleet) create(n task.NewTask, text string) (store.Task, store.Event) {
	f.Helper()
	var t store.Task
	n.NoSandbox, n.Workspace = true, "none"
	f.must(f.do(http.MethodPost, "/tasks", n, &t))
	return t, f.send(t.ID, text)
}

func (f *fleet) send(id, text string) (e store.Event) {
	f.Helper()
	f.must(f.do(http.MethodPost, "/tasks/"+id+"/events", map[string]string{"content": text}, &e))
	return e
}

func (f *fleet) event(id string) (e store.Event) {
	f.Helper()
	f.must(f.do(http.MethodGet, "/events/"+id, nil, &e))
	return e
}

func (f *fleet) get(id string) (t task.Present) {
	f.Helper()
	f.must(f.do(http.MethodGet, "/tasks/"+id, nil, &t))
	return t
}

// settles waits for an event's end.
func (f *fleet) settles(id string) (e store.Event) {
	f.Helper()
	f.eventually("the event has ended", 60*time.Second, func() bool {
		e = f.event(id)
		return e.Status != store.EventPending && e.Status != store.EventRunning
	})
	return e
}

// stream reads a task's stream to its end.
func (f *fleet) stream(id string, after string) (ids []string, parts []task.Part) {
	f.Helper()
	q := url.Values{}
	if after != "" {
		q.Set("after", after)
	}
	f.must(f.api.Stream(context.Background(), apiclient.Request{Method: http.MethodGet, Path: "/tasks/" + id + "/stream", Query: q}, func(e apiclient.Event) error {
		var p task.Part
		if err := json.Unmarshal([]byte(e.Data), &p); err != nil {
			return err
		}
		ids, parts = append(ids, e.ID), append(parts, p)
		return nil
	}))
	return ids, parts
}

// TestOneHost: a task is given to the host that has what it asks for, its stream has all
// that the host's has, with ids without gaps, and the next event goes to the same host.
func TestOneHost(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.host("plain", 2)
	f.host("build", 2, "gpu", "big")
	command := f.script("prompt\nsay hello from the fleet\nprompt\nsay and again")
	tk, e := f.create(task.NewTask{Command: command, Where: "gpu,big"}, "begin")
	if e = f.settles(e.ID); e.Status != store.EventDone {
		t.Fatalf("the event is %+v", e)
	}
	if k, _ := f.queue.Task(tk.ID); k.Record.Host != "build" || k.Record.Home != "build" {
		t.Errorf("the task ran on %q", k.Record.Host)
	}
	ids, parts := f.stream(tk.ID, "")
	said := ""
	for i, p := range parts {
		if ids[i] != fmt.Sprint(i+1) {
			t.Errorf("the ids are %v", ids)
		}
		said += p.Text
	}
	first, last := parts[0], parts[len(parts)-1]
	if said != "hello from the fleet" || first.Type != task.PartStart || first.ID != e.ID || last.Type != task.PartFinish || last.Metadata.Outcome != store.OutcomeDone {
		t.Errorf("the stream is %+v", parts)
	}
	second := f.settles(f.send(tk.ID, "go on").ID)
	more, _ := f.stream(tk.ID, ids[len(ids)-1])
	if second.Status != store.EventDone || len(more) == 0 || more[0] != fmt.Sprint(len(ids)+1) {
		t.Errorf("the second turn is %+v, its parts %v", second, more)
	}
	var messages struct{ Data []store.Message }
	f.must(f.do(http.MethodGet, "/tasks/"+tk.ID+"/messages", nil, &messages))
	if len(messages.Data) != 4 {
		t.Errorf("its host has the messages %+v", messages.Data)
	}
	// The command line finds the same.
	m := hosttest.New(t, "")
	hub := "unix://" + filepath.Join(f.dir, "hub.sock")
	if out := m.Tandemux("--host", hub, "task", "ls"); !strings.Contains(out, tk.Name) || !strings.Contains(out, "IDLE") {
		t.Errorf("task ls says %s", out)
	}
	if out := m.Tandemux("--host", hub, "task", "watch", tk.Name); !strings.Contains(out, "hello from the fleet") || !strings.Contains(out, "and again") {
		t.Errorf("task watch says %s", out)
	}
	out := m.Tandemux("--host", hub, "task", "new", "--no-sandbox", "--where", "gpu", "--agent-command", strings.Join(command, " "), "-m", "x", "--wait")
	if !strings.Contains(out, "hello from the fleet") {
		t.Errorf("task new --wait says %s", out)
	}
	m.Tandemux("--host", hub, "task", "rm", tk.ID)
	if err := f.do(http.MethodGet, "/tasks/"+tk.ID, nil, nil); err == nil || !strings.Contains(err.Error(), "there is no task") {
		t.Errorf("after rm: %v", err)
	}
	left := f.hosts["build"].Tandemux("task", "ls", "--all", "--json")
	if strings.Contains(left, queue.Local(tk.ID, "1")) {
		t.Errorf("its host has it still: %s", left)
	}
}

// TestUntold: of a turn that was lost, whose end the hub noted and, as it was killed then,
// did not tell, the stream tells it to the first that waits for it, and ends.
func TestUntold(t *testing.T) {
	soak.Long(t, "a hub is killed before it has told")
	t.Parallel()
	f := newFleet(t)
	tk, _ := f.create(task.NewTask{Command: f.script("prompt\nsay done"), Where: "gpu"}, "x")
	change := func(op lease.Op) lease.Record {
		r, err := lease.Change(t.Context(), f.queue, tk.ID, op)
		f.must(err)
		return r
	}
	r := change(lease.Op{Verb: lease.Claim, Host: "gone"})
	r = change(lease.Op{Verb: lease.Begin, Host: "gone", Lease: r.Lease})
	_, err := f.bus.JS.Publish(t.Context(), queue.Subjects+tk.ID, []byte(`{"first":1,"parts":[{"type":"start"}],"lease":1}`))
	f.must(err)
	r = change(lease.Op{Verb: lease.Lose, Lease: r.Lease, Renewed: r.Renewed})
	f.stop()
	f.start()
	for range 2 {
		ids, parts := f.stream(tk.ID, "")
		if len(parts) != 3 || parts[0].Type != task.PartStart || parts[1].Type != task.PartError || !strings.Contains(parts[1].Error, "the host gone was lost") ||
			parts[2].Type != task.PartFinish || parts[2].Metadata.Outcome != store.OutcomeInterrupted || !slices.Equal(ids, []string{"1", "2", "3"}) {
			t.Errorf("the stream is %v, %+v", ids, parts)
		}
		f.must(f.queue.Conclude(t.Context(), tk.ID, r.Ends[0])) // as another hub of the fleet may
	}
}

// TestNoHost: what nobody can do says why it waits, and begins when somebody can.
func TestNoHost(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	tk, e := f.create(task.NewTask{Command: f.script("prompt\nsay done"), Where: "gpu"}, "x")
	if p := f.get(tk.ID); p.Status != store.Pending || p.Doing != "no host has gpu" {
		t.Errorf("it is %s, %q", p.Status, p.Doing)
	}
	f.host("late", 1, "gpu")
	if e = f.settles(e.ID); e.Status != store.EventDone {
		t.Errorf("the event is %+v", e)
	}
	var list struct{ Data []task.Present }
	f.must(f.do(http.MethodGet, "/tasks?status=IDLE", nil, &list))
	if !slices.ContainsFunc(list.Data, func(p task.Present) bool { return p.ID == tk.ID }) {
		t.Errorf("the list is %+v", list.Data)
	}
}
