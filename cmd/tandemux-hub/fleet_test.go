package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandemux/hub/directory"
	"tandemux/internal/acptest"
	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "agent" {
		script, err := os.ReadFile(os.Args[2])
		if err != nil {
			panic(err)
		}
		os.Exit(acptest.Main(string(script)))
	}
	os.Exit(hosttest.Main(m, "tandemux-hub"))
}

// process is one that a test started, with what it said.
type process struct {
	*exec.Cmd
	mu   sync.Mutex
	said strings.Builder
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// start runs a command of tandemux until the test's end.
func start(t *testing.T, m *hosttest.Machine, stdin string, args ...string) *process {
	t.Helper()
	return startCommand(t, m.Command(args...), stdin)
}

// startCommand is start for a command that is there.
func startCommand(t *testing.T, cmd *exec.Cmd, stdin string) *process {
	t.Helper()
	p := output(t, cmd, stdin)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// output is a process to be started, whose output is kept until the test's end, which ends it.
func output(t *testing.T, cmd *exec.Cmd, stdin string) *process {
	t.Helper()
	p := &process{Cmd: cmd}
	if stdin != "" {
		p.Stdin = strings.NewReader(stdin)
	}
	r, w := io.Pipe()
	p.Stdout, p.Stderr = w, w
	go func() {
		for in := bufio.NewScanner(r); in.Scan(); {
			p.mu.Lock()
			p.said.WriteString(in.Text() + "\n")
			p.mu.Unlock()
		}
	}()
	var once sync.Once
	end := func() {
		once.Do(func() {
			if p.Process != nil {
				p.Process.Kill() //nolint:errcheck // it has ended, then
				p.Wait()         //nolint:errcheck // it was killed
			}
			w.Close()
		})
	}
	t.Cleanup(func() {
		end()
		if t.Failed() {
			t.Logf("%s said:\n%s", strings.Join(cmd.Args[1:], " "), p.text())
		}
	})
	return p
}

// runHub starts a hub and gives host:port of its front.
func runHub(t *testing.T, m *hosttest.Machine, args ...string) (p *process, addr string) {
	t.Helper()
	p = start(t, m, "", append([]string{"hub", "serve", "--listen", "127.0.0.1:0", "--nats", "127.0.0.1:0"}, args...)...)
	m.Eventually("the hub says where it listens", func() bool { return strings.Contains(p.text(), "hosts join at") })
	_, rest, _ := strings.Cut(p.text(), "ws://")
	return p, strings.TrimRight(strings.Fields(rest)[0], "/,.;")
}

// TestSecondHub: a hub that is started beside one of the same user opens nothing that is that
// one's; when it was killed, commands say that none runs.
func TestSecondHub(t *testing.T) {
	t.Parallel()
	m := hosttest.New(t, "")
	hub, _ := runHub(t, m)
	_, rest, _ := strings.Cut(hub.text(), "nats://")
	out, err := m.Command("hub", "serve", "--listen", "127.0.0.1:0", "--nats", strings.Fields(rest)[0]).CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "tandemux: a hub of this user is running already: ") {
		t.Errorf("%v: %s", err, out)
	}
	m.Must(hub.Process.Kill())
	m.Eventually("the hub is killed", func() bool {
		out, err := m.Command("hub", "ls").CombinedOutput()
		return err != nil && strings.HasPrefix(string(out), "tandemux: no hub of yours runs on this machine")
	})
	runHub(t, m)
}

// fleet is what the hub lists.
func fleet(m *hosttest.Machine) map[string]directory.Entry {
	m.Helper()
	var all []directory.Entry
	text := m.Tandemux("hub", "ls", "--json")
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		m.Fatalf("%v: %s", err, text)
	}
	by := map[string]directory.Entry{}
	for _, e := range all {
		by[e.Name] = e
	}
	return by
}

// tokenFile keeps a token of a host where --token-file reads it.
func tokenFile(m *hosttest.Machine, token string) string {
	path := filepath.Join(m.Dir, "token-of-host")
	m.Must(os.WriteFile(path, []byte(token+"\n"), 0o600))
	return path
}

// pidOf is a machine's host's.
func pidOf(t *testing.T, m *hosttest.Machine) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.Dir, "r", "tandemux", "host.json"))
	var r struct{ Pid int }
	if err != nil || json.Unmarshal(text, &r) != nil {
		t.Fatalf("who is the host? %v", err)
	}
	return r.Pid
}

