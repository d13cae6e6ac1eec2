package auth

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

type fakeClock struct{ t time.Time }

func (c *fakeClock) now() time.Time { return c.t }

// TestAttempts: the wait grows, does not grow while waited for, is bounded and
// forgiven; addresses do not harm each other.
func TestAttempts(t *testing.T) {
	clock := &fakeClock{time.Unix(1e9, 0)}
	a := NewAttempts(clock.now)
	evil, good := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for i := range freeFailures - 1 {
		if wait, n, early := a.Fail(evil); wait != 0 || n != i+1 || early {
			t.Fatalf("failure %d: wait %v, count %d, early %v", i+1, wait, n, early)
		}
	}
	want := firstPause
	for range 12 {
		wait, _, early := a.Fail(evil)
		if wait != want || early {
			t.Fatalf("wait %v (early %v), want %v", wait, early, want)
		}
		clock.t = clock.t.Add(want / 2)
		if wait, _, early := a.Fail(evil); wait != want-want/2 || !early {
			t.Fatalf("early: wait %v (early %v), want what is left of %v", wait, early, want)
		}
		clock.t = clock.t.Add(want - want/2)
		want = min(2*want, longestPause)
		// An early attempt counts for the next pause too.
		want = min(2*want, longestPause)
	}
	if want != longestPause {
		t.Errorf("the wait reached only %v", want)
	}
	if wait, n, _ := a.Fail(good); wait != 0 || n != 1 {
		t.Errorf("another address: wait %v, count %d", wait, n)
	}
	clock.t = clock.t.Add(forgiven + longestPause)
	if wait, n, _ := a.Fail(evil); wait != 0 || n != 1 {
		t.Errorf("after a long time: wait %v, count %d", wait, n)
	}
}

// TestAttemptsBounded: no number of addresses takes more memory, and those of
// one network count as one.
func TestAttemptsBounded(t *testing.T) {
	clock := &fakeClock{time.Unix(1e9, 0)}
	a := NewAttempts(clock.now)
	for i := range 1000 {
		a.Fail(netip.MustParseAddr(fmt.Sprintf("2001:db8::%x%%eth0", i)))
		a.Fail(netip.MustParseAddr(fmt.Sprintf("2001:db8::%x:1", i)))
	}
	if len(a.from) != 1 {
		t.Errorf("%d entries for one network", len(a.from))
	}
	for i := range maxAddresses + 1000 {
		a.Fail(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
	}
	if len(a.from) > maxAddresses+1 {
		t.Errorf("%d entries", len(a.from))
	}
	if wait, _, _ := a.Fail(netip.MustParseAddr("198.51.100.7")); wait == 0 {
		t.Error("a newcomer in a crowd of failures is answered at once")
	}
	clock.t = clock.t.Add(forgiven + longestPause)
	if wait, n, _ := a.Fail(netip.MustParseAddr("198.51.100.7")); wait != 0 || n != 1 {
		t.Errorf("when the crowd has gone: wait %v, count %d", wait, n)
	}
	a.Fail(netip.Addr{}) // an address unknown
	if wait, _, _ := a.Fail(netip.MustParseAddr("::ffff:198.51.100.7")); wait != 0 {
		t.Error("mapped addresses")
	} else if f := a.from[Subnet(netip.MustParseAddr("198.51.100.7"))]; f == nil || f.count != 2 {
		t.Errorf("an IPv4 address mapped into IPv6 counts apart: %+v", f)
	}
}
