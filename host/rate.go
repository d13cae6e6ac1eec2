package host

import (
	"fmt"
	"time"

	"tandemux/ahp"
)

// rate bounds how often a connection may ask for something: a full bucket of
// burst, refilled with perSecond. It belongs to the connection's goroutine.
type rate struct {
	perSecond, burst int
	tokens           float64
	at               time.Time
}

func newRate(perSecond, burst int) rate {
	return rate{perSecond: perSecond, burst: burst, tokens: float64(burst)}
}

// take reports whether one more is allowed now.
func (r *rate) take(now time.Time) bool {
	r.tokens = min(float64(r.burst), r.tokens+now.Sub(r.at).Seconds()*float64(r.perSecond))
	r.at = now
	if r.tokens < 1 {
		return false
	}
	r.tokens--
	return true
}

// tooMany is the refusal of a request beyond the rate.
func (r *rate) tooMany(method string) error {
	return ahp.Conflict("%s: more than %d requests at once, or %d a second: slow down", method, r.burst, r.perSecond)
}

// tooFast is the refusal of a dispatch beyond the rate.
func (r *rate) tooFast() string {
	return fmt.Sprintf("more than %d actions at once, or %d a second: slow down", r.burst, r.perSecond)
}
