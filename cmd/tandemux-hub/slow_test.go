package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/hosttest"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/linktest"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

// typist types into a terminal, and is told when it has printed something.
type typist struct {
	*client.Mirror
	printed chan struct{}
}

// Action implements client.Sink.
func (y *typist) Action(e ahp.Envelope) {
	if _, is := e.Action.(ahp.TerminalData); is {
		select {
		case y.printed <- struct{}{}:
		default:
		}
	}
	y.Mirror.Action(e)
}

// keys types some into the first terminal of a host, through the hub, and gives what each
// took until its echo was here.
func keys(ctx context.Context, url, token string, n int) (took []time.Duration, err error) {
	y := &typist{client.NewMirror(1 << 20), make(chan struct{}, 1)}
	c, err := client.Connect(ctx, client.Options{Sink: y, Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
		return wsrpc.Dial(ctx, wsrpc.Target{URL: url, Token: token})
	}})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	root, _ := y.Root()
	if len(root.Terminals) == 0 {
		return nil, fmt.Errorf("%s has no terminal", url)
	}
	uri := root.Terminals[0].Resource
	if err := c.Subscribe(ctx, uri); err != nil {
		return nil, err
	}
	if _, err := c.DispatchWait(ctx, uri, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: c.ClientID()}}); err != nil {
		return nil, err
	}
	for i := range n {
		began := time.Now()
		if _, err := c.Dispatch(uri, ahp.TerminalInput{Data: string(rune('a' + i%26))}); err != nil {
			return took, err
		}
		select {
		case <-y.printed:
		case <-ctx.Done():
			return took, ctx.Err()
		case <-c.Done():
			return took, c.Err()
		}
		took = append(took, time.Since(began))
		time.Sleep(20 * time.Millisecond) // a fast typist
	}
	return took, nil
}

// TestSlowMachines has hosts, 20 with 1,000 terminals in a soak, which all reach the hub over
// slow links that lose packets. Keys are typed on all of them at once through the hub, into
// ptys that echo; meanwhile some of what joins them is killed, and counts as away, and nobody
// else does.
func TestSlowMachines(t *testing.T) {
	soak.Long(t, "three hosts on slow links")
	n, terminals, typed := soak.Size(t, 3, 20), soak.Size(t, 3, 50), soak.Size(t, 20, 200)
	link := linktest.Link{Delay: 20 * time.Millisecond, Loss: 0.02}
	home := hosttest.New(t, "")
	ports := freePorts(t, 2)
	start(t, home, "", "hub", "serve", "--listen", ports[0], "--nats", ports[1])
	home.Eventually("the hub serves", func() bool { return home.Command("hub", "ls").Run() == nil })
	seed := soak.Seed(t)
	machines, joins, tokens := make([]*hosttest.Machine, n), make([]*process, n), make([]string, n)
	var all sync.WaitGroup
	busy := make(chan struct{}, 4)
	for i := range machines {
		m := hosttest.New(t, "")
		machines[i] = m
		all.Go(func() {
			busy <- struct{}{}
			defer func() { <-busy }()
			for j := range terminals {
				if out, err := m.Command("new", "--background", "--name", fmt.Sprint("t", j), "--", "cat").CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			}
		})
	}
	all.Wait()
	began := time.Now()
	for i, m := range machines {
		tokens[i] = m.Token("fleet")
		way := link.New(t, ports[1], seed+uint64(1000*i))
		joins[i] = start(t, m, home.Tandemux("hub", "invite", fmt.Sprint("host-", i)), "join", "nats://"+way.Addr)
	}
	everybody := func(want int) bool {
		hosts, terms := 0, 0
		for _, e := range fleet(home) {
			if e.Present {
				hosts, terms = hosts+1, terms+len(e.Terms)
			}
		}
		return hosts == want && terms == want*terminals
	}
	for end := time.Now().Add(2 * time.Minute); !everybody(n); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not all are here with their terminals")
		}
	}
	t.Logf("%d hosts with %d terminals each are here %v after the first was invited", n, terminals, time.Since(began).Round(10*time.Millisecond))

	var mu sync.Mutex
	var took []time.Duration
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	gone := max(1, n/10) // the last ones: nobody types there
	for i := range n - gone {
		all.Go(func() {
			mine, err := keys(ctx, fmt.Sprintf("ws://%s/hosts/host-%d/ahp", ports[0], i), tokens[i], typed)
			if err != nil {
				t.Errorf("host %d: after %d keys: %v", i, len(mine), err)
			}
			mu.Lock()
			took = append(took, mine...)
			mu.Unlock()
		})
	}
	killed := time.Now()
	for _, p := range joins[n-gone:] {
		p.Process.Kill() //nolint:errcheck // it runs
	}
	home.Eventually("those that were killed are away", func() bool { return everybody(n - gone) })
	t.Logf("%d of %d that were killed are away after %v", gone, n, time.Since(killed).Round(10*time.Millisecond))
	all.Wait()
	if !everybody(n - gone) {
		t.Errorf("a host that lives counts as away")
	}
	if slices.Sort(took); len(took) == 0 {
		t.Fatal("nobody typed")
	}
	at := func(p int) time.Duration {
		return took[min(len(took)*p/100, len(took)-1)].Round(time.Millisecond)
	}
	t.Logf("key to echo of %d typists, %d keys: half within %v, 99 of 100 within %v, all within %v", n-gone, len(took), at(50), at(99), at(100))
	if at(50) > time.Second {
		t.Errorf("half of the keys take %v", at(50))
	}
}
