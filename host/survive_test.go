package host_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host"
	"tandemux/host/agent"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

// roleEnv makes the test binary another program.
const roleEnv = "TANDEMUX_TEST_ROLE"

var roles = map[string]func(){"host": hostRole, "printer": printerRole}

// dirEnv is where a host process has its directories, roomEnv mortal.room.
const (
	dirEnv  = "TANDEMUX_TEST_DIR"
	roomEnv = "TANDEMUX_TEST_ROOM"
)

// hostRole is a host until SIGTERM.
func hostRole() {
	dir := os.Getenv(dirEnv)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fail := func(doing string, err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, doing, err)
			os.Exit(1)
		}
	}
	sock, err := listen.Unix(filepath.Join(dir, "run"))
	fail("listen", err)
	k, err := keeper.Dial(ctx, filepath.Join(dir, "run", listen.KeeperName))
	fail("keeper", err)
	log, err := os.OpenFile(filepath.Join(dir, "host.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	fail("log", err)
	room, _ := strconv.Atoi(os.Getenv(roomEnv))
	limits := host.Limits{}
	limits.JournalBytes = room
	h, err := host.New(host.Config{
		Limits: limits, AgentConfig: host.AgentConfig{Agents: []agent.Provider{newScripted("scripted")}},
		Runtime: filepath.Join(dir, "run"), State: filepath.Join(dir, "state"), Start: host.Start{Shell: "/bin/sh"}, Version: "test",
		Keeper: k, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	fail("new", err)
	fail("run", h.Run(ctx, sock))
}

// printerRole prints numbered lines in bursts until "end" is typed, then how many
// there were, and exits with the code that is its argument.
func printerRole() {
	if tio, err := termios(0); err == nil {
		setRaw(0, tio) //nolint:errcheck // then the test fails
	}
	code, _ := strconv.Atoi(os.Args[len(os.Args)-1])
	end := make(chan struct{})
	go func() {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() && in.Text() != "end" {
		}
		close(end)
	}()
	rnd := rand.New(rand.NewPCG(uint64(code), 1))
	out := bufio.NewWriterSize(os.Stdout, 1<<12)
	for n := 1; ; {
		for range 1 + rnd.IntN(40) {
			fmt.Fprintf(out, "n%d é%s\n", n, strings.Repeat("~", rnd.IntN(30)))
			n++
		}
		out.Flush()
		select {
		case <-end:
			fmt.Printf("bye %d\n", n-1)
			os.Exit(code)
		case <-time.After(time.Duration(rnd.IntN(60)) * time.Millisecond):
		}
	}
}

// mortal is a fixture whose host is a process of its own.
type mortal struct {
	*fixture
	cmd  *exec.Cmd
	room int             // of each half of a terminal's journal, in bytes; 0 for the usual
	took []time.Duration // from the start of a host until it answers
}

func startMortal(t testing.TB) *mortal {
	t.Helper()
	return startMortalWith(t, 0)
}

// startMortalWith is startMortal with journals of terminals that have room bytes.
func startMortalWith(t testing.TB, room int) *mortal {
	t.Helper()
	dir, err := os.MkdirTemp("", "tandemux")
	if err != nil {
		t.Fatal(err)
	}
	m := &mortal{room: room, fixture: &fixture{t: t, dir: dir, log: &syncBuffer{}, buffer: 1 << 16}}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, d := range []string{"run", "state"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.startKeeper()
	m.revive()
	t.Cleanup(func() {
		m.kill()
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(dir, "host.log"))
			t.Logf("hosts' log:\n%s", text)
		}
	})
	return m
}

func (m *mortal) socket() string { return filepath.Join(m.dir, "run", listen.SocketName) }

// revive starts a host and waits until it answers.
func (m *mortal) revive() {
	m.t.Helper()
	began := time.Now()
	m.cmd = exec.Command(os.Args[0], "-test.run=^$")
	m.cmd.Env = append(os.Environ(), roleEnv+"=host", dirEnv+"="+m.dir, roomEnv+"="+strconv.Itoa(m.room))
	m.cmd.Stderr = os.Stderr
	if err := m.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.until("the host answers", func() bool {
		p, err := m.try("probe", wsrpc.Target{URL: "unix://" + m.socket()})
		if err != nil {
			return false
		}
		defer p.hangUp()
		return p.call(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil) == nil
	})
	m.took = append(m.took, time.Since(began))
}

// kill ends the host as the kernel does.
func (m *mortal) kill() {
	if m.cmd != nil {
		m.cmd.Process.Kill()
		m.cmd.Wait()
		m.cmd = nil
	}
}

// follow connects a client of the package that all commands use.
func (m *mortal) client(id string) (*client.Client, *client.Mirror) {
	m.t.Helper()
	mirror := client.NewMirror(0)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.Connect(ctx, client.Options{
		ClientID: id, Sink: mirror, Reconnect: true,
		Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
			return wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + m.socket()})
		},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { c.Close() })
	return c, mirror
}

