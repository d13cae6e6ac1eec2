package guard

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Quota limits how many terminals an agent has at once, and how many it starts
// in a while (T12, T13; docs/decisions.md §24). It is made by NewQuota; its methods
// may be called from any goroutine.
type Quota struct {
	of     string
	window time.Duration
	now    func() time.Time

	mu     sync.Mutex
	held   int
	starts []time.Time // within the window, oldest first; at most maxStarts
}

// maxStarts bounds the starts that are remembered, and with them any rate.
const maxStarts = 1000

// NewQuota counts the terminals of one agent, whom of names, and its starts in any
// window of time. now is the clock; nil means time.Now.
func NewQuota(of string, window time.Duration, now func() time.Time) *Quota {
	if now == nil {
		now = time.Now
	}
	return &Quota{of: of, window: window, now: now}
}

// Recall takes up starts that were counted before, as Starts gave them. Those of
// the future, by a clock that was set back, count as of now.
func (q *Quota) Recall(starts []time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for _, at := range starts[max(0, len(starts)-maxStarts):] {
		if at.After(now) {
			at = now
		}
		q.starts = append(q.starts, at)
	}
	slices.SortFunc(q.starts, time.Time.Compare)
}

// Starts are those within the window, oldest first.
func (q *Quota) Starts() []time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.slide(q.now())
	return slices.Clone(q.starts)
}

// Idle reports whether there is nothing to remember.
func (q *Quota) Idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.slide(q.now())
	return q.held == 0 && len(q.starts) == 0
}

func (q *Quota) slide(now time.Time) {
	for len(q.starts) > 0 && now.Sub(q.starts[0]) >= q.window {
		q.starts = q.starts[1:]
	}
}

// Retake takes a place for a terminal that has one already, whatever the limit is
// now.
func (q *Quota) Retake() *Slot {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held++
	return &Slot{q: q}
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

// Reserve takes a place of live at once, and of rate starts in the window; 0 means
// any number of either. It says with a *LimitError why there is none. What is
// refused doesn't count.
func (q *Quota) Reserve(live, rate int) (*Slot, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.now()
	q.slide(at)
	switch {
	case rate > 0 && len(q.starts) >= min(rate, maxStarts):
		return nil, &LimitError{fmt.Sprintf("Spawn rate limit exceeded (max %d/%s)", rate, per(q.window))}
	case live > 0 && q.held >= live:
		return nil, &LimitError{fmt.Sprintf("Maximum concurrent agent terminals reached (%d)", live)}
	}
	q.held++
	if rate > 0 {
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

// Of names whose place it is; empty once it was given back, and for a nil Slot.
func (s *Slot) Of() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return ""
	}
	return s.q.of
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
