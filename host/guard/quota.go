package guard

import (
	"fmt"
	"sync"
	"time"
)

// Quota limits how many terminals an agent has at once, and how many it starts
// in a while (T12, T13; rulings.md §3.3). It is made by NewQuota; its methods may
// be called from any goroutine.
type Quota struct {
	live, rate int
	window     time.Duration
	now        func() time.Time

	mu     sync.Mutex
	held   int
	starts []time.Time // within the window, oldest first; at most rate
}

// NewQuota allows live terminals at once, and rate starts in any window of time;
// 0 means any number of either. now is the clock; nil means time.Now.
func NewQuota(live, rate int, window time.Duration, now func() time.Time) *Quota {
	if now == nil {
		now = time.Now
	}
	return &Quota{live: live, rate: rate, window: window, now: now}
}

// LimitError is the refusal of one terminal too many.
type LimitError struct{ text string }

// Error is the documents' text (T15, T16).
func (e *LimitError) Error() string { return e.text }

// Slot is a place under a Quota.
type Slot struct {
	q     *Quota
	at    time.Time
	mu    sync.Mutex
	ended bool
}

// Reserve takes a place, or says with a *LimitError why there is none. What is
// refused doesn't count.
func (q *Quota) Reserve() (*Slot, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.now()
	for len(q.starts) > 0 && at.Sub(q.starts[0]) >= q.window {
		q.starts = q.starts[1:]
	}
	switch {
	case q.rate > 0 && len(q.starts) >= q.rate:
		return nil, &LimitError{fmt.Sprintf("Spawn rate limit exceeded (max %d/%s)", q.rate, per(q.window))}
	case q.live > 0 && q.held >= q.live:
		return nil, &LimitError{fmt.Sprintf("Maximum concurrent agent terminals reached (%d)", q.live)}
	}
	q.held++
	if q.rate > 0 {
		q.starts = append(q.starts, at)
	}
	return &Slot{q: q, at: at}, nil
}

func per(window time.Duration) string {
	if window == time.Minute {
		return "minute"
	}
	return window.String()
}

// End gives the place back when the terminal has ended. Later calls do nothing,
// and neither does that of a nil Slot.
func (s *Slot) End() { s.end(false) }

// Cancel gives the place back as if it had never been taken: nothing was started.
func (s *Slot) Cancel() { s.end(true) }

func (s *Slot) end(never bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	s.q.held--
	if !never {
		return
	}
	for i, at := range s.q.starts {
		if at.Equal(s.at) {
			s.q.starts = append(s.q.starts[:i:i], s.q.starts[i+1:]...)
			return
		}
	}
}
