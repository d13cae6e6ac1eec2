package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

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
	for end := time.Now().Add(10 * time.Second); args[0] == "stop" && !stopped(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("the host goes on")
		}
	}
}

// stopped reports whether all threads of a process are; true where that can't be known.
func stopped(pid int) bool {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
	return !slices.ContainsFunc(tasks, func(path string) bool {
		b, err := os.ReadFile(path)
		_, after, is := strings.Cut(string(b), ") ")
		return err == nil && is && after[0] != 'T'
	})
}

// network is a TCP proxy that can fail like a network.
type network struct {
	target string
	ln     net.Listener

	mu    sync.Mutex // guards the following
	moved *sync.Cond
	how   string        // "mend", "drop" or "swallow"
	delay time.Duration // each way
	conns map[net.Conn]bool
	lost  map[net.Conn]bool // those that nothing goes through any more
}

type networkKey struct{}

// cmdNetwork is a way to a host that fails on demand:
//
//	network start HOST:PORT    or @FILE; $NETWORK is where it is reached
//	network delay DURATION     each way
//	network drop               ends all connections, and new ones at once
//	network swallow            lets nothing through, and ends nothing
//	network move               lets nothing through of what is connected now, for good
//	network mend
func cmdNetwork(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: network start HOST:PORT|delay DURATION|drop|swallow|move|mend")
	}
	if args[0] == "start" {
		target := args[1]
		if file, ok := strings.CutPrefix(target, "@"); ok {
			target = ts.ReadFile(file)
		}
		n, err := startNetwork(target)
		ts.Check(err)
		ts.Setenv("NETWORK", n.ln.Addr().String())
		ts.Value(networkKey{}).(map[string]*network)["it"] = n
		ts.Defer(n.end)
		return
	}
	n := ts.Value(networkKey{}).(map[string]*network)["it"]
	if args[0] == "delay" {
		d, err := time.ParseDuration(args[1])
		ts.Check(err)
		n.slow(d)
		return
	}
	n.set(args[0])
}

// startNetwork is a way to an address.
func startNetwork(target string) (*network, error) {
	// The host answers only who names its own port.
	_, port, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.2:"+port)
	if err != nil {
		return nil, err
	}
	n := &network{target: target, ln: ln, how: "mend", conns: map[net.Conn]bool{}, lost: map[net.Conn]bool{}}
	n.moved = sync.NewCond(&n.mu)
	go n.serve()
	return n, nil
}

func (n *network) end() {
	n.set("drop")
	n.ln.Close()
}

func (n *network) slow(each time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = each
}

func (n *network) set(how string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.moved.Broadcast()
	if how == "move" {
		for c := range n.conns {
			n.lost[c] = true
		}
		return
	}
	n.how = how
	if how == "drop" {
		for c := range n.conns {
			c.Close()
		}
		clear(n.lost)
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

// parcel is what was read, and when it is there.
type parcel struct {
	due  time.Time
	data []byte
}

// carry moves bytes one way while the network lets them through.
func (n *network) carry(to, from net.Conn) {
	way := make(chan parcel, 4096)
	go n.deliver(to, from, way)
	defer close(way)
	for {
		buf := make([]byte, 32<<10)
		k, err := from.Read(buf)
		n.mu.Lock()
		delay := n.delay
		n.mu.Unlock()
		if k > 0 {
			way <- parcel{time.Now().Add(delay), buf[:k]}
		}
		if err != nil {
			return
		}
	}
}

// deliver is the other end of carry.
func (n *network) deliver(to, from net.Conn, way chan parcel) {
	defer func() {
		to.Close()
		from.Close()
		n.mu.Lock()
		delete(n.conns, to)
		delete(n.conns, from)
		n.mu.Unlock()
		for range way { // nobody gets it
		}
	}()
	for p := range way {
		time.Sleep(time.Until(p.due))
		n.mu.Lock()
		for n.how == "swallow" || n.lost[from] {
			n.moved.Wait()
		}
		n.mu.Unlock()
		if _, err := to.Write(p.data); err != nil {
			return
		}
	}
}
