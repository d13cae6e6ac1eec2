package requests

import (
	"fmt"
	"time"
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

// exceeded says what is too much.
func (r *rate) exceeded(of string) string {
	return fmt.Sprintf("%d %s at once, or %d a second: slow down", r.burst, of, r.perSecond)
}
