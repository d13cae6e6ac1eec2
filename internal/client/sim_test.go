package client

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// sim is a small host that keeps its word: one sequence, replay or snapshots,
// each clientSeq once. It loses connections at any moment.
type sim struct {
	r *rand.Rand

	mu        sync.Mutex
	seq       int64
	states    map[ahp.URI]ahp.TerminalState
	log       []ahp.Envelope
	conns     map[*simConn]bool
	processed map[int64]bool
	order     []int64  // clientSeqs as processed
	inputs    []string // as processed
	renamed   []string
	known     bool // the client
	faithful  bool // it does not forget the client
	resumed   map[string]int
}

type simConn struct {
	s    *sim
	rpc  *jsonrpc.Conn
	wire jsonrpc.Transport
	subs map[ahp.URI]bool
	deaf bool
}

func newSim(seed uint64) *sim {
	s := &sim{
		r: rand.New(rand.NewPCG(seed, 3)), seq: 100, conns: map[*simConn]bool{}, processed: map[int64]bool{},
		states: map[ahp.URI]ahp.TerminalState{}, resumed: map[string]int{},
	}
	for _, uri := range []ahp.URI{t1, t2} {
		s.states[uri] = ahp.TerminalState{Title: "t", Content: []ahp.Part{}, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "me"}}
	}
	return s
}

