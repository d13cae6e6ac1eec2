package main

import (
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdHostSignal sends the host a signal: hostsignal stop|cont|term.
func cmdHostSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"stop": syscall.SIGSTOP, "cont": syscall.SIGCONT, "term": syscall.SIGTERM, "kill": syscall.SIGKILL}
	if neg || len(args) != 1 || signals[args[0]] == 0 {
		ts.Fatalf("usage: hostsignal stop|cont|term|kill")
	}
	pid := hostPid(filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "tandemux"))
	if pid == 0 {
		ts.Fatalf("no host runs")
	}
	ts.Check(syscall.Kill(pid, signals[args[0]]))
}

// network is a TCP proxy that can fail like a network.
type network struct {
	target string
	ln     net.Listener

	mu    sync.Mutex // guards the following
	moved *sync.Cond
	how   string // "mend", "drop" or "swallow"
	conns map[net.Conn]bool
}

type networkKey struct{}

// cmdNetwork is a way to a host that fails on demand:
//
//	network start HOST:PORT    or @FILE; $NETWORK is where it is reached
//	network drop               ends all connections, and new ones at once
//	network swallow            lets nothing through, and ends nothing
//	network mend
func cmdNetwork(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: network start HOST:PORT|drop|swallow|mend")
	}
	if args[0] == "start" {
		target := args[1]
		if file, ok := strings.CutPrefix(target, "@"); ok {
			target = ts.ReadFile(file)
		}
		// The host answers only who names its own port.
		_, port, err := net.SplitHostPort(target)
		ts.Check(err)
		ln, err := net.Listen("tcp", "127.0.0.2:"+port)
		ts.Check(err)
		n := &network{target: target, ln: ln, how: "mend", conns: map[net.Conn]bool{}}
		n.moved = sync.NewCond(&n.mu)
		ts.Setenv("NETWORK", ln.Addr().String())
		ts.Value(networkKey{}).(map[string]*network)["it"] = n
		ts.Defer(func() {
			n.set("drop")
			ln.Close()
		})
		go n.serve()
		return
	}
	ts.Value(networkKey{}).(map[string]*network)["it"].set(args[0])
}

func (n *network) set(how string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.how = how
	n.moved.Broadcast()
	if how == "drop" {
		for c := range n.conns {
			c.Close()
		}
	}
}

func (n *network) serve() {
	for {
		near, err := n.ln.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", n.target)
		n.mu.Lock()
		if err != nil || n.how == "drop" {
			near.Close()
			if far != nil {
				far.Close()
			}
			n.mu.Unlock()
			continue
		}
		n.conns[near], n.conns[far] = true, true
		n.mu.Unlock()
		go n.carry(near, far)
		go n.carry(far, near)
	}
}

// carry moves bytes one way while the network lets them through.
func (n *network) carry(to, from net.Conn) {
	defer func() {
		to.Close()
		from.Close()
		n.mu.Lock()
		delete(n.conns, to)
		delete(n.conns, from)
		n.mu.Unlock()
	}()
	buf := make([]byte, 32<<10)
	for {
		k, err := from.Read(buf)
		n.mu.Lock()
		for n.how == "swallow" {
			n.moved.Wait()
		}
		n.mu.Unlock()
		if k > 0 {
			if _, err := to.Write(buf[:k]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
