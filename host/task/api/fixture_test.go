package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/host"
	"tandemux/host/agent"
	"tandemux/host/changes"
	"tandemux/host/front"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/host/sandbox"
	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/api"
	"tandemux/host/task/budget"
	"tandemux/host/task/home"
	"tandemux/host/task/queue"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/acptest"
	"tandemux/internal/leak"
)

// keeperEnv makes the test binary a keeper that listens on the named socket.
const keeperEnv = "TANDEMUX_TEST_KEEPER"

// patience bounds every wait, and is never spent when all is well.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	if code, ours := sandbox.Main(os.Args); ours {
		os.Exit(code)
	}
	if socket := os.Getenv(keeperEnv); socket != "" {
		ln, err := keeper.Listen(socket)
		if err == nil {
			err = keeper.Serve(context.Background(), ln, nil)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "agent" {
		script, err := os.ReadFile(os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(acptest.Main(string(script)))
	}
	leak.Main(m)
}

// fixture is a host with tasks, in directories of its own.
type fixture struct {
	t    testing.TB
	dir  string
	host *host.Host
	sock *listen.Socket
	tcp  net.Listener
	http *http.Client
	log  *syncBuffer
	// limits are those of tasks that work at once; nil for none.
	limits  atomic.Pointer[queue.Limits]
	budgets atomic.Pointer[budget.Defaults]

	repositories home.Repositories // before the service is opened
	logins       []string          // of all agents; before the service is opened

	mu      sync.Mutex
	service *task.Service
	openErr error
	running chan error
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// start makes a fixture that ends with the test.
func start(t testing.TB) *fixture {
	t.Helper()
	dir, err := os.MkdirTemp("", "tandemux") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{t: t, dir: dir, log: &syncBuffer{}}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, d := range []string{"run", "state", "files"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.startKeeper()
	w.startHost()
	t.Cleanup(func() {
		w.stopHost()
		if t.Failed() {
			t.Logf("host's log:\n%s", w.log)
		}
	})
	return w
}

func (w *fixture) startKeeper() {
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	socket := filepath.Join(w.dir, "run", listen.KeeperName)
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), keeperEnv+"="+socket)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // it ends either way
		cmd.Wait()         //nolint:errcheck // killed
	})
	w.until("the keeper listens", func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func (w *fixture) startHost() {
	w.t.Helper()
	ctx := context.Background()
	k, err := keeper.Dial(ctx, filepath.Join(w.dir, "run", listen.KeeperName))
	if err != nil {
		w.t.Fatal(err)
	}
	if w.sock, err = listen.Unix(filepath.Join(w.dir, "run")); err != nil {
		w.t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(w.log, nil))
	a := &api.API{Open: w.open, State: filepath.Join(w.dir, "state"), Log: log}
	w.host, err = host.New(host.Config{
		Runtime: filepath.Join(w.dir, "run"), State: filepath.Join(w.dir, "state"), Start: host.Start{Shell: "/bin/sh"}, Version: "test", Keeper: k, Log: log,
		Roots: []string{w.dir},
		Doors: []front.Door{a.Door()},
		AgentConfig: host.AgentConfig{
			Workspace: func(dir string) (changes.Tree, error) {
				s, err := w.open()
				if err != nil {
					return nil, err
				}
				if c := s.Files.ChangesAt(dir); c != nil {
					return c, nil
				}
				return nil, nil
			},
			Agent: func(id string, _ []string) (agent.Provider, error) { return task.NewProvider(id, w.open), nil },
			Confine: func(id string) (agent.Confinement, error) {
				s, err := w.open()
				if err != nil {
					return nil, err
				}
				return s.Confine(id)
			},
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.tcp, err = listen.TCP("127.0.0.1:0", false); err != nil {
		w.t.Fatal(err)
	}
	w.running = make(chan error, 2)
	go func() { w.running <- w.host.Front().Serve(ctx, w.tcp, front.TCP) }()
	go func() { w.running <- w.host.Run(ctx, w.sock) }()
	w.http = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(w.dir, "run", listen.SocketName))
		},
	}}
}

func (w *fixture) open() (*task.Service, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.service != nil || w.openErr != nil {
		return w.service, w.openErr
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s, err := task.Open(context.Background(), task.Options{
		State: filepath.Join(w.dir, "state"), Runtime: filepath.Join(w.dir, "run"), Dial: w.host.Front().Service("tasks"), Version: "test", Program: self,
		Log: slog.New(slog.NewTextHandler(w.log, nil)), Repositories: func() home.Repositories { return w.repositories },
		Budgets: func() budget.Defaults {
			if d := w.budgets.Load(); d != nil {
				return *d
			}
			return nil
		},
		Home: filepath.Join(w.dir, "home"), Logins: func(string) []string { return w.logins },
		Limits: func() queue.Limits {
			if l := w.limits.Load(); l != nil {
				return *l
			}
			return nil
		},
	})
	if err == nil {
		w.service = s
	}
	return s, err
}

// stopHost ends the host in order; startHost begins another one.
func (w *fixture) stopHost() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.host.Shutdown(ctx); err != nil {
		w.t.Errorf("shutdown: %v", err)
	}
	<-w.running
	<-w.running
	w.mu.Lock()
	s := w.service
	w.service = nil
	w.mu.Unlock()
	if s != nil {
		s.Close()
	}
	w.http.CloseIdleConnections()
}

func (w *fixture) until(what string, ok func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; !ok(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("waiting until %s: nothing came", what)
		}
		time.Sleep(pause)
	}
}

