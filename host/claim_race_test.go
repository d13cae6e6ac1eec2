package host_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

// patient is a client's WebSocket from which nothing is read, pings neither, before it is
// wanted.
type patient struct {
	jsonrpc.Transport
	wanted chan struct{}
}

func (s *patient) Read(ctx context.Context) ([]byte, error) {
	<-s.wanted
	return s.Transport.Read(ctx)
}

// racer is a peer that claims without words for what it has seen.
type racer struct {
	*peer
	socket *patient
	seq    int64
	holder string // as far as it knows
}

// racer connects one that speaks a version of AHP and watches a channel.
func (w *fixture) racer(name, version string, target wsrpc.Target, watched ahp.URI) *racer {
	w.t.Helper()
	tr, err := wsrpc.Dial(w.t.Context(), target)
	if err != nil {
		w.t.Fatal(err)
	}
	r := &racer{socket: &patient{Transport: tr, wanted: make(chan struct{})}}
	r.peer = w.peer(name, r.socket)
	w.t.Cleanup(func() { close(r.socket.wanted) }) // before the peer hangs up
	r.request(ahp.MethodInitialize, ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{version}, ClientID: name, InitialSubscriptions: []ahp.URI{watched},
	})
	return r
}

func (r *racer) next() message {
	r.t.Helper()
	r.socket.wanted <- struct{}{}
	_, m, err := r.peer.next()
	if err != nil {
		r.t.Fatalf("%s: %v", r.name, err)
	}
	return m
}

// request sends one and reads on to its answer.
func (r *racer) request(method string, params any) {
	r.t.Helper()
	r.send(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	for m := r.next(); m.ID == nil; m = r.next() {
	}
}

func (r *racer) claim(uri ahp.URI) {
	r.seq++
	r.dispatch(uri, r.seq, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: r.name}})
}

// action reads on to one, and notes who holds the terminal by then.
func (r *racer) action() (e ahp.Envelope) {
	r.t.Helper()
	for m := r.next(); m.Method != ahp.MethodAction || json.Unmarshal(m.Params, &e) != nil; m = r.next() {
	}
	switch a := e.Action.(type) {
	case ahp.TerminalClaimed:
		if e.RejectionReason == "" {
			r.holder = a.Claim.ClientID
		}
	case ahp.RootTerminalsChanged:
		r.holder = a.Terminals[0].Claim.ClientID
	}
	return e
}

// refused reads the answer to the last claim.
func (r *racer) refused() string {
	r.t.Helper()
	for {
		if e := r.action(); e.Origin != nil && e.Origin.ClientID == r.name && e.Origin.ClientSeq == r.seq {
			return e.RejectionReason
		}
	}
}

// sees reads on to somebody's claim, or a list that shows it.
func (r *racer) sees(who string) {
	r.t.Helper()
	for r.holder != who {
		r.action()
	}
}

// raced is a host with a terminal, and how it is reached by strangers.
func raced(t *testing.T, uri ahp.URI) (w *fixture, remote func() wsrpc.Target) {
	now := time.Now() // however long it takes, a ping is waited for
	w = start(t, func(c *host.Config) { c.Now = func() time.Time { return now } })
	owner := w.connect("owner")
	owner.initialize()
	owner.create(uri, "cat")
	return w, func() wsrpc.Target {
		return wsrpc.Target{URL: "ws://" + w.tcp.Addr().String() + "/ahp", Token: w.token("admin").Token}
	}
}

// TestRaceWithoutVersions: of two who claim before they can have seen the other's claim
// one gets the terminal and the other is told, whatever versions they speak (G48).
func TestRaceWithoutVersions(t *testing.T) {
	const uri = "ahp-terminal:/t"
	w, remote := raced(t, uri)
	rounds := soak.Size(t, soak.Short(5, 15), 150)
	for _, c := range []struct{ a, b string }{{"0.5.1", "1.0.0"}, {"0.5.0", "0.5.1"}, {"0.9.0", "1.0.0"}} {
		a, b := w.racer("a"+c.a+c.b, c.a, remote(), uri), w.racer("b"+c.b+c.a, c.b, remote(), uri)
		won := 0
		for range rounds {
			var sent sync.WaitGroup
			for _, r := range []*racer{a, b} {
				sent.Go(func() { r.claim(uri) })
			}
			sent.Wait()
			x, y := a.refused(), b.refused()
			winner := b.name
			if x == "" {
				winner = a.name
				won++
			}
			if (x == "") == (y == "") || !strings.Contains(x+y, "somebody else was first: the terminal is held by client "+winner+" by now") {
				t.Fatalf("%s and %s at once: %q, %q", c.a, c.b, x, y)
			}
		}
		t.Logf("%s won %d times of %d against %s", c.a, won, rounds, c.b)
	}
}

// TestRaceByTheList: who sees claims in the list of terminals only has seen one when the
// list has come.
func TestRaceByTheList(t *testing.T) {
	const uri = "ahp-terminal:/t"
	w, remote := raced(t, uri)
	a, b := w.racer("a", "1.0.0", remote(), uri), w.racer("b", "0.9.0", remote(), ahp.RootURI)
	for i := range 10 {
		if i > 0 {
			a.sees("b")
		}
		a.claim(uri)
		if s := a.refused(); s != "" {
			t.Fatal(s)
		}
		b.claim(uri)
		if s := b.refused(); !strings.Contains(s, "held by client a by now") {
			t.Fatalf("round %d: before the list: %q", i, s)
		}
		b.sees("a")
		b.claim(uri)
		if s := b.refused(); s != "" {
			t.Fatalf("round %d: after the list: %s", i, s)
		}
		b.holder = "" // which it knows by itself
		b.sees("b")
	}
}

// TestClaimAtOnce: who has seen a claim may claim at once, also when the machine is busy.
func TestClaimAtOnce(t *testing.T) {
	const uri = "ahp-terminal:/t"
	w, remote := raced(t, uri)
	a, b := w.racer("a", "1.0.0", remote(), uri), w.racer("b", "0.5.1", wsrpc.Target{URL: "unix://" + w.sock.Path()}, uri)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rounds := soak.Size(t, soak.Short(25, 100), 1000)
	for i := range rounds + soak.Short(15, 50) {
		if i == rounds {
			for range runtime.NumCPU() {
				go func() {
					for ctx.Err() == nil {
					}
				}()
			}
		}
		for _, r := range []struct{ me, other *racer }{{a, b}, {b, a}} {
			if i > 0 || r.me == b {
				r.me.sees(r.other.name)
			}
			r.me.claim(uri)
			if s := r.me.refused(); s != "" {
				t.Fatalf("round %d: %s", i, s)
			}
		}
	}
}
