package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/front"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/host/sandbox"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/leak"
	"tandemux/internal/wsrpc"
)

// keeperEnv makes the test binary a keeper that listens on the named socket.
const keeperEnv = "TANDEMUX_TEST_KEEPER"

// patience bounds every wait; it is long because machines that run tests are
// slow, and never spent when all is well.
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
	if role := os.Getenv(roleEnv); role != "" {
		roles[role]()
		return
	}
	leak.InMemory(m)
}

// fixture is a host with a keeper process of its own, in its own directory.
type fixture struct {
	t     testing.TB
	dir   string
	host  *host.Host
	sock  *listen.Socket
	tcp   net.Listener
	admin *peer // for making tokens
	// buffer is how many messages a peer takes from its socket ahead of the
	// test.
	buffer int
	log    *syncBuffer

	keeperDone chan struct{}
	keeperPid  int
	running    chan error // Run's result
	shut       *sync.Once
}

// start makes a fixture that ends with the test.
func start(t testing.TB, change ...func(*host.Config)) *fixture {
	t.Helper()
	// A socket's path is short, a test's temporary directory may not be.
	dir, err := os.MkdirTemp("", "tandemux")
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{t: t, dir: dir, log: &syncBuffer{}, buffer: 1 << 16}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, d := range []string{"run", "state", "home"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.startKeeper()
	w.startHost(change...)
	return w
}

func (w *fixture) startKeeper() {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	socket := filepath.Join(w.dir, "run", listen.KeeperName)
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), keeperEnv+"="+socket)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.keeperPid = cmd.Process.Pid
	w.keeperDone = make(chan struct{})
	go func() {
		defer close(w.keeperDone)
		cmd.Wait()
	}()
	w.t.Cleanup(func() {
		select {
		case <-w.keeperDone:
		default:
			cmd.Process.Kill()
			<-w.keeperDone
		}
	})
	w.until("the keeper listens", func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func (w *fixture) startHost(change ...func(*host.Config)) {
	w.t.Helper()
	ctx := context.Background()
	k, err := keeper.Dial(ctx, filepath.Join(w.dir, "run", listen.KeeperName))
	if err != nil {
		w.t.Fatal(err)
	}
	sock, err := listen.Unix(filepath.Join(w.dir, "run"))
	if err != nil {
		w.t.Fatal(err)
	}
	c := host.Config{
		Runtime: filepath.Join(w.dir, "run"), State: filepath.Join(w.dir, "state"), Start: host.Start{Shell: "/bin/sh"},
		Version: "test", Keeper: k, Log: slog.New(slog.NewTextHandler(w.log, nil)),
	}
	for _, f := range change {
		f(&c)
	}
	h, err := host.New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	tcp, err := listen.TCP("127.0.0.1:0", false)
	if err != nil {
		w.t.Fatal(err)
	}
	w.host, w.sock, w.tcp, w.admin = h, sock, tcp, nil
	w.shut = &sync.Once{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Front().Serve(ctx, tcp, front.TCP)
	}()
	w.running = make(chan error, 1)
	go func(running chan<- error) { running <- h.Run(ctx, sock) }(w.running)
	w.t.Cleanup(func() {
		w.shutdown()
		<-ended
		if w.t.Failed() {
			w.t.Logf("host's log:\n%s", w.log)
		}
	})
}

// shutdown ends the host, not the keeper.
func (w *fixture) shutdown() {
	w.shut.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := w.host.Shutdown(ctx); err != nil {
			w.t.Errorf("shutdown: %v", err)
		}
		if err := <-w.running; err != nil {
			w.t.Errorf("host ended: %v", err)
		}
	})
}

// until waits for a state that comes from outside the host's protocol.
func (w *fixture) until(what string, ok func() bool) {
	w.t.Helper()
	until(w.t, what, ok)
}

func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; !ok(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("gave up waiting until %s", what)
		}
		time.Sleep(pause)
	}
}

// token makes an access token with the given scopes; none means all.
func (w *fixture) token(scopes ...string) ahp.TokenNewResult {
	w.t.Helper()
	if w.admin == nil {
		w.admin = w.connect("admin")
		w.admin.initialize()
	}
	var r ahp.TokenNewResult
	w.admin.must(ahp.MethodTokenNew, ahp.TokenNewParams{Channel: ahp.RootURI, Name: "test", Scopes: scopes}, &r)
	return r
}

// peer is a client of raw messages.
type peer struct {
	t    testing.TB
	name string
	tr   jsonrpc.Transport

	in     chan json.RawMessage          // closed at the end
	gate   atomic.Pointer[chan struct{}] // not nil while stalled: nothing is read
	err    error                         // why it ended, valid after in is closed
	lastID int
	seq    int64 // last serverSeq seen
	out    map[ahp.URI]*strings.Builder
	from   map[ahp.URI]int64  // fromSeq of each channel's latest snapshot
	seen   func(ahp.Envelope) // takes each action, if it isn't nil: call and envelope skip what they don't want
	w      *fixture
	speech speech
}

