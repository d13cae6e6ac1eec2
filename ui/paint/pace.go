package paint

import "time"

// FrameInterval is the shortest time between two frames of a flood: 8 ms, two
// frames of a 60 Hz screen.
const FrameInterval = 8 * time.Millisecond

// Pace decides when to paint: at once when the last frame is older than an
// interval, so that the echo of a key does not wait; else once, at the
// interval's end. It has no clock and no timer of its own.
type Pace struct {
	last  time.Time
	armed bool
}

// Next says what to do when something has changed: paint now (wait is 0), or
// paint when the given time has passed, or, with wait under 0, nothing, as a
// timer runs already.
func (p *Pace) Next(now time.Time) (wait time.Duration) {
	left := FrameInterval - now.Sub(p.last)
	switch {
	case left <= 0 || left > FrameInterval: // the clock may have been set back
		return 0
	case p.armed:
		return -1
	}
	p.armed = true
	return left
}

// Fired records that the timer has run out.
func (p *Pace) Fired() { p.armed = false }

// Painted records a frame.
func (p *Pace) Painted(now time.Time) { p.last = now }