// TestFleet: a host joins by a credential, is listed with what runs there, and its
// terminals are reached through the hub with its own token, by the commands that are there
// for any host; a wrong token is refused by the host. One that is killed or
// revoked is away. kill -9 of the hub ends no terminal, and the
// host joins the next one by itself.
func TestFleet(t *testing.T) {
	t.Parallel()
	home, build := hosttest.New(t, ""), hosttest.New(t, "")
	hub, addr := runHub(t, home)
	build.Tandemux("new", "--name", "shell", "--background", "--", "sh")
	start(t, build, home.Tandemux("hub", "invite", "build", "--label", "gpu"), "join")
	home.Eventually("the host is listed", func() bool { return len(fleet(home)["build"].Terms) == 1 })
	e := fleet(home)["build"]
	if !e.Present || e.Terms[0].Title != "shell" || len(e.Labels) != 1 || e.Labels[0] != "gpu" || e.CPUs < 1 {
		t.Errorf("the host is listed as %+v", e)
	}

	token := tokenFile(home, build.Token("fleet"))
	home.Tandemux("hosts", "add", "build", "ws://"+addr+"/hosts/build/ahp", "--token-file", token)
	if out := home.Tandemux("run", "--host", "build", "--", "echo", "carried"); strings.TrimSpace(out) != "carried" {
		t.Errorf("a command through the hub says %q", out)
	}
	if out := home.Tandemux("read", "build:shell", "--history"); strings.Contains(out, "no terminal") {
		t.Errorf("its terminal is %q", out)
	}
	// A long answer has many parts.
	out := home.Tandemux("run", "--host", "build", "--", "sh", "-c", "seq 1 200000 | tail -n 100000")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); lines[len(lines)-1] != "200000" {
		t.Errorf("100,000 lines through the hub end with %q", lines[len(lines)-1])
	}
	// What runs in a terminal sees no credential.
	if out := build.Tandemux("run", "--", "env"); strings.Contains(out, "NATS") || strings.Contains(out, "tandemux_") {
		t.Errorf("a terminal's environment is %s", out)
	}
	wrong := filepath.Join(home.Dir, "wrong")
	home.Must(os.WriteFile(wrong, []byte("tandemux_wrong"), 0o600))
	if out, err := home.Command("ls", "--host", "ws://"+addr+"/hosts/build/ahp", "--token-file", wrong).CombinedOutput(); err == nil || !strings.Contains(string(out), "token") {
		t.Errorf("a wrong token: %v, %s", err, out)
	}
	if out, err := home.Command("ls", "--host", "ws://"+addr+"/hosts/other/ahp", "--token-file", token).CombinedOutput(); err == nil || !strings.Contains(string(out), "no host of this name") {
		t.Errorf("a host that is not there: %v, %s", err, out)
	}
	if out, err := home.Command("hub", "drain", "buidl").CombinedOutput(); err == nil || !strings.Contains(string(out), `no host of the fleet is called "buidl"`) {
		t.Errorf("drain a host that is not there: %v, %s", err, out)
	}
	if out, err := home.Command("help", "hub", "ls").CombinedOutput(); err != nil || !strings.Contains(string(out), "tandemux hub ls") {
		t.Errorf("help hub ls: %v, %s", err, out)
	}
	if out, err := home.Command("hub", "limits").CombinedOutput(); err != nil || !strings.Contains(string(out), "no limit is set") {
		t.Errorf("limits, where there are none: %v, %s", err, out)
	}
	if out, err := home.Command("hub", "whoami").CombinedOutput(); err == nil || !strings.Contains(string(out), "nobody signs in at this hub") {
		t.Errorf("whoami without a provider: %v, %s", err, out)
	}

	// The host dies: it is away, and comes back.
	first := pidOf(t, build)
	build.Must(syscall.Kill(first, syscall.SIGKILL))
	home.Eventually("the host was brought back and is here again", func() bool {
		e := fleet(home)["build"]
		return e.Present && len(e.Terms) > 0 && pidOf(t, build) != first
	})

	// The hub dies: nothing there notices.
	before := build.Tandemux("ls", "--json")
	hub.Process.Kill() //nolint:errcheck // it runs
	hub.Wait()         //nolint:errcheck // it was killed
	if after := build.Tandemux("ls", "--json"); after != before {
		t.Errorf("the hub died, and the terminals are\n%s instead of\n%s", after, before)
	}
	if out := build.Tandemux("run", "--", "echo", "alone"); strings.TrimSpace(out) != "alone" {
		t.Errorf("without a hub a command says %q", out)
	}
}

// TestKilled: the join process is killed with -9 and the host is away, and where it ends; how
// soon, hub/directory tests. A revoked one is cut off, and told so.
func TestKilled(t *testing.T) {
	t.Parallel()
	soak.Long(t, "a join that is killed, ended and revoked")
	home, build := hosttest.New(t, ""), hosttest.New(t, "")
	runHub(t, home)
	credential := home.Tandemux("hub", "invite", "build")
	away := func(what string) {
		t.Helper()
		since := time.Now()
		home.Eventually(what, func() bool { return !fleet(home)["build"].Present })
		t.Logf("%s: away after %v", what, time.Since(since).Round(10*time.Millisecond))
	}
	joined := start(t, build, credential, "join")
	home.Eventually("the host is here", func() bool { return fleet(home)["build"].Present })
	joined.Process.Kill() //nolint:errcheck // it runs
	away("killed")

	joined = start(t, build, credential, "join")
	home.Eventually("the host is here", func() bool { return fleet(home)["build"].Present })
	joined.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it runs
	away("ended")

	joined = start(t, build, credential, "join")
	home.Eventually("the host is here", func() bool { return fleet(home)["build"].Present })
	home.Tandemux("hub", "revoke", "build")
	if _, is := fleet(home)["build"]; is {
		t.Error("a revoked host is listed")
	}
	home.Eventually("the host is told", func() bool { return strings.Contains(joined.text(), "the hub refuses the credential") })
}
