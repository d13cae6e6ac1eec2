package host

import (
	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
)

// errKept is what agents are told that end what is not theirs to end (T21).
const errKept = "Cannot kill visible or user-owned terminals"

// mayEnd decides what a guest may end: what its session holds and nobody sees
// (T20, docs/decisions.md §1). visible says that a layout shows it.
func mayEnd(p *auth.Principal, t *term, visible bool) string {
	if p.Agent == "" || t.value.Claim.Kind == ahp.ClaimSession && t.holds(p) && !visible {
		return ""
	}
	return errKept
}

// noteAgent notes which agent holds a terminal, as its claim changes to to, made
// by p. The name of one that lost it stays for a hand-back, but not its place; an
// agent below the host has its name from its session (session.label).
func (t *term) noteAgent(to ahp.Claim, p *auth.Principal) {
	switch {
	case to.Kind == ahp.ClaimClient:
		t.slot.End()
	case t.holder != p.ID:
	case p.Agent != "" || t.used == nil:
		t.meta.Agent = p.Agent
	}
}

// letAgentGo ends what agents wait for and count of a terminal that is removed.
func (t *term) letAgentGo(tx core.Tx) {
	t.slot.End()
	if t.idle != nil {
		t.idle.Stop()
		t.idle = nil
	}
	if t.asked != nil {
		t.asked.settle(tx, ahp.AskRefused)
	}
}
