package host

import (
	"slices"
	"time"

	"tandemux/ahp"
)

// An agent's background terminal that has been without input and output for
// Belt.Idle is ended (T38–T41, docs/decisions.md §25). One timer for each, which is
// set anew only when it fires: what it counts from is noted, not rescheduled, so
// output costs a store.

// background reports whether the time counts: an agent holds it, no tool call
// runs in it, and nobody sees it.
func (tx Tx) background(t *term) bool {
	c := t.value.Claim
	return c.Kind == ahp.ClaimSession && c.ToolCallID == "" && !t.value.Lifecycle.Exited() && !tx.inLayout(t)
}

// inLayout reports whether a layout shows the terminal.
func (tx Tx) inLayout(t *term) bool {
	for _, l := range tx.layouts {
		if slices.Contains(l.value.Terminals, t.ch.uri) {
			return true
		}
	}
	return false
}

// watchIdle sees to the timer of a terminal that is new, or whose claim has changed.
func (h *Host) watchIdle(tx Tx, t *term) {
	t.begun = time.Now()
	idle := h.belt().Idle
	if idle <= 0 || t.idle != nil || t.value.Claim.Kind != ahp.ClaimSession {
		return
	}
	t.idle = time.AfterFunc(idle, func() { h.turn(func(tx Tx) { tx.checkIdle(t) }) })
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
func (tx Tx) checkIdle(t *term) {
	if now, ok := tx.termAt(tx, t.ch.uri); !ok || now != t || tx.closing || t.value.Claim.Kind != ahp.ClaimSession || t.value.Lifecycle.Exited() {
		t.idle = nil // promoted, ended or gone: never again, unless it is claimed again
		return
	}
	idle := tx.belt().Idle
	if !tx.background(t) {
		t.begun = time.Now() // the time begins when it is in the background again
	}
	left := idle - time.Since(latest(t.begun, t.typed, t.attention.output))
	if idle <= 0 {
		t.idle = nil
		return
	}
	if left > 0 {
		t.idle.Reset(left)
		return
	}
	t.idle = nil
	tx.audit.Note("inactive", "terminal", t.ch.uri, "held by", claimText(t.value.Claim), "after", idle)
	tx.log.Info("end an agent's terminal", "why", "no input or output", "for", idle)
	tx.endTerm(t)
}