func (w *fixture) connect(name string) *peer {
	w.t.Helper()
	return w.dial(name, wsrpc.Target{URL: "unix://" + w.sock.Path()})
}

func (w *fixture) connectTCP(name, token string) *peer {
	w.t.Helper()
	return w.dial(name, wsrpc.Target{URL: "ws://" + w.tcp.Addr().String() + "/ahp", Token: token})
}

func (w *fixture) dial(name string, target wsrpc.Target) *peer {
	w.t.Helper()
	p, err := w.try(name, target)
	if err != nil {
		w.t.Fatalf("dial: %v", err)
	}
	return p
}

func (w *fixture) try(name string, target wsrpc.Target) (*peer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tr, err := wsrpc.Dial(ctx, target)
	if err != nil {
		return nil, err
	}
	return w.peer(name, tr), nil
}

// peer makes a client of a connection.
func (w *fixture) peer(name string, tr jsonrpc.Transport) *peer {
	p := &peer{w: w, t: w.t, name: name, tr: tr, in: make(chan json.RawMessage, w.buffer), out: map[ahp.URI]*strings.Builder{}, from: map[ahp.URI]int64{}}
	go func() {
		defer close(p.in)
		for {
			msg, err := tr.Read(context.Background())
			p.pass()
			if err != nil {
				p.err = err
				return
			}
			p.in <- append(json.RawMessage(nil), msg...)
		}
	}()
	w.t.Cleanup(p.hangUp)
	return p
}

// hangUp closes the connection and waits for the reader.
func (p *peer) hangUp() {
	p.tr.Close(1000, "")
	p.resume()
	for range p.in {
	}
}

// stall stops reading from the socket until resume.
func (p *peer) stall() {
	gate := make(chan struct{})
	p.gate.Store(&gate)
}

func (p *peer) resume() {
	if gate := p.gate.Swap(nil); gate != nil {
		close(*gate)
	}
}

// pass waits while stalled.
func (p *peer) pass() {
	if gate := p.gate.Load(); gate != nil {
		<-*gate
	}
}

func (p *peer) sendRaw(msg string) {
	p.t.Helper()
	p.speech.sent(p.w, []byte(msg))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.tr.Write(ctx, []byte(msg)); err != nil {
		p.t.Fatalf("%s: send: %v", p.name, err)
	}
}

func (p *peer) send(v any) {
	p.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		p.t.Fatal(err)
	}
	p.sendRaw(string(b))
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *ahp.Error      `json:"error"`
	Params json.RawMessage `json:"params"`
}

var errEnded = errors.New("connection ended")

// next is the next message; it checks what holds for all of them: they fit the schemas,
// serverSeq rises strictly, and no action that a snapshot contains comes after it.
func (p *peer) next() (json.RawMessage, message, error) {
	p.t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case raw, ok := <-p.in:
		if !ok {
			return nil, message{}, fmt.Errorf("%w: %v", errEnded, p.err)
		}
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			p.t.Fatalf("%s: host sent %q: %v", p.name, raw, err)
		}
		if err := p.speech.received(p.w, raw); err != nil {
			p.t.Errorf("%s: the host sent what does not fit its schema: %s\n%s", p.name, short(err.Error()), short(string(raw)))
		}
		if m.Method == ahp.MethodAction {
			p.note(m)
		}
		p.noteSnapshots(m.Result)
		return raw, m, nil
	case <-timeout.C:
		return nil, message{}, errors.New("nothing came")
	}
}

func (p *peer) note(m message) {
	p.t.Helper()
	var e ahp.Envelope
	if err := json.Unmarshal(m.Params, &e); err != nil {
		p.t.Fatalf("%s: envelope %s: %v", p.name, m.Params, err)
	}
	if e.ServerSeq <= p.seq {
		p.t.Fatalf("%s: serverSeq %d after %d", p.name, e.ServerSeq, p.seq)
	}
	if from := p.from[e.Channel]; e.ServerSeq <= from {
		p.t.Fatalf("%s: serverSeq %d of %s after a snapshot from %d", p.name, e.ServerSeq, e.Channel, from)
	}
	p.seq = e.ServerSeq
	if d, ok := e.Action.(ahp.TerminalData); ok {
		if p.out[e.Channel] == nil {
			p.out[e.Channel] = &strings.Builder{}
		}
		p.out[e.Channel].WriteString(d.Data)
	}
	if p.seen != nil {
		p.seen(e)
	}
}

