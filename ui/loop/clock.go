package loop

import (
	"slices"
	"time"
)

// clock is how times that show follow the clock. A timer runs only while one shows.
type clock struct {
	skew    time.Duration // by how much this clock is ahead of the host's
	due     time.Duration // until what was drawn last changes, 0 for never
	ticking bool
}

// HostTime learns from what the host has just done, in Unix milliseconds, how its
// clock stands.
func (l *Loop) HostTime(ms int64) {
	if ms > 0 {
		l.clock.skew = l.now().Sub(time.UnixMilli(ms))
	}
}

// Since is how long ago something was by the host's clock.
func (l *Loop) Since(t time.Time) time.Duration { return max(l.now().Sub(t)-l.clock.skew, 0) }

// Counts says that a time is drawn that changes with each whole unit.
func (l *Loop) Counts(d, unit time.Duration) {
	if wait := unit - d%unit; l.clock.due == 0 || wait < l.clock.due {
		l.clock.due = wait
	}
}

// Tick draws the times again when they change. It is called after drawing.
func (l *Loop) Tick() {
	c := &l.clock
	if c.due == 0 || c.ticking {
		return
	}
	c.ticking = true
	l.After(c.due, func() {
		c.ticking, c.due = false, 0
		l.Dirty |= Chrome
	})
}

// maxSearches bounds what is remembered of what was looked for.
const maxSearches = 50

// Searched keeps what was looked for.
func (l *Loop) Searched(text string) {
	l.Searches = append(slices.DeleteFunc(l.Searches, func(s string) bool { return s == text }), text)
	if len(l.Searches) > maxSearches {
		l.Searches = l.Searches[1:]
	}
}

// LastSearch is what was looked for last, "" for nothing.
func (l *Loop) LastSearch() string {
	if len(l.Searches) == 0 {
		return ""
	}
	return l.Searches[len(l.Searches)-1]
}
