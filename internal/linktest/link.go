package linktest

import (
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// Link is how a way is, in each direction.
type Link struct {
	Delay time.Duration
	Rate  int     // bytes a second, 0: any
	Loss  float64 // of packets
}

// Direction is one of a way's two.
type Direction int

// The directions.
const (
	Out Direction = iota // from who dials
	In
)

const (
	packetBytes = 1400
	resend      = 200 * time.Millisecond // TCP's shortest on Linux
	queued      = 256                    // packets, what a router holds
)

// Proxy passes on what comes to Addr.
type Proxy struct {
	Addr string

	link Link
	mu   sync.Mutex
	open [2]chan struct{} // closed while the direction is open
	all  []net.Conn
	over bool
}

// New listens for what goes to an address.
func (l Link) New(t testing.TB, to string, seed uint64) *Proxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: ln.Addr().String(), link: l}
	for d := range p.open {
		p.open[d] = make(chan struct{})
		close(p.open[d])
	}
	var running sync.WaitGroup
	t.Cleanup(func() {
		ln.Close()
		p.mu.Lock()
		p.over = true
		all := p.all
		p.mu.Unlock()
		p.Heal()
		for _, c := range all {
			c.Close()
		}
		running.Wait()
	})
	running.Go(func() {
		for each := seed + 1; ; each++ {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.connect(near, to, each) })
		}
	})
	return p
}

// Cut drops what goes in these directions from now on, without a word, and in no other.
func (p *Proxy) Cut(directions ...Direction) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.open {
		d := Direction(i)
		select {
		case <-p.open[d]:
			if slices.Contains(directions, d) && !p.over {
				p.open[d] = make(chan struct{})
			}
		default:
			if !slices.Contains(directions, d) {
				close(p.open[d])
			}
		}
	}
}

func (p *Proxy) Heal() { p.Cut() }

// through waits until a direction is open.
func (p *Proxy) through(d Direction) {
	p.mu.Lock()
	open := p.open[d]
	p.mu.Unlock()
	<-open
}

// keep has a connection closed at the end.
func (p *Proxy) keep(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all = append(p.all, c); p.over {
		c.Close()
	}
}

func (p *Proxy) connect(near net.Conn, to string, seed uint64) {
	defer near.Close()
	p.keep(near)
	p.through(Out) // the first packet of a connection
	p.through(In)
	far, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	p.keep(far)
	var both sync.WaitGroup
	both.Go(func() { p.pass(near, far, Out, rand.New(rand.NewPCG(seed, 0))) })
	both.Go(func() { p.pass(far, near, In, rand.New(rand.NewPCG(seed, 1))) })
	both.Wait()
}

type packet struct {
	data []byte
	due  time.Time
}

func (p *Proxy) pass(from, to net.Conn, d Direction, r *rand.Rand) {
	defer from.Close()
	line := make(chan packet, queued)
	var writer sync.WaitGroup
	writer.Go(func() {
		defer to.Close()
		for next := range line {
			time.Sleep(time.Until(next.due))
			p.through(d)
			if _, err := to.Write(next.data); err != nil {
				p.through(1 - d) // that it is gone is news, too
				from.Close()
			}
		}
		p.through(d)
	})
	var free time.Time // when the line can take the next packet
	buf := make([]byte, packetBytes)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			now := time.Now()
			if free.Before(now) {
				free = now
			}
			if p.link.Rate > 0 {
				free = free.Add(time.Duration(n) * time.Second / time.Duration(p.link.Rate))
			}
			if r.Float64() < p.link.Loss {
				free = free.Add(resend)
			}
			line <- packet{slices.Clone(buf[:n]), free.Add(p.link.Delay)}
		}
		if err != nil {
			break
		}
	}
	close(line)
	writer.Wait()
}