// call asks until there is a connection.
func (m *mortal) call(c *client.Client, method string, params, result any) {
	m.t.Helper()
	var err error
	m.until(method+" is answered", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		err = c.Call(ctx, method, params, result)
		return err == nil || ahp.FromRPC(err) != nil
	})
	if err != nil {
		m.t.Fatalf("%s: %v", method, err)
	}
}

func (m *mortal) printer(c *client.Client, uri ahp.URI, code int) {
	m.t.Helper()
	self, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	m.call(c, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: c.ClientID()},
		Meta: &ahp.CreateMeta{Command: []string{"env", roleEnv + "=printer", self, strconv.Itoa(code)}},
	}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Subscribe(ctx, uri); err != nil {
		m.t.Fatal(err)
	}
}

// numbers says what is wrong with the numbered lines of an output, "" when each is
// there once and in order.
func numbers(text string) string {
	return numbersFrom(1, text)
}

// numbersFrom is numbers for output whose beginning is not there any more.
func numbersFrom(next int, text string) string {
	last := -1
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(line[1:], " ")
		n, err := strconv.Atoi(strings.TrimSpace(word))
		switch {
		case strings.HasPrefix(line, "bye "):
			last, _ = strconv.Atoi(strings.TrimSpace(line[4:]))
		case !strings.HasPrefix(line, "n"):
			if strings.TrimSpace(line) != "" {
				return fmt.Sprintf("a line is %q", line)
			}
		case err != nil || n != next:
			return fmt.Sprintf("after %d comes %q", next-1, strings.TrimSpace(line))
		case !strings.Contains(line, " é"):
			return fmt.Sprintf("a line is damaged: %q", line)
		default:
			next++
		}
	}
	if next-1 != last {
		return fmt.Sprintf("there are %d of %d", next-1, last)
	}
	return ""
}

func text(s ahp.TerminalState) string {
	var b strings.Builder
	for _, p := range s.Content {
		b.WriteString(p.Text())
	}
	return b.String()
}

