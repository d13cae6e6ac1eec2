package host

import (
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
)

// An agent's background terminal that has been without input and output for
// guard.Limits.Idle is ended (T38–T41, docs/decisions.md §25). One timer for each, which is
// set anew only when it fires: what it counts from is noted, not rescheduled, so
// output costs a store.

// background reports whether the time counts: an agent holds it, no tool call
// runs in it, and nobody sees it.
func (t *term) background(tx core.Tx) bool {
	c := t.value.Claim
	return c.Kind == ahp.ClaimSession && c.ToolCallID == "" && !t.value.Lifecycle.Exited() && !t.inLayout(tx)
}

// inLayout reports whether a layout shows the terminal.
func (t *term) inLayout(tx core.Tx) bool {
	for _, l := range t.h.layouts {
		if slices.Contains(l.value.Terminals, t.ch.URI) {
			return true
		}
	}
	return false
}

// watchIdle sees to the timer of a terminal that is new, or whose claim has changed.
func (t *term) watchIdle(tx core.Tx) {
	h := t.h
	t.begun = time.Now()
	idle := h.agentLimits().Idle
	if idle <= 0 || t.idle != nil || t.value.Claim.Kind != ahp.ClaimSession {
		return
	}
	t.idle = time.AfterFunc(idle, func() { h.core.Do(func(tx core.Tx) { t.checkIdle(tx) }) })
}

func latest(times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// checkIdle ends a terminal whose time is up, or waits on.
func (t *term) checkIdle(tx core.Tx) {
	if now, ok := termAt(tx, t.ch.URI); !ok || now != t || tx.Closing() || t.value.Claim.Kind != ahp.ClaimSession || t.value.Lifecycle.Exited() {
		t.idle = nil // promoted, ended or gone: never again, unless it is claimed again
		return
	}
	idle := t.h.agentLimits().Idle
	if !t.background(tx) {
		t.begun = time.Now() // the time begins when it is in the background again
	}
	left := idle - time.Since(latest(t.begun, t.typed, t.attention.Output))
	if idle <= 0 {
		t.idle = nil
		return
	}
	if left > 0 {
		t.idle.Reset(left)
		return
	}
	t.idle = nil
	t.h.audit.Note("inactive", "terminal", t.ch.URI, "held by", claimText(t.value.Claim), "after", idle)
	t.h.log.Info("end an agent's terminal", "why", "no input or output", "for", idle)
	t.dispose(tx)
}
