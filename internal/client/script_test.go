package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/jsonrpc"
)

// patience bounds what should happen at once.
const patience = 30 * time.Second

const (
	t1 = "ahp-terminal:/1"
	t2 = "ahp-terminal:/2"
)

// script is a host whose every word the test says.
type script struct {
	*testing.T
	peers chan *peer

	mu     sync.Mutex
	refuse []error     // what the next dials fail with
	dials  []time.Time // when
}

// peer is one connection as the script sees it.
type peer struct {
	*script
	conn *jsonrpc.Conn
	wire jsonrpc.Transport
	in   chan *jsonrpc.Request
}

func newScript(t *testing.T) *script { return &script{T: t, peers: make(chan *peer, 16)} }

// dial is Options.Dial.
func (s *script) dial(ctx context.Context) (jsonrpc.Transport, error) {
	s.mu.Lock()
	s.dials = append(s.dials, time.Now())
	var err error
	if len(s.refuse) > 0 {
		err, s.refuse = s.refuse[0], s.refuse[1:]
	}
	s.mu.Unlock()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	a, b := jsonrpc.Pipe(64)
	p := &peer{script: s, wire: b, in: make(chan *jsonrpc.Request, 1000)}
	p.conn = jsonrpc.New(b, jsonrpc.Handler(func(_ context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
		p.in <- req
		return nil, jsonrpc.ErrReplied
	}), jsonrpc.Options{})
	go p.conn.Run(context.Background())
	s.peers <- p
	return a, nil
}

// accept waits for the next connection.
func (s *script) accept() *peer {
	s.Helper()
	select {
	case p := <-s.peers:
		s.Cleanup(func() {
			p.conn.Close(1000, "")
			<-p.conn.Done()
		})
		return p
	case <-time.After(patience):
		s.Fatal("the client did not connect")
		return nil
	}
}

// expect waits for the next message and checks its method and params.
func (p *peer) expect(method, params string) *jsonrpc.Request {
	p.Helper()
	var req *jsonrpc.Request
	select {
	case req = <-p.in:
	case <-p.conn.Done():
		select {
		case req = <-p.in:
		default:
			p.Fatalf("the client closed instead of sending %s", method)
		}
	case <-time.After(patience):
		p.Fatalf("the client did not send %s", method)
	}
	if req.Method != method || params != "" && string(req.Params) != params {
		p.Fatalf("got  %s %s\nwant %s %s", req.Method, req.Params, method, params)
	}
	return req
}

func (p *peer) reply(req *jsonrpc.Request, result string) {
	p.Helper()
	if err := p.conn.Reply(req, json.RawMessage(result), nil); err != nil {
		p.Fatal(err)
	}
}

func (p *peer) fail(req *jsonrpc.Request, err error) { p.conn.Reply(req, nil, err) }

// action sends an action notification; more is ", …" for further members.
func (p *peer) action(channel string, seq int, action, more string) {
	p.Helper()
	msg := fmt.Sprintf(`{"jsonrpc":"2.0","method":"action","params":%s}`, envelope(channel, seq, action, more))
	if err := p.conn.Send([]byte(msg)); err != nil {
		p.Fatal(err)
	}
}

func envelope(channel string, seq int, action, more string) string {
	return fmt.Sprintf(`{"channel":%q,"action":%s,"serverSeq":%d%s}`, channel, action, seq, more)
}

func origin(seq int) string {
	return fmt.Sprintf(`,"origin":{"clientId":"me","clientSeq":%d}`, seq)
}

// drop loses the connection without a word.
func (p *peer) drop() { p.wire.Close(1006, "") }

const helloParams = `{"channel":"ahp-root://","protocolVersions":["1.0.0","0.9.0","0.5.0"],"clientId":"me","clientInfo":{"name":"test"},"initialSubscriptions":["ahp-root://"]}`

func rootSnapshot(seq int) string {
	return fmt.Sprintf(`{"resource":"ahp-root://","state":{"agents":[]},"fromSeq":%d}`, seq)
}

func terminalSnapshot(uri string, seq int) string {
	return fmt.Sprintf(`{"resource":%q,"state":{"title":"t","content":[],"lifecycle":{"status":"running"},"claim":{"kind":"client","clientId":"me"}},"fromSeq":%d}`, uri, seq)
}

// hello answers initialize.
func (p *peer) hello(version string, seq int) {
	p.Helper()
	p.reply(p.expect("initialize", helloParams), fmt.Sprintf(`{"protocolVersion":%q,"serverSeq":%d,"snapshots":[%s]}`, version, seq, rootSnapshot(seq)))
}

