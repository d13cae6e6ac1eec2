package auth

import (
	"net/netip"
	"sync"
	"time"
)

// Bounds of failed attempts to connect.
const (
	// freeFailures of one address are answered at once; after each further one
	// its next attempt has to wait, twice as long each time.
	freeFailures = 10
	firstPause   = time.Second
	longestPause = time.Minute
	// forgiven is how long an address must have been quiet to be forgotten.
	forgiven = 10 * time.Minute
	// maxAddresses are remembered; all others share one entry when there are
	// more, until some are forgiven.
	maxAddresses = 1024
)

// Attempts counts failed attempts to connect by remote address, in bounded
// memory. It decides how failures are answered, never whether a right token is
// let in: behind one address may be many people (all of a machine share its
// loopback), whom one of them must not lock out, and 256 random bits are not
// guessed at any rate. Its methods may be called from any goroutine.
type Attempts struct {
	now func() time.Time

	mu   sync.Mutex
	from map[netip.Prefix]*failures
}

// failures are those of one address.
type failures struct {
	count int
	last  time.Time
	until time.Time // attempts before this fail unseen
}

// NewAttempts makes an empty count; now is its clock.
func NewAttempts(now func() time.Time) *Attempts {
	return &Attempts{now: now, from: map[netip.Prefix]*failures{}}
}

// Fail notes a failed attempt and gives how long the next has to wait, and how
// many there were. An attempt during the wait does not prolong it; then early is
// set.
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

// entry finds an address's failures, or makes them. The caller holds mu.
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
		p = netip.Prefix{} // the crowd's
		if f := a.from[p]; f != nil {
			return f
		}
	}
	f := &failures{}
	a.from[p] = f
	return f
}

// Subnet is what counts as one address: an IPv4 address, or the network of 64
// bits that an IPv6 host may choose its address from.
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