func (s *sim) serve(t jsonrpc.Transport) {
	c := &simConn{s: s, wire: t, subs: map[ahp.URI]bool{}}
	c.rpc = jsonrpc.New(t, jsonrpc.Handler(c.handle), jsonrpc.Options{})
	s.mu.Lock()
	s.conns[c] = true
	s.mu.Unlock()
	c.rpc.Run(context.Background())
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// apply sequences an action; the lock is held.
func (s *sim) apply(e ahp.Envelope) {
	s.seq++
	e.ServerSeq = s.seq
	if state, ok := s.states[e.Channel]; ok {
		s.states[e.Channel] = ahp.ReduceTerminal(state, e.Action)
	}
	s.log = append(s.log, e)
	msg := []byte(nil)
	if d, ok := e.Action.(ahp.TerminalData); ok {
		msg = wire.AppendDataEnvelope(nil, e.Channel, d.Data, e.ServerSeq)
	}
	for c := range s.conns {
		if !c.subs[e.Channel] && (e.Origin == nil) {
			continue
		}
		if msg != nil {
			c.rpc.Send(msg)
		} else {
			c.rpc.Notify(ahp.MethodAction, e)
		}
	}
}

func (c *simConn) snapshot(uri ahp.URI) ahp.Snapshot {
	var state any = ahp.RootState{}
	if s, ok := c.s.states[uri]; ok {
		state = s
	}
	raw, _ := ahp.Encode(ahp.V1, state)
	c.subs[uri] = true
	return ahp.Snapshot{Resource: uri, State: raw, FromSeq: c.s.seq}
}

func (c *simConn) handle(_ context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch req.Method {
	case ahp.MethodInitialize:
		s.known = true
		r := ahp.InitializeResult{ProtocolVersion: "1.0.0", ServerSeq: s.seq, Snapshots: []ahp.Snapshot{c.snapshot(ahp.RootURI)}}
		return nil, c.answer(req, r)
	case ahp.MethodSubscribe:
		var p ahp.SubscribeParams
		json.Unmarshal(req.Params, &p)
		snap := c.snapshot(p.Channel)
		return nil, c.answer(req, ahp.SubscribeResult{Snapshot: &snap})
	case ahp.MethodReconnect:
		return nil, c.reconnect(req)
	case ahp.MethodDispatchAction:
		c.dispatch(req.Params)
		return nil, nil
	}
	return nil, nil
}

// answer replies under the lock, so that what follows comes after it.
func (c *simConn) answer(req *jsonrpc.Request, result any) error {
	c.rpc.Reply(req, result, nil)
	return jsonrpc.ErrReplied
}

func (c *simConn) reconnect(req *jsonrpc.Request) error {
	s := c.s
	var p ahp.ReconnectParams
	json.Unmarshal(req.Params, &p)
	if !s.known || !s.faithful && s.r.IntN(6) == 0 {
		s.resumed["refused"]++
		return ahp.NotFound("no client %s", p.ClientID)
	}
	if s.r.IntN(3) == 0 {
		s.resumed["snapshot"]++
		r := ahp.ReconnectResult{Type: ahp.ReconnectSnapshot}
		for _, uri := range p.Subscriptions {
			r.Snapshots = append(r.Snapshots, c.snapshot(uri))
		}
		return c.answer(req, r)
	}
	s.resumed["replay"]++
	r := ahp.ReconnectResult{Type: ahp.ReconnectReplay}
	for _, uri := range p.Subscriptions {
		c.subs[uri] = true
	}
	for _, e := range s.log {
		if e.ServerSeq > p.LastSeenServerSeq && c.subs[e.Channel] {
			r.Actions = append(r.Actions, e)
		}
	}
	return c.answer(req, r)
}

func (c *simConn) dispatch(raw json.RawMessage) {
	s := c.s
	var d ahp.DispatchParams
	if json.Unmarshal(raw, &d) != nil {
		return
	}
	e := ahp.Envelope{Channel: d.Channel, Action: d.Action, Origin: &ahp.Origin{ClientID: "me", ClientSeq: d.ClientSeq}}
	switch s.r.IntN(20) {
	case 0: // Lost on the way here, with all that follows.
		c.deaf = true
		c.wire.Close(1006, "")
	case 1: // The echo will be lost on the way back.
		c.wire.Close(1006, "")
	}
	if c.deaf {
		return
	}
	if s.processed[d.ClientSeq] {
		s.seq++
		e.ServerSeq = s.seq
		c.rpc.Notify(ahp.MethodAction, e)
		return
	}
	s.processed[d.ClientSeq] = true
	s.order = append(s.order, d.ClientSeq)
	switch a := d.Action.(type) {
	case ahp.TerminalInput:
		s.inputs = append(s.inputs, a.Data)
		s.seq++ // Input is echoed to its sender, and not kept.
		e.ServerSeq = s.seq
		c.rpc.Notify(ahp.MethodAction, e)
	case ahp.TerminalTitleChanged:
		if strings.HasSuffix(a.Title, "3") {
			s.seq++
			e.ServerSeq, e.RejectionReason = s.seq, "no threes"
			c.rpc.Notify(ahp.MethodAction, e)
			return
		}
		s.renamed = append(s.renamed, a.Title)
		s.apply(e)
	}
}

// live is the host's own life: output, and lost connections.
func (s *sim) live(steps int, pause time.Duration) {
	s.mu.Lock()
	r := rand.New(rand.NewPCG(s.r.Uint64(), 5))
	s.mu.Unlock()
	for i := range steps {
		s.mu.Lock()
		for range s.r.IntN(4) {
			uri := []ahp.URI{t1, t2}[s.r.IntN(2)]
			s.apply(ahp.Envelope{Channel: uri, Action: ahp.TerminalData{Data: fmt.Sprintf("%d é\x1b[m\r\n", i)}})
		}
		if s.r.IntN(12) == 0 {
			for c := range s.conns {
				c.wire.Close(1006, "")
			}
		}
		s.mu.Unlock()
		if r.IntN(3) == 0 {
			time.Sleep(time.Duration(r.Int64N(int64(pause))))
		}
	}
}

// text is the whole output of a state.
func text(s ahp.TerminalState) string {
	var b strings.Builder
	for _, p := range s.Content {
		b.WriteString(p.Text())
	}
	return b.String()
}

// simulate runs a client against a sim and compares what both hold at the end.
func simulate(t *testing.T, s *sim, dial func(context.Context) (jsonrpc.Transport, error), steps int, pause time.Duration) {
	t.Helper()
	m := NewMirror(1 << 30)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute+10*time.Duration(steps)*pause)
	defer cancel()
	c, err := Connect(ctx, Options{Dial: dial, ClientID: "me", Sink: m, Reconnect: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, uri := range []ahp.URI{t1, t2} {
		if err := c.Subscribe(ctx, uri); err != nil {
			t.Fatal(err)
		}
	}
	lived := make(chan struct{})
	go func() {
		defer close(lived)
		s.live(steps, pause)
	}()
	var sent []string // inputs that were accepted for sending
	r := rand.New(rand.NewPCG(9, uint64(steps)))
	for i := 0; ; i++ {
		select {
		case <-lived:
		default:
			if r.IntN(2) == 0 {
				data := fmt.Sprint("key", i)
				if _, err := c.Dispatch(t1, ahp.TerminalInput{Data: data}); err == nil {
					sent = append(sent, data)
				}
			} else {
				c.Dispatch(t2, ahp.TerminalTitleChanged{Title: fmt.Sprint("title", i)})
			}
			time.Sleep(time.Duration(r.Int64N(int64(pause) / 2)))
			continue
		}
		break
	}
	last := settle(t, ctx, c, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, uri := range []ahp.URI{t1, t2} {
		got, ok := m.Terminal(uri)
		if want := s.states[uri]; !ok || text(got) != text(want) || got.Title != want.Title {
			t.Errorf("%s: title %q, %d bytes; the host has %q, %d bytes", uri, got.Title, len(text(got)), want.Title, len(text(want)))
		}
	}
	if !slices.IsSorted(s.order) || slices.Contains(s.order[:len(s.order)-1], last) {
		t.Errorf("processed in the order %v", s.order)
	}
	// Each input at most once, in order; none lost unless the host had
	// forgotten the client.
	lost := 0
	rest := s.inputs
	for _, data := range sent {
		if len(rest) > 0 && rest[0] == data {
			rest = rest[1:]
		} else {
			lost++
		}
	}
	if len(rest) > 0 {
		t.Errorf("inputs that were not sent, or not then: %q", rest)
	}
	if lost > 0 && s.resumed["refused"] == 0 {
		t.Errorf("%d inputs of %d were lost", lost, len(sent))
	}
	t.Logf("%d inputs, %d lost, resumed %v", len(sent), lost, s.resumed)
}

// settle ends with an action that both sides have seen.
func settle(t *testing.T, ctx context.Context, c *Client, s *sim) (last int64) {
	t.Helper()
	for i := 0; ; i++ {
		e, err := c.DispatchWait(ctx, t1, ahp.TerminalTitleChanged{Title: fmt.Sprintf("end%d-", i)})
		if err == nil {
			e2, err := c.DispatchWait(ctx, t2, ahp.TerminalTitleChanged{Title: fmt.Sprintf("end%d-", i)})
			if err == nil && e2.ServerSeq > e.ServerSeq {
				return e2.Origin.ClientSeq
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("the client does not settle: %v", err)
		}
		if _, err := c.connected(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNothingIsLostOrDoubled loses connections all the time, on a clock of its
// own, so that many losses find the client connected again.
func TestNothingIsLostOrDoubled(t *testing.T) {
	total := map[string]int{}
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			s := newSim(seed)
			s.faithful = seed%2 == 0
			var conns sync.WaitGroup
			defer conns.Wait()
			simulate(t, s, func(context.Context) (jsonrpc.Transport, error) {
				a, b := jsonrpc.Pipe(4)
				conns.Go(func() { s.serve(b) })
				return a, nil
			}, 300, 4*time.Second)
			for how, n := range s.resumed {
				total[how] += n
			}
		})
	}
	if total["replay"] < 20 || total["snapshot"] < 10 || total["refused"] < 5 {
		t.Errorf("resumed only %v times", total)
	}
}

// TestOverRealSockets does the same with WebSockets on a unix socket.
func TestOverRealSockets(t *testing.T) {
	dir, err := os.MkdirTemp("", "client")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := newSim(99)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tr, err := wsrpc.Accept(w, r, wsrpc.Options{}); err == nil {
			s.serve(tr)
		}
	})}
	go srv.Serve(ln)
	defer srv.Close()
	simulate(t, s, func(ctx context.Context) (jsonrpc.Transport, error) {
		return wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + path})
	}, 120, time.Millisecond)
}
