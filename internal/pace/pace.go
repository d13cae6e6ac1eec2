package pace

import (
	"context"
	"time"
)

const (
	// Interval is the time between two in a flood: 8 ms, two frames of a 60 Hz screen.
	Interval = 8 * time.Millisecond
	// Burst is how many may come at once after a rest.
	Burst = 6
)

// Pace is ready as it is.
type Pace struct {
	next time.Time // when the next of a flood would be
}

// Left is how long the next has to wait; 0 or less: not at all.
func (p *Pace) Left(now time.Time) time.Duration {
	left := p.next.Sub(now.Add((Burst - 1) * Interval))
	if left > Interval { // the clock was set back
		return 0
	}
	return left
}

// Took records one.
func (p *Pace) Took(now time.Time) {
	p.next = now.Add(min(max(p.next.Sub(now), 0)+Interval, Burst*Interval))
}

// Wake leaves a word in a channel that holds one: of several that were not taken one is enough.
func Wake(waits chan<- struct{}) {
	select {
	case waits <- struct{}{}:
	default:
	}
}

// Sleep waits for so long, or until ctx ends; it reports whether it was so long.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
