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

// An agent's background terminal is ended after guard.Limits.Idle without input and output
// (T38–T41, docs/contributing/decisions.md §25), or as long after its agent has gone. It can be
// read for as long again, and is then removed. Each terminal has one timer, which is reset only
// when it fires: output only stores the time.

// background reports whether the idle time counts: an agent holds the terminal, nobody sees it
// or waits for it, and no requested command runs in it.
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

// fromTheSide reports whether a session holds the terminal that the host does not run. The
// host's own sessions end their terminals themselves.
func (t *Terminal) fromTheSide(tx core.Tx) bool {
	return t.ts.Host.SessionOwner(tx, t.Value.Claim.Session) == ""
}

// abandoned reports whether a session that the host does not run holds the terminal, and its
// agent has gone.
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

// watchIdle sets or stops the timer of a terminal that is new, or whose claim has changed.
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

// checkIdle is called by the timer. It ends a terminal whose time is up, removes one that has
// ended, or resets the timer.
func (t *Terminal) checkIdle(tx core.Tx) {
	idle, exited := t.ts.AgentLimits().Idle, t.Value.Lifecycle.Exited()
	if now, ok := At(tx, t.ch.URI); !ok || now != t || tx.Closing() || idle <= 0 || t.Value.Claim.Kind != ahp.ClaimSession || exited && !t.fromTheSide(tx) {
		t.idle = nil // promoted, kept or gone: the time counts again only after another claim
		return
	}
	if !t.background(tx) {
		t.begun = time.Now() // count from when it is in the background again
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

// noteAgent notes which agent holds a terminal when p changes its claim to to. An agent that
// loses the terminal keeps its name there, for a hand-back, but not its place in the quota. An
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

// retake restores the place in the quota, and the idle time, of a terminal of an earlier host.
func (t *Terminal) retake(tx core.Tx) {
	t.watchIdle(tx)
	if t.place == "" || t.slot != nil || t.Value.Claim.Kind != ahp.ClaimSession || t.Value.Lifecycle.Exited() {
		return
	}
	t.slot = t.ts.quotas.Retake(t.place)
}
