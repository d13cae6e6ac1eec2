package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// freePorts are of loopback, taken by nobody just now.
func freePorts(t *testing.T, n int) (addrs []string) {
	t.Helper()
	for len(addrs) < n {
		port, err := hosttest.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if addr := "127.0.0.1:" + port; !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

// nodes is how many hubs a cluster has.
const nodes = 3

// cluster is three hubs that are one, and say so to each other by TLS.
type cluster struct {
	machines [nodes]*hosttest.Machine
	hubs     [nodes]*process
	joins    [nodes]string // where hosts join, HOST:PORT
	fronts   [nodes]string // ws://HOST:PORT
}

func startCluster(t *testing.T) (c cluster) {
	t.Helper()
	everywhere := func(addr string) string { return strings.Replace(addr, "127.0.0.1", "0.0.0.0", 1) }
	ports := freePorts(t, 2*nodes)
	for i := range nodes {
		m := hosttest.New(t, "")
		c.machines[i], c.joins[i] = m, ports[i]
		if i > 0 { // what makes a node one of the hub
			const dir = ".local/state/tandemux/hub"
			from := filepath.Join(c.machines[0].Dir, dir, "identity.json")
			m.Eventually("the first node has made its keys", func() bool { _, err := os.Stat(from); return err == nil })
			m.Must(os.MkdirAll(filepath.Join(m.Dir, dir), 0o700))
			for _, name := range []string{"identity.json", "tls.crt", "tls.key"} {
				text, err := os.ReadFile(filepath.Join(c.machines[0].Dir, dir, name))
				m.Must(err)
				m.Must(os.WriteFile(filepath.Join(m.Dir, dir, name), text, 0o600))
			}
		}
		args := []string{"hub", "serve", "--listen", "127.0.0.1:0", "--nats", everywhere(ports[i]), "--node", string(rune('a' + i)), "--cluster", everywhere(ports[nodes+i])}
		for j := range nodes {
			if j != i {
				args = append(args, "--route", ports[nodes+j])
			}
		}
		c.hubs[i] = start(t, m, "", args...)
	}
	for i := range nodes {
		for end := time.Now().Add(2 * time.Minute); !strings.Contains(c.hubs[i].text(), "hosts join at") && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond) // on a busy machine three nodes take their time to agree
		}
		c.fronts[i] = regexp.MustCompile(`ws://[0-9.:]+`).FindString(c.hubs[i].text())
	}
	return c
}

// TestCluster: kill -9 of the hub of three that a host is joined to, and the
// others list it as here within five seconds, know the tokens that it made, carry
// connections to the host, and let in a further one. An address is told what tasks do by one
// node, and by another when that is killed.
func TestCluster(t *testing.T) {
	t.Parallel()
	soak.Long(t, "three hubs")
	c := startCluster(t)
	machines, hubs, fronts := c.machines, c.hubs, c.fronts
	build := hosttest.New(t, "")
	start(t, build, machines[0].Tandemux("hub", "invite", "build"), "join", "tls://"+c.joins[0])
	for _, m := range machines {
		m.Eventually("each node has the host", func() bool { return fleet(m)["build"].Present })
	}
	secret := strings.TrimSpace(machines[0].Tandemux("hub", "token", "new", "ci"))
	token := tokenFile(machines[2], build.Token("fleet"))

	admin := keeper(machines[1])("admin", machines[0].Tandemux("hub", "token", "new", "me", "--scope", "admin"))
	tell(t, machines[1]).works(machines[1], []string{"--host", fronts[1], "--token-file", admin}, 2, func() {
		began := time.Now()
		hubs[0].Process.Kill() //nolint:errcheck // it runs
		machines[1].Eventually("another node has the host, which joined it", func() bool {
			e := fleet(machines[1])["build"]
			return e.Present && e.Seen.After(began.Add(2*time.Second))
		})
		t.Logf("a node was killed: the host is here after %v", time.Since(began).Round(10*time.Millisecond))
	})
	cmd := machines[2].Command("hub", "ls", "--host", fronts[2])
	cmd.Env = append(cmd.Env, "TANDEMUX_TOKEN="+secret)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "build") {
		t.Errorf("a token that the node made which was killed: %v, %s", err, out)
	}
	machines[2].Tandemux("hosts", "add", "build", fronts[2]+"/hosts/build/ahp", "--token-file", token)
	if out := machines[2].Tandemux("run", "--host", "build", "--", "echo", "carried"); strings.TrimSpace(out) != "carried" {
		t.Errorf("a command through another node says %q", out)
	}
	gpu := hosttest.New(t, "")
	start(t, gpu, machines[1].Tandemux("hub", "invite", "gpu"), "join", "tls://"+c.joins[2])
	machines[1].Eventually("a further host joined", func() bool { return fleet(machines[1])["gpu"].Present })
	machines[1].Tandemux("hub", "revoke", "gpu")
	machines[2].Eventually("each node knows who was revoked", func() bool { _, is := fleet(machines[2])["gpu"]; return !is })
}

// TestClusterTasks: kill -9 of the hub of three that hosts are joined to and that may lead,
// while tasks wait and are under way on three hosts: none is done twice, none is lost.
func TestClusterTasks(t *testing.T) {
	t.Parallel()
	soak.Long(t, "three hubs and three hosts")
	tasks := soak.Size(t, 18, 200)
	c := startCluster(t)
	home := c.machines[nodes-1]
	for i := range nodes {
		name := fmt.Sprint("host-", i)
		m := hosttest.New(t, "")
		start(t, m, c.machines[0].Tandemux("hub", "invite", name), "join", "--room", "4", "tls://"+c.joins[i%2]) // the third node has none
	}
	home.Eventually("all hosts are here", func() bool { return len(fleet(home)) == nodes })
	w := newWork(t, home)
	began := time.Now()
	for range tasks {
		w.add("sleep 0.3")
	}
	t.Logf("%d tasks were queued in %v", tasks, time.Since(began).Round(time.Millisecond))
	w.until("a quarter is over", func(over int) bool { return over >= tasks/4 })
	killed := time.Now()
	c.hubs[0].Process.Kill() //nolint:errcheck // it runs
	before := w.over()
	w.until("work goes on", func(over int) bool { return over > before })
	t.Logf("a node was killed with %d of %d over; the next was over after %v", before, tasks, time.Since(killed).Round(10*time.Millisecond))
	w.until("all are over", func(over int) bool { return over == tasks })
	t.Logf("all were over in %v", time.Since(began).Round(time.Millisecond))
	w.check(0)
}
