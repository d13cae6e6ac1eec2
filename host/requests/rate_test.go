package requests

import (
	"testing"
	"time"
)

// TestRate: what was not used is there later, up to the burst, and no more.
func TestRate(t *testing.T) {
	now := time.Unix(1000, 0)
	r := newRate(10, 20)
	take := func(n int) (taken int) {
		for range n {
			if r.take(now) {
				taken++
			}
		}
		return taken
	}
	for _, c := range []struct {
		pause time.Duration
		want  int
	}{{0, 20}, {0, 0}, {99 * time.Millisecond, 0}, {time.Millisecond, 1}, {time.Second, 10}, {time.Hour, 20}, {-time.Hour, 0}} {
		now = now.Add(c.pause)
		if got := take(30); got != c.want {
			t.Errorf("after %v: %d, want %d", c.pause, got, c.want)
		}
	}
}