// noteSnapshots takes the output in snapshots for output's purposes.
func (p *peer) noteSnapshots(result json.RawMessage) {
	var r struct {
		Snapshot  *ahp.Snapshot  `json:"snapshot"`
		Snapshots []ahp.Snapshot `json:"snapshots"`
	}
	if len(result) == 0 || json.Unmarshal(result, &r) != nil {
		return
	}
	if r.Snapshot != nil {
		r.Snapshots = append(r.Snapshots, *r.Snapshot)
	}
	for _, s := range r.Snapshots {
		p.from[s.Resource] = s.FromSeq
		var state ahp.TerminalState
		if json.Unmarshal(s.State, &state) != nil {
			continue
		}
		p.out[s.Resource] = &strings.Builder{}
		for _, part := range state.Content {
			p.out[s.Resource].WriteString(part.Text())
		}
	}
}

// call sends a request and skips to its answer.
func (p *peer) call(method string, params, result any) error {
	p.t.Helper()
	p.lastID++
	id := p.lastID
	p.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	for {
		_, m, err := p.next()
		if err != nil {
			return err
		}
		if string(m.ID) != fmt.Sprint(id) {
			continue
		}
		if m.Error != nil {
			return m.Error
		}
		if result != nil {
			return json.Unmarshal(m.Result, result)
		}
		return nil
	}
}

func (p *peer) must(method string, params, result any) {
	p.t.Helper()
	if err := p.call(method, params, result); err != nil {
		p.t.Fatalf("%s: %s: %v", p.name, method, err)
	}
}

func (p *peer) initialize(subscriptions ...ahp.URI) ahp.InitializeResult {
	p.t.Helper()
	return p.drive("", subscriptions...)
}

// drive initializes and announces a session that is driven outside of the host.
func (p *peer) drive(session ahp.URI, subscriptions ...ahp.URI) (r ahp.InitializeResult) {
	p.t.Helper()
	p.must(ahp.MethodInitialize, ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: p.name, InitialSubscriptions: subscriptions,
		Meta: &ahp.HelloMeta{Session: session},
	}, &r)
	return r
}

// ended waits for the end of the terminal's running command, if there is one. The end
// of a command that was run by a call can come before the call's answer, and call
// skips what comes before that.
func (p *peer) ended(uri ahp.URI) {
	p.t.Helper()
	var r ahp.WaitResult
	p.must(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitCommand, TimeoutMs: patience.Milliseconds()}, &r)
	if r.Reason != ahp.WaitMet {
		p.t.Fatalf("%s: waiting for the command's end: %+v", p.name, r)
	}
}

// create makes a terminal that runs argv, claimed by p, and subscribes to it.
func (p *peer) create(uri ahp.URI, argv ...string) ahp.Snapshot {
	p.t.Helper()
	p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: p.name}, Meta: &ahp.CreateMeta{Command: argv},
	}, nil)
	return p.subscribe(uri)
}

func (p *peer) subscribe(uri ahp.URI) ahp.Snapshot {
	p.t.Helper()
	var r ahp.SubscribeResult
	p.must(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: uri}, &r)
	return *r.Snapshot
}

func (p *peer) dispatch(uri ahp.URI, seq int64, a ahp.Action) {
	p.t.Helper()
	p.send(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodDispatchAction, "params": ahp.DispatchParams{Channel: uri, ClientSeq: seq, Action: a}})
}

// envelope skips to an action that fits.
func (p *peer) envelope(what string, fits func(ahp.Envelope) bool) ahp.Envelope {
	p.t.Helper()
	for {
		_, m, err := p.next()
		if err != nil {
			p.t.Fatalf("%s: waiting for %s: %v", p.name, what, err)
		}
		if m.Method != ahp.MethodAction {
			continue
		}
		var e ahp.Envelope
		if err := json.Unmarshal(m.Params, &e); err != nil {
			p.t.Fatal(err)
		}
		if fits(e) {
			return e
		}
	}
}

// echo skips to the answer of one's own dispatch.
func (p *peer) echo(seq int64) ahp.Envelope {
	p.t.Helper()
	return p.envelope(fmt.Sprintf("the echo of %d", seq), func(e ahp.Envelope) bool {
		return e.Origin != nil && e.Origin.ClientID == p.name && e.Origin.ClientSeq == seq
	})
}

// output reads on until the terminal's output, its latest snapshot's and all
// after it, contains text.
func (p *peer) output(uri ahp.URI, text string) {
	p.t.Helper()
	for seen := 0; ; {
		have := ""
		if p.out[uri] != nil {
			have = p.out[uri].String()
		}
		if len(have) < seen { // a new snapshot
			seen = 0
		}
		if strings.Contains(have[max(0, seen-len(text)):], text) {
			return
		}
		seen = len(have)
		if _, _, err := p.next(); err != nil {
			p.t.Fatalf("%s: waiting for output %q of %s, have %q: %v", p.name, text, uri, have[max(0, len(have)-2000):], err)
		}
	}
}

// syncBuffer is a buffer that a logger may write to.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *syncBuffer) count(text string) int { return strings.Count(b.String(), text) }
