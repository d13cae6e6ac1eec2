package host_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/guard"
)

// guest is an agent from the side.
func guest(w *fixture, name string) *peer {
	w.t.Helper()
	p := w.connect(name)
	p.must(ahp.MethodInitialize, ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: name, Meta: &ahp.HelloMeta{Agent: &ahp.AgentMeta{Name: name}},
	}, nil)
	return p
}

// spawns starts a background terminal of a guest's.
func spawns(p *peer, id string) error {
	return p.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: "ahp-terminal:/" + id, Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "x-tandemux-agent:/" + p.name}, Meta: &ahp.CreateMeta{Command: []string{"cat"}},
	}, nil)
}

func withLimits(change func(*guard.Limits)) func(*host.Config) {
	b := guard.DefaultLimits()
	change(&b)
	return func(c *host.Config) { c.AgentLimits = func() guard.Limits { return b } }
}

// What agents have started counts for the next host too: ending the host is no way
// around the limits (T12, T13).
func TestQuotasOutliveTheHost(t *testing.T) {
	t.Parallel()
	w := start(t)
	g, other := guest(w, "g"), guest(w, "other")
	for i := range 3 {
		if err := spawns(g, fmt.Sprint("g", i)); err != nil {
			t.Fatal(err)
		}
	}
	g.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: "ahp-terminal:/g0"}, nil)
	if err := spawns(other, "o0"); err != nil {
		t.Fatal(err)
	}
	w.shutdown()
	w.startHost()
	g, other = guest(w, "g"), guest(w, "other")
	if err := spawns(g, "g3"); err == nil || !strings.Contains(err.Error(), "Spawn rate limit exceeded (max 3/minute)") {
		t.Errorf("a fourth start: %v", err)
	}
	if err := spawns(other, "o1"); err != nil {
		t.Errorf("another agent's second start: %v", err)
	}
	w.shutdown()
	w.startHost(withLimits(func(b *guard.Limits) { b.Spawns, b.Terminals = 0, 2 }))
	g = guest(w, "g")
	if err := spawns(g, "g4"); err == nil || !strings.Contains(err.Error(), "Maximum concurrent agent terminals reached (2)") {
		t.Errorf("a third terminal: %v", err)
	}
	g.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: "ahp-terminal:/g1"}, nil)
	if err := spawns(g, "g5"); err != nil {
		t.Errorf("in the place of one that has ended: %v", err)
	}
}

// So does the time without input and output (T38).
func TestInactivityOutlivesTheHost(t *testing.T) {
	t.Parallel()
	w := start(t)
	g := guest(w, "g")
	if err := spawns(g, "quiet"); err != nil {
		t.Fatal(err)
	}
	w.shutdown()
	w.startHost(withLimits(func(b *guard.Limits) { b.Idle = 50 * time.Millisecond }))
	o := w.connect("o")
	o.initialize()
	var root ahp.RootState
	decodeState(t, o.subscribe(ahp.RootURI), &root)
	for len(root.Terminals) > 0 {
		root = ahp.ReduceRoot(root, o.envelope("its end", func(e ahp.Envelope) bool { return e.Channel == ahp.RootURI }).Action)
	}
}

// Limits are those of the configuration at the time of the decision.
func TestLimitsAreReadAtEachDecision(t *testing.T) {
	t.Parallel()
	var most atomic.Int32
	most.Store(1)
	w := start(t, func(c *host.Config) {
		c.AgentLimits = func() guard.Limits {
			b := guard.DefaultLimits()
			b.Spawns, b.Terminals = 0, int(most.Load())
			return b
		}
	})
	g := guest(w, "g")
	if err := spawns(g, "a"); err != nil {
		t.Fatal(err)
	}
	if err := spawns(g, "b"); err == nil {
		t.Fatal("a second is allowed")
	}
	most.Store(2)
	if err := spawns(g, "b"); err != nil {
		t.Errorf("after the limit was raised: %v", err)
	}
}