// subscribed answers subscribe.
func (p *peer) subscribed(uri string, seq int) {
	p.Helper()
	p.reply(p.expect("subscribe", fmt.Sprintf(`{"channel":%q}`, uri)), `{"snapshot":`+terminalSnapshot(uri, seq)+`}`)
}

// record is a Sink that writes down what it is told.
type record struct {
	t    *testing.T
	busy atomic.Bool
	on   func(line string) // called inside each call

	mu    sync.Mutex
	lines []string
	moved chan struct{}
}

func newRecord(t *testing.T) *record { return &record{t: t, moved: make(chan struct{})} }

func (r *record) add(format string, args ...any) {
	if r.busy.Swap(true) {
		r.t.Error("two calls of the Sink at once")
	}
	defer r.busy.Store(false)
	line := fmt.Sprintf(format, args...)
	r.mu.Lock()
	r.lines = append(r.lines, line)
	close(r.moved)
	r.moved = make(chan struct{})
	r.mu.Unlock()
	if r.on != nil {
		r.on(line)
	}
}

func (r *record) Snapshot(s ahp.Snapshot) { r.add("snapshot %s %d", s.Resource, s.FromSeq) }
func (r *record) Gone(uri ahp.URI)        { r.add("gone %s", uri) }
func (r *record) Action(e ahp.Envelope) {
	line := fmt.Sprintf("%s %s %d", e.Action.ActionType(), e.Channel, e.ServerSeq)
	if d, ok := e.Action.(ahp.TerminalData); ok {
		line += fmt.Sprintf(" %q", d.Data)
	}
	if e.Origin != nil {
		line += fmt.Sprintf(" own %d", e.Origin.ClientSeq)
	}
	if e.RejectionReason != "" {
		line += " refused: " + e.RejectionReason
	}
	r.add("%s", line)
}

func (r *record) Status(s Status, err error) {
	if err != nil {
		r.add("%v: %v", s, err)
	} else {
		r.add("%v", s)
	}
}

// want waits until as many lines have come, checks them and forgets them. A
// line may be cut off with "…".
func (r *record) want(lines ...string) {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		got, moved := r.lines, r.moved
		if len(got) >= len(lines) {
			r.lines = got[len(lines):]
		}
		r.mu.Unlock()
		if len(got) >= len(lines) {
			for i, line := range lines {
				if !like(got[i], line) {
					r.t.Fatalf("the Sink was told\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(lines, "\n\t"))
				}
			}
			return
		}
		select {
		case <-moved:
		case <-deadline:
			r.t.Fatalf("the Sink was told only\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(lines, "\n\t"))
		}
	}
}

func like(got, want string) bool {
	if head, cut := strings.CutSuffix(want, "…"); cut {
		return strings.HasPrefix(got, head)
	}
	return got == want
}

// start connects a client to a fresh script and gets past the handshake.
func start(t *testing.T, o Options) (*script, *peer, *Client, *record) {
	t.Helper()
	return startVersion(t, o, "1.0.0")
}

func startVersion(t *testing.T, o Options, version string) (*script, *peer, *Client, *record) {
	t.Helper()
	s, r := newScript(t), newRecord(t)
	o.Dial, o.ClientID, o.Info.Name = s.dial, "me", "test"
	if o.Sink == nil {
		o.Sink = r
	}
	type result struct {
		c   *Client
		err error
	}
	got := make(chan result, 1)
	go func() {
		c, err := Connect(context.Background(), o)
		got <- result{c, err}
	}()
	p := s.accept()
	p.hello(version, 10)
	res := <-got
	if res.err != nil {
		t.Fatal(res.err)
	}
	t.Cleanup(func() { res.c.Close() })
	if o.Sink == Sink(r) {
		r.want("connected", "snapshot ahp-root:// 10")
	}
	return s, p, res.c, r
}

// subscribe subscribes while the script answers.
func subscribe(t *testing.T, c *Client, p *peer, r *record, uri string, seq int) {
	t.Helper()
	got := make(chan error, 1)
	go func() { got <- c.Subscribe(context.Background(), uri) }()
	p.subscribed(uri, seq)
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	r.want(fmt.Sprintf("snapshot %s %d", uri, seq))
}

func within[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("timed out waiting for %s", what)
		panic("unreachable")
	}
}

var errRefused = errors.New("connection refused")
