package terminals

import (
	"time"

	"tandemux/ahp"
	"tandemux/host/claims"
	"tandemux/host/core"
)

// An agent's background terminal that has been without input and output for
// guard.Limits.Idle is ended (T38–T41, docs/contributing/decisions.md §25). One timer for each, which is
// set anew only when it fires: what it counts from is noted, not rescheduled, so
// output costs a store.

// background reports whether the time counts: an agent holds it, no tool call
// runs in it, and nobody sees it.
func (t *Terminal) background(tx core.Tx) bool {
	c := t.Value.Claim
	return c.Kind == ahp.ClaimSession && c.ToolCallID == "" && !t.Value.Lifecycle.Exited() && !t.InLayout(tx)
}

// InLayout reports whether a layout shows the terminal.
func (t *Terminal) InLayout(tx core.Tx) bool {
	return len(t.ts.Host.Layouts(tx)[t.ch.URI]) > 0
}

// watchIdle sees to the timer of a terminal that is new, or whose claim has changed.
func (t *Terminal) watchIdle(tx core.Tx) {
	ts := t.ts
	t.begun = time.Now()
	idle := ts.AgentLimits().Idle
	if idle <= 0 || t.idle != nil || t.Value.Claim.Kind != ahp.ClaimSession {
		return
	}
	t.idle = time.AfterFunc(idle, func() { ts.Core.Do(func(tx core.Tx) { t.checkIdle(tx) }) })
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
func (t *Terminal) checkIdle(tx core.Tx) {
	if now, ok := At(tx, t.ch.URI); !ok || now != t || tx.Closing() || t.Value.Claim.Kind != ahp.ClaimSession || t.Value.Lifecycle.Exited() {
		t.idle = nil // promoted, ended or gone: never again, unless it is claimed again
		return
	}
	idle := t.ts.AgentLimits().Idle
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
	t.ts.Audit.Note("inactive", "terminal", t.ch.URI, "held by", claims.Text(t.Value.Claim), "after", idle)
	t.ts.Log.Info("end an agent's terminal", "why", "no input or output", "for", idle)
	t.Dispose(tx)
}
