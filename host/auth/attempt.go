package auth

import (
	"net/netip"
	"sync"
	"time"
)

// Bounds of failed attempts to connect.
const (
	// freeFailures of one address are answered at once. After each further failure the next attempt
	// has to wait, twice as long each time.
	freeFailures = 10
	firstPause   = time.Second
	longestPause = time.Minute
	// forgiven is after how long without attempts an address is forgotten.
	forgiven = 10 * time.Minute
	// maxAddresses bounds the addresses that are remembered. Further ones share one entry until some
	// are forgotten.
	maxAddresses = 1024
)

// Attempts counts failed attempts to connect by remote address, in bounded memory. It delays the
// answers to failures, but never refuses a valid token: many people may share an address (all of a
// machine share its loopback), and none of them may lock the others out; 256 random bits can't be
// guessed at any rate. Its methods may be called from any goroutine.
type Attempts struct {
	now func() time.Time

	mu   sync.Mutex
	from map[netip.Prefix]*failures
}

// failures are the failures of one address.
type failures struct {
	count int
	last  time.Time
	until time.Time // attempts before this are not counted
}

// NewAttempts returns an empty Attempts with now as its clock.
func NewAttempts(now func() time.Time) *Attempts {
	return &Attempts{now: now, from: map[netip.Prefix]*failures{}}
}

// Fail notes a failed attempt, and returns how long the next one has to wait and how many there were.
// early says that this attempt did not wait; it does not prolong the wait.
func (a *Attempts) Fail(addr netip.Addr) (wait time.Duration, count int, early bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	f := a.entry(Subnet(addr), now)
	if now.Sub(f.last) > forgiven && now.After(f.until) {
		*f = failures{}
	}
	f.count++
	f.last = now
	if now.Before(f.until) {
		return f.until.Sub(now), f.count, true
	}
	if over := f.count - freeFailures; over >= 0 {
		pause := longestPause
		if over < 6 {
			pause = min(firstPause<<over, longestPause)
		}
		f.until = now.Add(pause)
		return pause, f.count, false
	}
	return 0, f.count, false
}

// entry returns an address's failures, and makes them if needed. The caller holds mu.
func (a *Attempts) entry(p netip.Prefix, now time.Time) *failures {
	if f := a.from[p]; f != nil {
		return f
	}
	if len(a.from) >= maxAddresses {
		for q, f := range a.from {
			if now.Sub(f.last) > forgiven {
				delete(a.from, q)
			}
		}
	}
	if len(a.from) >= maxAddresses {
		p = netip.Prefix{} // the entry that further addresses share
		if f := a.from[p]; f != nil {
			return f
		}
	}
	f := &failures{}
	a.from[p] = f
	return f
}

// Subnet returns what counts as one address: an IPv4 address, or an IPv6 network of 64 bits, in which
// a host may choose its address.
func Subnet(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	p, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