// TestKilledHost: a host is killed at random instants, over and over, while
// twenty programs print. Every line is there once and in order, in what the host
// has and in what a client that was there all the time has; claims, layouts,
// commands and exit codes are right, and typed input arrives.
func TestKilledHost(t *testing.T) {
	t.Parallel()
	terminals, rounds := soak.Size(t, 8, 20), soak.Size(t, 5, 100)
	m := startMortal(t)
	c, mirror := m.client("watcher")
	other, _ := m.client("other")
	uris := make([]ahp.URI, terminals)
	for i := range uris {
		uris[i] = fmt.Sprint("ahp-terminal:/p", i)
		m.printer([]*client.Client{c, other}[i%2], uris[i], i+1)
		if i%2 == 1 {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			if err := c.Subscribe(ctx, uris[i]); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
	}
	layout := ahp.LayoutScheme + "/main"
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Subscribe(ctx, layout); err != nil {
		t.Fatal(err)
	}
	rev := int64(0)
	rnd := rand.New(rand.NewPCG(7, 7))
	for range rounds {
		time.Sleep(time.Duration(rnd.IntN(120)) * time.Millisecond)
		rev++
		m.change(c, layout, rev, uris)
		time.Sleep(time.Duration(rnd.IntN(30)) * time.Millisecond)
		m.kill()
		m.revive()
		c.Retry()
		other.Retry()
	}
	for i, uri := range uris {
		owner := []*client.Client{c, other}[i%2]
		m.until("a line is typed", func() bool {
			_, err := owner.Dispatch(uri, ahp.TerminalInput{Data: "end\n"})
			return err == nil
		})
	}
	for i, uri := range uris {
		m.ends(mirror, uri)
		s, _ := mirror.Terminal(uri)
		if s.Lifecycle.ExitCode == nil || *s.Lifecycle.ExitCode != i+1 {
			t.Errorf("%s: it ended with %+v, not %d", uri, s.Lifecycle, i+1)
		}
		if want := []string{"watcher", "other"}[i%2]; s.Claim.ClientID != want {
			t.Errorf("%s: claimed by %+v, not %s", uri, s.Claim, want)
		}
		if wrong := numbers(text(s)); wrong != "" {
			t.Errorf("%s: the client has: %s", uri, wrong)
		}
	}
	_, fresh := m.client("fresh")
	late, _ := fresh.Root()
	if len(late.Terminals) != terminals {
		t.Errorf("%d terminals are listed", len(late.Terminals))
	}
	for i, uri := range uris {
		var r ahp.ReadResult
		m.call(c, ahp.MethodRead, ahp.ReadParams{Channel: uri, What: ahp.ReadHistory}, &r)
		from := 1
		if strings.Count(r.Text, "\n") > emulator.DefaultHistory {
			fmt.Sscanf(r.Text, "n%d", &from)
		}
		if wrong := numbersFrom(from, r.Text); wrong != "" {
			t.Errorf("%s: the host has: %s", uri, wrong)
		}
		var cmd ahp.CommandsResult
		m.call(c, ahp.MethodCommands, ahp.CommandsParams{Channel: uri}, &cmd)
		if len(cmd.Items) != 1 || cmd.Items[0].ExitCode == nil || *cmd.Items[0].ExitCode != i+1 {
			t.Errorf("%s: commands %+v", uri, cmd.Items)
		}
	}
	if l, _ := mirror.Layout(layout); l.Rev != rev {
		t.Errorf("the layout is at revision %d, not %d", l.Rev, rev)
	}
	m.leaveNothing(c)
	slices.Sort(m.took)
	s, _ := mirror.Terminal(uris[0])
	t.Logf("%d rounds, %d bytes of output in a terminal; a new host answers after %v (median), %v (longest)", rounds, len(text(s)), m.took[len(m.took)/2], m.took[len(m.took)-1])
}

// ends waits for a terminal's end.
func (m *mortal) ends(mirror *client.Mirror, uri ahp.URI) {
	m.t.Helper()
	deadline := time.After(patience)
	for {
		changed := mirror.Changed()
		s, _ := mirror.Terminal(uri)
		if s.Lifecycle.Exited() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			have := text(s)
			m.t.Fatalf("%s does not end; it ends with %q", uri, have[max(0, len(have)-300):])
		}
	}
}

// change writes the layout's next revision, across the host's deaths.
func (m *mortal) change(c *client.Client, uri ahp.URI, rev int64, uris []ahp.URI) {
	m.t.Helper()
	doc := fmt.Appendf(nil, `{"rev":%d}`, rev)
	m.until("the layout is written", func() bool {
		_, err := c.Dispatch(uri, ahp.LayoutChanged{Rev: rev, Doc: doc, Terminals: uris})
		return err == nil
	})
}

// leaveNothing stops the host and looks for what is left.
func (m *mortal) leaveNothing(c *client.Client) {
	m.t.Helper()
	var d ahp.HostResult
	m.call(c, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &d)
	if d.Warning != "" {
		m.t.Errorf("the host warns: %s", d.Warning)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Call(ctx, ahp.MethodStop, ahp.SubscribeParams{Channel: ahp.RootURI}, nil); err != nil {
		m.t.Fatal(err)
	}
	m.cmd.Wait()
	m.cmd = nil
	<-m.keeperDone
	entries, err := os.ReadDir(filepath.Join(m.dir, "run"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, e := range entries {
		if n := e.Name(); n != listen.LockName && n != "keeper.lock" {
			m.t.Errorf("%s is left", n)
		}
	}
}
