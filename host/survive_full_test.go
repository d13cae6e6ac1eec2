package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

func init() { roles["painter"] = painterRole }

// painterRole fills a screen of 330 by 330 with cells that each have colours of
// their own, which is more than a journal has room for, and then echoes lines.
func painterRole() {
	if tio, err := termios(0); err == nil {
		setRaw(0, tio) //nolint:errcheck // then the test fails
	}
	in := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	for in.Scan() {
		if in.Text() == "paint" {
			fmt.Fprint(out, "\x1b[H")
			for y := range 329 {
				for x := range 329 {
					fmt.Fprintf(out, "\x1b[38;2;%d;%d;%dm\x1b[48;2;%d;%d;%dm#", x%256, y%256, (x+y)%256, y%256, x%256, (x*y)%256)
				}
				fmt.Fprint(out, "\x1b[m\r\n")
			}
		}
		fmt.Fprintf(out, "done %s\r\n", in.Text())
		out.Flush()
	}
}

// warned is a Sink that keeps the host's warning, as it is pushed.
type warned struct {
	*client.Mirror
	mu   sync.Mutex
	text string
}

func (w *warned) Snapshot(s ahp.Snapshot) {
	var state ahp.ActivityState
	if s.Resource != ahp.ActivityURI {
		w.Mirror.Snapshot(s)
	} else if json.Unmarshal(s.State, &state) == nil {
		w.Action(ahp.Envelope{Channel: s.Resource, Action: ahp.HostWarned{Warning: state.Warning}})
	}
}

func (w *warned) Action(e ahp.Envelope) {
	if a, ok := e.Action.(ahp.HostWarned); ok {
		w.mu.Lock()
		w.text = a.Warning
		w.mu.Unlock()
	}
}

func (w *warned) says(what string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(w.text, what) && (what != "" || w.text == "")
}

// watchWarnings connects a client that is told of them.
func (m *mortal) watchWarnings(id string) *warned {
	m.t.Helper()
	w := &warned{Mirror: client.NewMirror(0)}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.Connect(ctx, client.Options{
		ClientID: id, Sink: w, Reconnect: true, MaxPause: 50 * time.Millisecond,
		Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
			return wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + m.socket()})
		},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { c.Close() })
	if err := c.Subscribe(ctx, ahp.ActivityURI); err != nil {
		m.t.Fatal(err)
	}
	return w
}

// TestFullJournal: a screen that no journal has room for costs nobody anything but
// a warning, which goes when it fits again; should the host die meanwhile, the
// program goes on and a line says that something is lost.
func TestFullJournal(t *testing.T) {
	if slow {
		t.Skip("megabytes of screen take minutes in this build; what it covers is no race")
	}
	t.Parallel()
	soak.Long(t, "megabytes of screen")
	m := startMortalWith(t, 2<<20)
	c, _ := m.client("owner")
	const uri = "ahp-terminal:/wide"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m.call(c, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "owner"}, Cols: 330, Rows: 330,
		Meta: &ahp.CreateMeta{Command: []string{"env", roleEnv + "=painter", self}},
	}, nil)
	shows := func(pattern string) {
		t.Helper()
		var r ahp.WaitResult
		m.call(c, ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: pattern, Past: true, TimeoutMs: patience.Milliseconds()}, &r)
		if r.Reason != ahp.WaitMet {
			t.Fatalf("waiting for %q: %+v", pattern, r)
		}
	}
	warning := func() string {
		var r ahp.HostResult
		m.call(c, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &r)
		return r.Warning
	}
	w := m.watchWarnings("watcher")
	m.types(c, uri, "paint\n")
	shows("done paint")
	m.until("the host warns", func() bool { return strings.Contains(warning(), uri) })
	m.until("the warning is pushed", func() bool { return w.says(uri) })
	m.types(c, uri, "more\n")
	shows("done more")
	if _, err := c.Dispatch(uri, ahp.TerminalResized{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	m.until("the warning goes", func() bool {
		m.types(c, uri, "x\n")
		return warning() == ""
	})
	m.until("its end is pushed", func() bool { return w.says("") })
	if _, err := c.Dispatch(uri, ahp.TerminalResized{Cols: 330, Rows: 330}); err != nil {
		t.Fatal(err)
	}
	m.types(c, uri, "paint\nagain\n")
	shows("done again")
	m.until("the host warns", func() bool { return strings.Contains(warning(), uri) })
	m.kill()
	m.revive()
	c.Retry()
	var back ahp.ReadResult
	m.call(c, ahp.MethodRead, ahp.ReadParams{Channel: uri, What: ahp.ReadHistory}, &back)
	if !strings.Contains(back.Text, "[tandemux: ") {
		t.Error("nothing says that something is lost")
	}
	m.types(c, uri, "after\n")
	shows("done after")
	if _, err := c.Dispatch(uri, ahp.TerminalResized{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	m.until("the warning goes", func() bool {
		m.types(c, uri, "x\n")
		return warning() == ""
	})
	m.until("its end is pushed by the next host", func() bool { return w.says("") })
	m.leaveNothing(c)
}

// TestSuperseded: a host that lives while another one takes over tells its clients
// to come back and ends; the terminals go on with the other one.
func TestSuperseded(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("p")
	p.initialize()
	const uri = "ahp-terminal:/1"
	p.create(uri, "sh", "-c", `echo before; while read x; do echo "got $x"; done`)
	p.output(uri, "before")
	k, err := keeper.Dial(context.Background(), filepath.Join(w.dir, "run", listen.KeeperName))
	if err != nil {
		t.Fatal(err)
	}
	next, err := host.New(host.Config{
		Runtime: filepath.Join(w.dir, "run"), State: filepath.Join(w.dir, "state"), Start: host.Start{Shell: "/bin/sh"},
		Version: "test", Keeper: k, Log: slog.New(slog.NewTextHandler(w.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, _, err := p.next(); err != nil {
			if !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "taken over") {
				t.Errorf("the connection ended with %v", err)
			}
			break
		}
	}
	<-host.Done(w.host)
	if err := <-w.running; err != nil {
		t.Errorf("run: %v", err)
	}
	w.running <- nil // for shutdown
	sock, err := listen.Unix(filepath.Join(w.dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	w.host, w.sock = next, sock
	go func() { w.running <- next.Run(context.Background(), sock) }()
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		next.Shutdown(ctx) //nolint:errcheck // the test's end
	}()
	q := w.connect("p")
	var r ahp.ReconnectResult
	q.must(ahp.MethodReconnect, ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: "p", LastSeenServerSeq: max(p.seq, p.from[uri]), Subscriptions: []ahp.URI{uri}}, &r)
	if r.Type != ahp.ReconnectReplay || len(r.Missing) > 0 {
		t.Errorf("%+v", r)
	}
	q.dispatch(uri, 1, ahp.TerminalInput{Data: "x\n"})
	q.output(uri, "got x")
}
