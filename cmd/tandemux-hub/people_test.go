package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/hub/audit"
	"tandemux/internal/hosts"
	"tandemux/internal/hosttest"
	"tandemux/internal/local"
	"tandemux/internal/soak"
)

// said is what commands print.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// run runs a command of `tandemux hub`.
func run(ctx context.Context, args ...string) (string, error) {
	var out said
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"hub"}, args...))
	err := root.ExecuteContext(ctx)
	return out.String(), err
}

// TestAudit: who did what, and who was refused, is on the hub's disk, in the order in which it was, and
// outlives the hub.
func TestAudit(t *testing.T) {
	soak.Long(t, "a hub is killed and started anew")
	home := t.TempDir()
	runtime, err := os.MkdirTemp("", "h") // sockets want short paths
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(runtime)
	for name, dir := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": home + "/config", "XDG_STATE_HOME": home + "/state", "XDG_RUNTIME_DIR": runtime} {
		t.Setenv(name, dir)
	}
	if err := os.Chmod(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(home, "config", "tandemux")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(freePorts(t, 1)[0])
	file := fmt.Sprintf("url = 'http://127.0.0.1:%s'\nissuer = 'http://127.0.0.1:1'\nclient-id = 'tandemux'\n", port)
	if err := os.WriteFile(filepath.Join(config, "people.toml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		started := make(chan struct{})
		var once sync.Once
		go func() {
			ended <- serve(ctx, local.FindDirs(), serveOptions{Listen: "127.0.0.1:" + port, NATS: "127.0.0.1:0", Replicas: 1}, func(string, ...any) { once.Do(func() { close(started) }) })
		}()
		select {
		case <-started:
		case err := <-ended:
			t.Fatal(err)
		}
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	stop := begin()
	before := time.Now()
	// The operator on the socket does something that is not there; a browser is not signed in.
	if _, err := run(t.Context(), "logout", "nobody"); err == nil {
		t.Errorf("no such session: %v", err)
	}
	d := local.FindDirs()
	socket, err := d.Socket(socketName)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	for range 3 {
		resp, err := client.Post("http://localhost/auth/logout", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	resp, err := http.Get("http://127.0.0.1:" + port + "/auth/callback?state=x")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	look := func() (records []audit.Record) {
		t.Helper()
		text, err := run(t.Context(), "audit", "--json", "--since", time.Since(before).Round(time.Second).String())
		if err != nil {
			t.Fatal(err, text)
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var r audit.Record
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			records = append(records, r)
		}
		return records
	}
	check := func() {
		t.Helper()
		records := look()
		var got []string
		for i, r := range records {
			got = append(got, fmt.Sprint(r.Who, " ", r.What, " ", r.Outcome, " ", r.Remote))
			if i > 0 && records[i-1].Seq >= r.Seq || r.Time.Before(before.Add(-time.Second)) {
				t.Errorf("%+v follows %+v", r, records[max(i-1, 0)])
			}
		}
		want := strings.Repeat("operator sign out done ,", 3) + " sign in refused 127.0.0.1"
		if strings.Join(got, ",") != want {
			t.Errorf("it has %q, want %q", got, want)
		}
	}
	check()
	if text, err := run(t.Context(), "audit"); err != nil || !strings.Contains(text, "done     operator  sign out") {
		t.Errorf("for people: %v\n%s", err, text)
	}
	if text, err := run(t.Context(), "whoami"); err != nil || !strings.Contains(text, "operator") {
		t.Errorf("who am I: %v %s", err, text)
	}
	stop()
	defer begin()()
	check()
}

// TestLogin: what is pasted becomes the hub's session if the hub knows it, and else what was
// there stays.
func TestLogin(t *testing.T) {
	home := t.TempDir()
	for name, dir := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": home + "/config", "XDG_STATE_HOME": home + "/state", "XDG_RUNTIME_DIR": home} {
		t.Setenv(name, dir)
	}
	people := true
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/auth/me" || !people:
			w.WriteHeader(http.StatusNotFound)
		case r.Header.Get("Authorization") != "Bearer tandemuxhub_good":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			io.WriteString(w, `{"name": "ann@example.org", "scopes": ["session"]}`)
		}
	}))
	defer hub.Close()
	at := strings.Replace(hub.URL, "http", "ws", 1)
	login := func(token string, args ...string) (string, error) {
		var out said
		root := newRoot()
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetIn(strings.NewReader(token))
		root.SetArgs(append([]string{"hub", "login"}, args...))
		err := root.ExecuteContext(t.Context())
		return out.String(), err
	}
	file := filepath.Join(home, "config", "tandemux", "hub-team.token")
	if _, err := login("tandemuxhub_bad", "team", at); err == nil {
		t.Error("a wrong token signs in")
	}
	if left, _ := filepath.Glob(file + "*"); left != nil {
		t.Errorf("a wrong token is kept: %q", left)
	}
	if _, err := login("tandemuxhub_good\n", "team", at); err != nil {
		t.Fatal(err)
	}
	if _, err := login("tandemuxhub_bad", "team"); err == nil {
		t.Error("a wrong token signs in again")
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "tandemuxhub_good\n" {
		t.Errorf("the session is %q, %v", text, err)
	}
	list, err := hosts.Read(local.FindDirs().Config)
	if len(list) != 1 || !list[0].Hub || list[0].URL != at || list[0].TokenFile != file {
		t.Errorf("the list is %+v, %v", list, err)
	}
	people = false
	if _, err := login("", "team"); !errors.Is(err, errNoSignIn) {
		t.Errorf("where nobody signs in: %v", err)
	}
}

