package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/keeper"
	"tandemux/host/listen"
)

func alive(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return syscall.Kill(pid, 0) == nil && !strings.Contains(string(stat), ") Z ") // nobody reaps it where there is no init
}

// tree starts a shell that starts a child of its own, and gives both pids.
func (p *peer) tree(uri ahp.URI) (shell, child int) {
	p.t.Helper()
	p.create(uri, "sh", "-c", `sleep 1000 & echo "pids $$ $! ok"; wait`)
	p.output(uri, " ok")
	if _, err := fmt.Sscanf(p.out[uri].String(), "pids %d %d", &shell, &child); err != nil {
		p.t.Fatalf("%q: %v", p.out[uri], err)
	}
	return shell, child
}

// TestStop: the reply comes first, then all processes, the keeper and the host
// end, and the socket is gone.
func TestStop(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("p")
	p.initialize()
	shell, child := p.tree("ahp-terminal:/1")
	var d ahp.HostResult
	p.must(ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &d)
	if d.Pid != os.Getpid() || !alive(d.KeeperPid) || d.Terminals != 1 || d.Clients != 1 || len(d.Listen) != 1 || d.Version != "test" {
		t.Errorf("host %+v", d)
	}
	p.must(ahp.MethodStop, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
	for {
		if _, _, err := p.next(); err != nil {
			if !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "stopped") {
				t.Errorf("the connection ended with %v", err)
			}
			break
		}
	}
	<-host.Done(w.host)
	<-w.keeperDone
	w.until("the processes have ended", func() bool { return !alive(shell) && !alive(child) })
	w.until("the socket is gone", func() bool {
		_, err := os.Lstat(w.sock.Path())
		return os.IsNotExist(err)
	})
	w.until("a new host can listen", func() bool {
		s, err := listen.Unix(w.dir + "/run")
		if err == nil {
			s.Close()
		}
		return err == nil
	})
}

// TestDispose: the process tree is killed, also one that ignores what can be
// ignored.
func TestDispose(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("p")
	p.initialize()
	shell, child := p.tree("ahp-terminal:/1")
	p.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: "ahp-terminal:/1"}, nil)
	p.create("ahp-terminal:/1", "sh", "-c", `trap '' HUP TERM; echo "pid $$ ok"; while :; do sleep 1; done`)
	p.output("ahp-terminal:/1", " ok")
	var stubborn int
	text := p.out["ahp-terminal:/1"].String()
	if _, err := fmt.Sscanf(text[strings.Index(text, "pid "):], "pid %d", &stubborn); err != nil {
		t.Fatal(text, err)
	}
	p.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: "ahp-terminal:/1"}, nil)
	w.until("all processes have ended", func() bool { return !alive(shell) && !alive(child) && !alive(stubborn) })
}

// TestKeeperDies: programs run on, and who looks at them is told that nobody keeps
// them; how they end is not known. A new keeper starts for what is new, and has what
// the next host must know.
func TestKeeperDies(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) {
		w := c.Runtime
		c.NewKeeper = func(ctx context.Context) (*keeper.Client, error) {
			return newKeeper(t, ctx, filepath.Join(w, listen.KeeperName))
		}
	})
	p := w.connect("p")
	p.initialize(ahp.RootURI)
	p.create("ahp-terminal:/1", "cat")
	shell, _ := p.tree("ahp-terminal:/2")
	var d ahp.HostResult
	describe := func() ahp.HostResult {
		d = ahp.HostResult{}
		p.must(ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &d)
		return d
	}
	first := describe().KeeperPid
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.envelope("the list", func(e ahp.Envelope) bool {
		a, ok := e.Action.(ahp.RootTerminalsChanged)
		return ok && a.Terminals[0].Meta.Orphaned && !a.Terminals[0].Lifecycle.Exited()
	})
	if describe(); d.KeeperPid == first || !strings.Contains(d.Warning, "the keeper is gone") || !strings.Contains(d.Warning, fmt.Sprint(shell)) {
		t.Errorf("the host says %+v", d)
	}
	p.dispatch("ahp-terminal:/1", 1, ahp.TerminalInput{Data: "lives\n"})
	p.output("ahp-terminal:/1", "lives\r\nlives")

	p.create("ahp-terminal:/3", "cat")
	// Its end is seen, but not how.
	id := p.await(ahp.WaitParams{Channel: "ahp-terminal:/1", Until: ahp.WaitExit})
	p.dispatch("ahp-terminal:/1", 2, ahp.TerminalInput{Data: "\x04"})
	if r := p.answer(id); r.Reason != ahp.WaitMet || r.ExitCode != nil {
		t.Errorf("a wait for the end: %+v", r)
	}
	// One can be ended.
	p.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: "ahp-terminal:/2"}, nil)
	// Whoever inherits it may leave it a zombie.
	w.until("the shell has ended", func() bool { return keeper.Identify(shell) == keeper.Identity{} })
	w.until("all is well", func() bool { return describe().Warning == "" })

	// The next host finds what is new.
	w.shutdown()
	w.startHost()
	p = w.connect("p")
	root := p.initialize(ahp.RootURI)
	var state ahp.RootState
	if err := json.Unmarshal(root.Snapshots[0].State, &state); err != nil {
		t.Fatal(err)
	}
	if len(state.Terminals) != 1 || state.Terminals[0].Resource != "ahp-terminal:/3" {
		t.Errorf("the next host has %+v", state.Terminals)
	}
	p.must(ahp.MethodStop, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
	<-host.Done(w.host)
}

