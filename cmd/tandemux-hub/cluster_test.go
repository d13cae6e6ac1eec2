package main

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tandemux/internal/hosttest"
)

// freePorts are of loopback, taken by nobody just now.
func freePorts(t *testing.T, n int) (addrs []string) {
	t.Helper()
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		addrs = append(addrs, ln.Addr().String())
	}
	return addrs
}

// TestCluster: three hubs are one, and say so to each other by TLS. kill -9 of the one that a host is joined to, and the
// others list it as here within five seconds, know the tokens that it made, carry
// connections to the host, and let in a further one.
func TestCluster(t *testing.T) {
	t.Parallel()
	const nodes = 3
	everywhere := func(addr string) string { return strings.Replace(addr, "127.0.0.1", "0.0.0.0", 1) }
	ports := freePorts(t, 2*nodes)
	var machines [nodes]*hosttest.Machine
	var hubs [nodes]*process
	var fronts [nodes]string
	for i := range nodes {
		m := hosttest.New(t, "")
		machines[i] = m
		if i > 0 { // what makes a node one of the hub
			const dir = ".local/state/tandemux/hub"
			from := filepath.Join(machines[0].Dir, dir, "identity.json")
			m.Eventually("the first node has made its keys", func() bool { _, err := os.Stat(from); return err == nil })
			m.Must(os.MkdirAll(filepath.Join(m.Dir, dir), 0o700))
			for _, name := range []string{"identity.json", "tls.crt", "tls.key"} {
				text, err := os.ReadFile(filepath.Join(machines[0].Dir, dir, name))
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
		hubs[i] = start(t, m, "", args...)
	}
	for i := range machines {
		for end := time.Now().Add(2 * time.Minute); !strings.Contains(hubs[i].text(), "hosts join at") && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond) // on a busy machine three nodes take their time to agree
		}
		fronts[i] = regexp.MustCompile(`ws://[0-9.:]+`).FindString(hubs[i].text())
	}
	build := hosttest.New(t, "")
	start(t, build, machines[0].Tandemux("hub", "invite", "build"), "join", "tls://"+ports[0])
	for _, m := range machines {
		m.Eventually("each node has the host", func() bool { return fleet(m)["build"].Present })
	}
	secret := strings.TrimSpace(machines[0].Tandemux("hub", "token", "new", "ci"))
	token := tokenFile(machines[2], build.Token("fleet"))

	began := time.Now()
	hubs[0].Process.Kill() //nolint:errcheck // it runs
	machines[1].Eventually("another node has the host, which joined it", func() bool {
		e := fleet(machines[1])["build"]
		return e.Present && e.Seen.After(began.Add(2*time.Second))
	})
	t.Logf("a node was killed: the host is here after %v", time.Since(began).Round(10*time.Millisecond))
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
	start(t, gpu, machines[1].Tandemux("hub", "invite", "gpu"), "join", "tls://"+ports[2])
	machines[1].Eventually("a further host joined", func() bool { return fleet(machines[1])["gpu"].Present })
	machines[1].Tandemux("hub", "revoke", "gpu")
	machines[2].Eventually("each node knows who was revoked", func() bool { _, is := fleet(machines[2])["gpu"]; return !is })
}
