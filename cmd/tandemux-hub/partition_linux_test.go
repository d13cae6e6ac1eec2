package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// island is a network of its own with one way to this machine's, whose packets can be
// dropped in either direction: who sends them knows of no address that hears them.
type island struct {
	t          *testing.T
	name, link string
	ours, here string // this machine's address on the way, and the island's
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

func newIsland(t *testing.T, i int) island {
	t.Helper()
	n := os.Getpid()*8 + i
	is := island{t, fmt.Sprint("tandemux-test-", n), fmt.Sprint("tmx", n), fmt.Sprintf("10.213.%d.%d", n>>6&255, n<<2&255|1), fmt.Sprintf("10.213.%d.%d", n>>6&255, n<<2&255|2)}
	if err := ip("netns", "add", is.name); err != nil {
		t.Skipf("there are no network namespaces here: %v", err)
	}
	t.Cleanup(func() { ip("netns", "del", is.name) }) //nolint:errcheck // the link goes with it
	for _, args := range [][]string{
		{"link", "add", is.link, "type", "veth", "peer", "name", "out", "netns", is.name},
		{"addr", "add", is.ours + "/30", "dev", is.link},
		{"link", "set", is.link, "up"},
		{"-n", is.name, "addr", "add", is.here + "/30", "dev", "out"},
		{"-n", is.name, "link", "set", "out", "up"},
		{"-n", is.name, "link", "set", "lo", "up"},
	} {
		if err := ip(args...); err != nil {
			t.Skipf("there are no network namespaces here: %v", err)
		}
	}
	return is
}

// on has a command run on the island.
func (is island) on(cmd *exec.Cmd) *exec.Cmd {
	is.t.Helper()
	path, err := exec.LookPath("ip")
	if err != nil {
		is.t.Fatal(err)
	}
	cmd.Args = append([]string{"ip", "netns", "exec", is.name, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = path
	return cmd
}

// drop drops all packets to the island, from it, or both.
func (is island) drop(to, from bool) {
	is.t.Helper()
	const nobody = "02:00:00:00:00:66"
	for _, d := range []struct {
		on   bool
		args []string
	}{
		{to, []string{"neigh", "replace", is.here, "lladdr", nobody, "nud", "permanent", "dev", is.link}},
		{from, []string{"-n", is.name, "neigh", "replace", is.ours, "lladdr", nobody, "nud", "permanent", "dev", "out"}},
	} {
		if d.on {
			if err := ip(d.args...); err != nil {
				is.t.Fatal(err)
			}
		}
	}
}

// heal has packets pass again.
func (is island) heal() {
	ip("neigh", "del", is.here, "dev", is.link)              //nolint:errcheck // it may not have been dropped
	ip("-n", is.name, "neigh", "del", is.ours, "dev", "out") //nolint:errcheck // it may not have been dropped
}

// TestPartitions: hosts in networks of their own, each with a task for each policy, lose all
// packets for minutes: in both directions, to them alone, from them alone. They are away within
// five seconds; what fails where its host is lost has failed, what is done again is so by a host that
// is there, and not before it was stopped where it was; afterwards all are here again, and what
// they had is stopped or done.
func TestPartitions(t *testing.T) {
	soak.Only(t, "leases are for minutes")
	ways := []struct {
		name     string
		to, from bool
	}{{"both", true, true}, {"to", true, false}, {"from", false, true}}
	islands := make([]island, len(ways))
	for i := range ways {
		islands[i] = newIsland(t, i)
	}
	home, well := hosttest.New(t, ""), hosttest.New(t, "")
	args := []string{}
	for _, is := range islands {
		args = append(args, "--allow-host", is.ours)
	}
	ports := freePorts(t, 1)
	nats := strings.Replace(ports[0], "127.0.0.1", "0.0.0.0", 1)
	_, port, _ := strings.Cut(nats, ":")
	hub := start(t, home, "", append([]string{"hub", "serve", "--listen", "127.0.0.1:0", "--nats", nats}, args...)...)
	home.Eventually("the hub serves", func() bool { return strings.Contains(hub.text(), "hosts join at") })
	w := newWork(t, home)
	// Each host of an island has a label that the host that is well has, too, which comes later.
	for i, w := range ways {
		m := hosttest.New(t, "")
		if out, err := islands[i].on(m.Command("host")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		startCommand(t, islands[i].on(m.Command("join", "--room", "4", "tls://"+islands[i].ours+":"+port)), home.Tandemux("hub", "invite", w.name, "--label", "of-"+w.name))
	}
	ran := filepath.Join(w.dir, "alive")
	const long = 4 * time.Minute
	for _, way := range ways {
		for _, lost := range []string{"fail", "again"} {
			w.give(task.NewTask{Name: lost + "-" + way.name, IfLost: lost, Where: "of-" + way.name}, hosttest.Alive(ran, lost+"-"+way.name, long))
		}
		home.Eventually(way.name+" is here", func() bool { return w.here(way.name) })
	}
	for n := range w.tasks {
		w.reaches(n, time.Minute, "is at work", func(p task.Present) bool { return p.Status == store.Running })
	}
	all := []string{"hub", "invite", "well"}
	for _, way := range ways {
		all = append(all, "--label", "of-"+way.name)
	}
	start(t, well, home.Tandemux(all...), "join", "--room", "8")
	home.Eventually("the host that is well is here", func() bool { return w.here("well") })

	began := time.Now()
	var each sync.WaitGroup
	for i, way := range ways {
		islands[i].drop(way.to, way.from)
		each.Go(func() {
			for w.here(way.name) && time.Since(began) < time.Minute {
				time.Sleep(50 * time.Millisecond)
			}
			took := time.Since(began)
			t.Logf("%s: away %v after its packets were dropped", way.name, took.Round(10*time.Millisecond))
			if took > 6*time.Second {
				t.Errorf("%s: away after %v", way.name, took)
			}
		})
	}
	each.Wait()
	for n := range w.tasks {
		fails := n%2 == 0
		w.reaches(n, 4*time.Minute, "was taken from its host", func(p task.Present) bool {
			return fails && w.event(n).Status == store.EventFailed || !fails && strings.Contains(p.Doing, "on well")
		})
	}
	t.Logf("all were taken from their hosts after %v", time.Since(began).Round(time.Second))
	time.Sleep(20 * time.Second)
	healed := time.Now()
	for _, is := range islands {
		is.heal()
	}
	for _, way := range ways {
		for !w.here(way.name) && time.Since(healed) < time.Minute {
			time.Sleep(50 * time.Millisecond)
		}
		t.Logf("%s: here %v after its packets pass again", way.name, time.Since(healed).Round(10*time.Millisecond))
	}
	for n := range w.tasks {
		w.reaches(n, 6*time.Minute, "is over", func(p task.Present) bool { return p.Status == store.Idle })
	}
	for name, all := range hosttest.Spans(t, ran) {
		if strings.HasPrefix(name, "again") {
			if begun := hosttest.Once(t, name, all); begun != 2 {
				t.Errorf("%s was begun %d times: %+v", name, begun, all)
			}
			t.Logf("%s: stopped %v after packets were dropped, begun again after %v", name, all[0].To.Sub(began).Round(100*time.Millisecond), all[len(all)-1].From.Sub(began).Round(100*time.Millisecond))
			continue
		}
		if len(all) != 1 {
			t.Errorf("%s was begun %d times: %+v", name, len(all), all)
		}
		t.Logf("%s: its command ended %v after packets passed again, at its end: %v", name, all[0].To.Sub(healed).Round(100*time.Millisecond), all[0].Ended)
	}
}
