package main

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// TestManyMachines has real hosts, 20 with 1,000 terminals in a soak, at one hub. kill -9 of
// the hub, of hosts and of what joins them: no terminal notices, who is away is seen to
// be, and all come back by themselves, but for a join that nobody starts again.
func TestManyMachines(t *testing.T) {
	soak.Long(t, "three hosts with many terminals")
	n, terminals := soak.Size(t, 3, 20), soak.Size(t, 4, 50)
	home := hosttest.New(t, "")
	ports := freePorts(t, 2)
	serve := func() *process {
		p := start(t, home, "", "hub", "serve", "--listen", ports[0], "--nats", ports[1])
		home.Eventually("the hub serves", func() bool { return strings.Contains(p.text(), "hosts join at") })
		return p
	}
	hub := serve()
	machines, joins := make([]*hosttest.Machine, n), make([]*process, n)
	began := time.Now()
	var all sync.WaitGroup
	busy := make(chan struct{}, 4)
	for i := range machines {
		m := hosttest.New(t, "")
		machines[i] = m
		all.Go(func() {
			busy <- struct{}{}
			defer func() { <-busy }()
			for j := range terminals {
				if out, err := m.Command("new", "--background", "--name", fmt.Sprint("t", j), "--", "sh").CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d hosts with %d terminals each were made in %v", n, terminals, time.Since(began).Round(time.Millisecond))
	for i, m := range machines {
		joins[i] = start(t, m, home.Tandemux("hub", "invite", fmt.Sprint("host-", i)), "join")
	}
	here := func() (hosts, terms int) {
		for _, e := range fleet(home) {
			if e.Present {
				hosts, terms = hosts+1, terms+len(e.Terms)
			}
		}
		return hosts, terms
	}
	everybody := func() bool { h, k := here(); return h == n && k == n*terminals }
	home.Eventually("all are here with their terminals", everybody)
	list := func() (lists []string) {
		for _, m := range machines {
			lists = append(lists, m.Tandemux("ls", "--json"))
		}
		return lists
	}
	before := list()
	same := func(what string) {
		t.Helper()
		for i, now := range list() {
			if now != before[i] {
				t.Errorf("%s: the terminals of host %d are\n%s instead of\n%s", what, i, now, before[i])
			}
		}
	}

	hub.Process.Kill() //nolint:errcheck // it runs
	hub.Wait()         //nolint:errcheck // it was killed
	same("the hub was killed")
	began = time.Now()
	serve()
	home.Eventually("all joined again", everybody)
	t.Logf("the hub came back: all are here after %v", time.Since(began).Round(10*time.Millisecond))

	// A host dies, which is to be seen, and is brought back.
	gone := pidOf(t, machines[0])
	machines[0].Must(syscall.Kill(gone, syscall.SIGKILL))
	home.Eventually("the host is back", func() bool { return pidOf(t, machines[0]) != gone && fleet(home)["host-0"].Present })
	machines[0].Eventually("its terminals are the same", func() bool { return machines[0].Tandemux("ls", "--json") == before[0] })

	began = time.Now()
	joins[1].Process.Kill() //nolint:errcheck // it runs
	home.Eventually("it is away", func() bool { return !fleet(home)["host-1"].Present })
	t.Logf("a join that was killed is away after %v", time.Since(began).Round(10*time.Millisecond))
	if h, _ := here(); h != n-1 {
		t.Errorf("%d hosts are here, want all but one", h)
	}
	same("all of that happened")
}