// TestPersonAtHost: what is done on a host through the hub has in the host's own log who the
// hub knows them to be, beside the token that let them in.
func TestPersonAtHost(t *testing.T) {
	soak.Long(t, "a hub, a host and several people")
	t.Parallel()
	home, build := hosttest.New(t, ""), hosttest.New(t, "")
	_, addr := runHub(t, home)
	build.Tandemux("new", "--name", "shell", "--background", "--", "sh")
	start(t, build, home.Tandemux("hub", "invite", "build"), "join")
	home.Eventually("the host is listed", func() bool { return len(fleet(home)["build"].Terms) == 1 })
	keep := keeper(home)
	home.Tandemux("hosts", "add", "build", "ws://"+addr+"/hosts/build/ahp", "--token-file", keep("host", build.Token("fleet")))
	home.Tandemux("hosts", "add", "team", "ws://"+addr, "--token-file", keep("hub", home.Tandemux("hub", "token", "new", "ann")))
	home.Tandemux("claim", "build:shell")
	log, err := os.ReadFile(filepath.Join(build.Dir, ".local", "state", "tandemux", "audit.log"))
	home.Must(err)
	found := false
	for _, line := range strings.Split(string(log), "\n") {
		found = found || strings.Contains(line, `"claim"`) && strings.Contains(line, `"person":"token:ann"`) && strings.Contains(line, `"principal":"token:`)
	}
	if !found {
		t.Errorf("the host's log does not say who claimed:\n%s", log)
	}
	if out := home.Tandemux("hub", "audit"); !strings.Contains(out, "token:ann  connect build") {
		t.Errorf("the hub's audit does not say who connected:\n%s", out)
	}
	home.Eventually("the claim is in the hub's audit", func() bool {
		for _, line := range strings.Split(home.Tandemux("hub", "audit"), "\n") {
			if strings.Contains(line, "token:ann  claim ahp-terminal:/") && strings.HasSuffix(line, "  on build") {
				return true
			}
		}
		return false
	})
	// Lists name the person beside the token, to the host's owner and to others who have it.
	if out := build.Tandemux("ls"); !strings.Contains(out, "token:ann (fleet)") {
		t.Errorf("the host's owner is told %s", out)
	}
	if out := home.Tandemux("ls", "--host", "build"); !strings.Contains(out, "you") || strings.Contains(out, "ann") {
		t.Errorf("who claimed is told %s", out)
	}
	keep("hub", home.Tandemux("hub", "token", "new", "bob"))
	if out := home.Tandemux("ls", "--host", "build"); !strings.Contains(out, "token:ann (fleet)") {
		t.Errorf("who has the same token of the host is told %s", out)
	}
	home.Tandemux("claim", "build:shell")
	if out := build.Tandemux("ls"); !strings.Contains(out, "token:bob (fleet)") {
		t.Errorf("after another claim: %s", out)
	}
	// A token of the hub's that is none is refused, though the host's is good.
	home.Must(os.WriteFile(filepath.Join(home.Dir, "hub"), []byte("tandemuxhub_guessed\n"), 0o600))
	if out, err := home.Command("ls", "--host", "build").CombinedOutput(); err == nil {
		t.Errorf("with a wrong token of the hub: %s", out)
	}
}
