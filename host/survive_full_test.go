package host_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cotty/ahp"
	"cotty/host"
	"cotty/host/keeper"
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

// TestFullJournal: a screen that no journal has room for costs nobody anything but
// a warning, which goes when it fits again; should the host die meanwhile, the
// program goes on and a line says that something is lost.
func TestFullJournal(t *testing.T) {
	if slow {
		t.Skip("megabytes of screen take minutes in this build; what it covers is no race")
	}
	t.Parallel()
	m := startMortal(t)
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
	m.types(c, uri, "paint\n")
	shows("done paint")
	m.until("the host warns", func() bool { return strings.Contains(warning(), uri) })
	m.types(c, uri, "more\n")
	shows("done more")
	if _, err := c.Dispatch(uri, ahp.TerminalResized{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	m.until("the warning goes", func() bool {
		m.types(c, uri, "x\n")
		return warning() == ""
	})
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
	if !strings.Contains(back.Text, "[cotty: ") {
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
	k, err := keeper.Dial(context.Background(), filepath.Join(w.dir, "run", host.KeeperName))
	if err != nil {
		t.Fatal(err)
	}
	next, err := host.New(host.Config{
		Runtime: filepath.Join(w.dir, "run"), State: filepath.Join(w.dir, "state"), Shell: "/bin/sh",
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
	<-w.host.Done()
	if err := <-w.running; err != nil {
		t.Errorf("run: %v", err)
	}
	w.running <- nil // for shutdown
	sock, err := host.Listen(filepath.Join(w.dir, "run"))
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
