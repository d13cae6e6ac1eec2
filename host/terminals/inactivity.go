package terminals

import (
	"fmt"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/claims"
	"tandemux/host/core"
)

// An agent's background terminal that has been without input and output for
// guard.Limits.Idle is ended (T38–T41, docs/contributing/decisions.md §25), and one whose agent
// has been gone for as long. What it was stays to be read for as long again. One timer for
// each, which is set anew only when it fires: what it counts from is noted, not rescheduled,
// so output costs a store.

// background reports whether the time counts: an agent holds it, nobody sees it or waits for
// it, and no command that was asked for runs in it.
func (t *Terminal) background(tx core.Tx) bool {
	switch c := t.Value.Claim; {
	case c.Kind != ahp.ClaimSession || t.InLayout(tx):
		return false
	case t.Value.Lifecycle.Exited():
		return true
	case c.ToolCallID != "" || len(t.watchers) > 0:
		return false
	}
	_, runs := t.Term.Running()
	return !runs || t.shell == "" && !strings.HasSuffix(t.slot.Of(), callsQuota)
}

// fromTheSide reports whether a session holds it that is not one of the host's, which have
// an end of their own.
func (t *Terminal) fromTheSide(tx core.Tx) bool {
	return t.ts.Host.SessionOwner(tx, t.Value.Claim.Session) == ""
}

// abandoned reports whether the agent from the side that holds it has gone.
func (t *Terminal) abandoned(tx core.Tx) bool {
	for cl := range tx.Clients() {
		if cl.Owner == t.Holder && cl.Here() {
			return false
		}
	}
	return auth.IsAgent(t.Holder) && t.fromTheSide(tx) && !t.InLayout(tx)
}

// InLayout reports whether a layout shows the terminal.
func (t *Terminal) InLayout(tx core.Tx) bool {
	shown, _ := t.ts.Host.Layouts(tx)
	return len(shown[t.ch.URI]) > 0
}

// watchIdle sees to the timer of a terminal that is new, or whose claim has changed.
func (t *Terminal) watchIdle(tx core.Tx) {
	ts := t.ts
	t.begun, t.present = time.Now(), time.Now()
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

// checkIdle ends a terminal whose time is up, removes one that has ended, or waits on.
func (t *Terminal) checkIdle(tx core.Tx) {
	idle, exited := t.ts.AgentLimits().Idle, t.Value.Lifecycle.Exited()
	if now, ok := At(tx, t.ch.URI); !ok || now != t || tx.Closing() || idle <= 0 || t.Value.Claim.Kind != ahp.ClaimSession || exited && !t.fromTheSide(tx) {
		t.idle = nil // promoted, kept or gone: never again, unless it is claimed again
		return
	}
	if !t.background(tx) {
		t.begun = time.Now() // the time begins when it is in the background again
	}
	if !t.abandoned(tx) {
		t.present = time.Now()
	}
	why, left := fmt.Sprintf("no input and output for %v", idle), idle-time.Since(latest(t.begun, t.typed, t.attention.Output))
	if gone := idle - time.Since(t.present); gone < left && !exited {
		why, left = fmt.Sprintf("its agent has been gone for %v", idle), gone
	}
	switch {
	case left > 0:
		t.idle.Reset(left)
	case exited:
		t.idle = nil
		t.Dispose(tx)
	default:
		t.idle.Reset(idle)
		t.Meta.Ended, t.dirty = why, true
		t.ts.Audit.Note("inactive", "terminal", t.ch.URI, "held by", claims.Text(t.Value.Claim), "why", why)
		t.ts.Log.Info("end an agent's terminal", "why", why)
		t.Kill(tx)
	}
}

// noteAgent notes which agent holds a terminal, as its claim changes to to, made
// by p. The name of one that lost it stays for a hand-back, but not its place; an
// agent below the host has its name from its session (session.label).
func (t *Terminal) noteAgent(to ahp.Claim, p *auth.Principal) {
	switch {
	case to.Kind == ahp.ClaimClient:
		t.slot.End()
	case t.Holder != p.ID:
	case p.Agent != "" || t.used == nil:
		t.Meta.Agent = p.Agent
	}
}

// retake gives a terminal of an earlier host its place again, and its time without
// input and output.
func (t *Terminal) retake(tx core.Tx) {
	t.watchIdle(tx)
	if t.place == "" || t.slot != nil || t.Value.Claim.Kind != ahp.ClaimSession || t.Value.Lifecycle.Exited() {
		return
	}
	t.slot = t.ts.quotas.Retake(t.place)
}
