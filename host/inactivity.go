package host

import (
	"context"
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
func (h *Host) background(t *term) bool {
	c := t.value.Claim
	return c.Kind == ahp.ClaimSession && c.ToolCallID == "" && !t.value.Lifecycle.Exited() && !h.inLayout(t)
}

// inLayout reports whether a layout shows the terminal. The caller holds h.mu.
func (h *Host) inLayout(t *term) bool {
	for _, l := range h.layouts {
		if slices.Contains(l.value.Terminals, t.ch.uri) {
			return true
		}
	}
	return false
}

// watchIdle sees to the timer of a terminal that is new, or whose claim has
// changed. The caller holds h.mu.
func (h *Host) watchIdle(t *term) {
	t.begun = time.Now()
	idle := h.belt().Idle
	if idle <= 0 || t.idle != nil || t.value.Claim.Kind != ahp.ClaimSession {
		return
	}
	t.idle = time.AfterFunc(idle, func() { h.turn(func() { h.checkIdle(t) }) })
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
func (h *Host) checkIdle(t *term) {
	if now, ok := h.termAt(t.ch.uri); !ok || now != t || h.closing || t.value.Claim.Kind != ahp.ClaimSession || t.value.Lifecycle.Exited() {
		t.idle = nil // promoted, ended or gone: never again, unless it is claimed again
		return
	}
	idle := h.belt().Idle
	if !h.background(t) {
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
	h.audit.Note("inactive", "terminal", t.ch.uri, "held by", claimText(t.value.Claim), "after", idle)
	h.log.Info("end an agent's terminal", "why", "no input or output", "for", idle)
	h.removeTerm(t)
	h.ending.Add(1)
	go func() {
		defer h.ending.Done()
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		h.end(ctx, t)
	}()
}
