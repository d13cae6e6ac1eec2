package front

import (
	"net"
	"net/http"
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

// connections bounds those of a listener, of all and of an address, until they are taken
// over by a handler, whose requests are counted.
type connections struct {
	share *share[netip.Prefix]

	mu   sync.Mutex
	from map[net.Conn]netip.Prefix
}

// count is http.Server's ConnState.
func (o *connections) count(c net.Conn, state http.ConnState) {
	o.mu.Lock()
	defer o.mu.Unlock()
	from, counted := o.from[c]
	switch {
	case state == http.StateNew:
		addr, _ := netip.ParseAddrPort(c.RemoteAddr().String()) //nolint:errcheck // the unix socket's has none
		if from = auth.Subnet(addr.Addr()); !o.share.take(from) {
			c.Close()
			return
		}
		if o.from == nil {
			o.from = map[net.Conn]netip.Prefix{}
		}
		o.from[c] = from
	case counted && (state == http.StateHijacked || state == http.StateClosed):
		delete(o.from, c)
		o.share.give(from)
	}
}
