package front

import (
	"net"
	"net/netip"
	"sync"

	"tandemux/host/auth"
)

// share counts what is in use, in all and by each.
type share[K comparable] struct {
	most, each int

	mu  sync.Mutex
	all int
	by  map[K]int
}

func newShare[K comparable](most, each int) *share[K] {
	return &share[K]{most: most, each: each, by: map[K]int{}}
}

// take counts one in, if there is room.
func (s *share[K]) take(k K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= s.most || s.by[k] >= s.each {
		return false
	}
	s.all++
	s.by[k]++
	return true
}

func (s *share[K]) give(k K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.by[k]--; s.by[k] == 0 {
		delete(s.by, k)
	}
}

const (
	maxConnections = 8192
	maxOfAddress   = 2048 // a company may be behind one
)

// bound closes connections that are too many, of all and of an address.
func bound(ln net.Listener) net.Listener {
	return &bounded{ln, newShare[netip.Prefix](maxConnections, maxOfAddress)}
}

type bounded struct {
	net.Listener
	open *share[netip.Prefix]
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		addr, _ := netip.ParseAddrPort(c.RemoteAddr().String())
		from := auth.Subnet(addr.Addr())
		if b.open.take(from) {
			return &counted{Conn: c, gone: sync.OnceFunc(func() { b.open.give(from) })}, nil
		}
		c.Close()
	}
}

type counted struct {
	net.Conn
	gone func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.gone()
	return c.Conn.Close()
}