// newKeeper starts a keeper that ends with the test.
func newKeeper(t *testing.T, ctx context.Context, socket string) (*keeper.Client, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), keeperEnv+"="+socket)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for {
		k, err := keeper.Dial(ctx, socket)
		if err == nil || ctx.Err() != nil {
			return k, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestRestart: a new host with the same state goes on counting upwards, has the
// terminals and clients of the old one, and keeps the tokens.
func TestRestart(t *testing.T) {
	t.Parallel()
	w := start(t)
	token := w.token()
	p := w.connect("p")
	r := p.initialize(ahp.RootURI)
	shell, _ := p.tree("ahp-terminal:/1")
	p.dispatch("ahp-terminal:/1", 1, ahp.TerminalTitleChanged{Title: "x"})
	last := p.echo(1).ServerSeq
	if last <= r.ServerSeq {
		t.Errorf("%d after %d", last, r.ServerSeq)
	}
	w.shutdown()
	w.startHost()
	q := w.connect("p")
	var back ahp.ReconnectResult
	q.must(ahp.MethodReconnect, ahp.ReconnectParams{
		Channel: ahp.RootURI, ClientID: "p", LastSeenServerSeq: last, Subscriptions: []ahp.URI{ahp.RootURI, "ahp-terminal:/1"},
	}, &back)
	if back.Type != ahp.ReconnectReplay || len(back.Missing) > 0 {
		t.Errorf("reconnect to a new host: %+v", back)
	}
	n := w.connect("new")
	if r := n.initialize(ahp.RootURI); r.ServerSeq <= last {
		t.Errorf("the new host is at %d, the old one was at %d", r.ServerSeq, last)
	}
	w.connectTCP("t", token.Token).initialize()
	if !alive(shell) {
		t.Error("the shell is gone")
	}
	q.must(ahp.MethodStop, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
	<-host.Done(w.host)
	w.until("the old shell has ended", func() bool { return !alive(shell) })
}

// TestManyAtOnce: clients that all want the same URI, and many others, at the
// same time: one gets each, and all end.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	const clients, each = 4, 8
	won := make(chan ahp.URI, clients*each)
	done := make(chan struct{})
	for i := range clients {
		p := w.connect("p" + strconv.Itoa(i))
		p.initialize()
		go func() {
			defer func() { done <- struct{}{} }()
			for n := range each {
				uri := "ahp-terminal:/" + strconv.Itoa(n)
				err := p.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
					Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: p.name},
					Meta: &ahp.CreateMeta{Command: []string{"true"}},
				}, nil)
				switch ahp.CodeOf(err) {
				case ahp.CodeAlreadyExists:
				case 0:
					won <- uri
				default:
					t.Errorf("%s: %v", uri, err)
				}
			}
		}()
	}
	for range clients {
		<-done
	}
	close(won)
	got := map[ahp.URI]int{}
	for uri := range won {
		got[uri]++
	}
	if len(got) != each {
		t.Errorf("%d URIs were taken", len(got))
	}
	for uri, n := range got {
		if n != 1 {
			t.Errorf("%s was given %d times", uri, n)
		}
	}
	// Each has ended by itself, however early that was.
	watcher := w.connect("watcher")
	watcher.initialize()
	for uri := range got {
		if s := watcher.subscribe(uri); !strings.Contains(string(s.State), `"exited"`) {
			watcher.envelope("the end of "+uri, func(e ahp.Envelope) bool {
				_, ok := e.Action.(ahp.TerminalExited)
				return ok && e.Channel == uri
			})
		}
	}
}