// svc is the service, opened.
func (w *fixture) svc() *task.Service {
	w.t.Helper()
	s, err := w.open()
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// file writes a file of the fixture's and gives its path.
func (w *fixture) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, "files", name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// deploy makes an agent of a definition.
func (w *fixture) deploy(d registry.Definition) store.Deployed {
	w.t.Helper()
	got, err := w.svc().Agents.Deploy(context.Background(), access.TheOperator(), registry.Deploy{Definition: &d})
	if err != nil {
		w.t.Fatal(err)
	}
	if got.Version.Status != store.Ready {
		w.t.Fatalf("deploy %s: %s", d.Name, got.Version.Reason)
	}
	return got
}

// agent deploys an ACP agent that does what a script says.
func (w *fixture) agent(name, script string) store.Deployed {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	return w.deploy(registry.Definition{Name: name, Command: []string{self, "agent", w.file(name+".txt", script)}})
}

// raw sends a request with headers and gives the answer as it is.
func (w *fixture) raw(method, path string, body any, header http.Header) (int, []byte) {
	w.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			w.t.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, "http://localhost"+api.Prefix+path, in)
	if err != nil {
		w.t.Fatal(err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := w.http.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, text
}

// must sends a request that succeeds with a status, and decodes the answer.
func (w *fixture) must(want int, method, path string, body, into any) {
	w.t.Helper()
	status, text := w.raw(method, path, body, nil)
	if status != want {
		w.t.Fatalf("%s %s: %d, want %d: %s", method, path, status, want, text)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			w.t.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
}

// refused sends a request that is refused with a status and a sentence.
func (w *fixture) refused(want int, sentence, method, path string, body any) {
	w.t.Helper()
	status, text := w.raw(method, path, body, nil)
	var e api.Error
	if err := json.Unmarshal(text, &e); err != nil {
		w.t.Fatalf("%s %s: %d, not an error: %s", method, path, status, text)
	}
	if status != want || e.StatusCode != want || e.Code == "" || !strings.Contains(e.Message, sentence) {
		w.t.Errorf("%s %s: %d %+v, want %d with %q", method, path, status, e, want, sentence)
	}
}

// needSandbox skips a test of tasks that are shut in where none can be.
func needSandbox(t *testing.T) {
	t.Helper()
	if err := sandbox.Check(t.Context(), "").Err; err != nil {
		t.Skip(err)
	}
}

// create makes a task without a sandbox, unless the body says otherwise.
func (w *fixture) create(agent string, more map[string]any) store.Task {
	w.t.Helper()
	body := map[string]any{"agent_name": agent, "no_sandbox": true}
	for k, v := range more {
		if v == nil {
			delete(body, k)
		} else {
			body[k] = v
		}
	}
	var t store.Task
	w.must(http.StatusCreated, http.MethodPost, "/tasks", body, &t)
	return t
}

func (w *fixture) send(task, text string) store.Event {
	w.t.Helper()
	var e store.Event
	w.must(http.StatusCreated, http.MethodPost, "/tasks/"+task+"/events", map[string]any{"content": text}, &e)
	return e
}

func (w *fixture) get(task string) store.Task {
	w.t.Helper()
	var t store.Task
	w.must(http.StatusOK, http.MethodGet, "/tasks/"+task, nil, &t)
	return t
}

// becomes waits for a task's status.
func (w *fixture) becomes(task string, want store.TaskStatus) store.Task {
	w.t.Helper()
	var t store.Task
	w.until(fmt.Sprintf("the task is %s", want), func() bool { t = w.get(task); return t.Status == want })
	return t
}

// settles waits for an event's end.
func (w *fixture) settles(event string) store.Event {
	w.t.Helper()
	var e store.Event
	w.until("the event has ended", func() bool {
		w.must(http.StatusOK, http.MethodGet, "/events/"+event, nil, &e)
		return e.Status != store.EventPending && e.Status != store.EventRunning
	})
	return e
}

// said is the text of all messages of a task, but for what its events say.
func (w *fixture) said(task string) string {
	w.t.Helper()
	var page struct{ Data []store.Message }
	w.must(http.StatusOK, http.MethodGet, "/tasks/"+task+"/messages", nil, &page)
	var all []string
	for _, m := range page.Data {
		if m.Author == "user" && m.EventID != "" {
			continue
		}
		for _, p := range m.Content {
			all = append(all, p.Text+string(p.Data))
		}
	}
	return strings.Join(all, "|")
}

// frame is an event of a stream.
type frame struct {
	id   string
	part task.Part
	raw  string
}

// stream opens a task's stream, after an id; frames come until [DONE], whereupon the
// channel is closed. cut ends it.
func (w *fixture) stream(path, after string) (frames <-chan frame, cut func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+api.Prefix+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := w.http.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		w.t.Fatalf("%s: %d %s", path, resp.StatusCode, resp.Header)
	}
	out := make(chan frame)
	go func() {
		defer close(out)
		defer resp.Body.Close()
		in := bufio.NewScanner(resp.Body)
		in.Buffer(nil, 4<<20)
		var f frame
		for in.Scan() {
			name, value, _ := strings.Cut(in.Text(), ": ")
			switch name {
			case "id":
				f.id = value
			case "data":
				f.raw = value
				if value == "[DONE]" {
					return
				}
				json.Unmarshal([]byte(value), &f.part) //nolint:errcheck // the test sees it
				select {
				case out <- f:
				case <-ctx.Done():
					return
				}
				f = frame{}
			}
		}
		select {
		case out <- frame{raw: "CUT"}:
		case <-ctx.Done():
		}
	}()
	w.t.Cleanup(cancel)
	return out, cancel
}

// whole reads a stream to its [DONE].
func (w *fixture) whole(path, after string) []frame {
	w.t.Helper()
	frames, cut := w.stream(path, after)
	defer cut()
	var all []frame
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case f, ok := <-frames:
			if !ok {
				return all
			}
			if f.raw == "CUT" {
				w.t.Fatalf("%s: the stream ended without [DONE]", path)
			}
			all = append(all, f)
		case <-timer.C:
			w.t.Fatalf("%s: no [DONE] came", path)
		}
	}
}

func kinds(all []frame) string {
	var words []string
	for _, f := range all {
		words = append(words, f.part.Type)
	}
	return strings.Join(words, " ")
}
