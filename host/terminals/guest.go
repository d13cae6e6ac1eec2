package terminals

import (
	"errors"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/guard"
)

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

// letAgentGo ends what agents wait for and count of a terminal that is removed.
func (t *Terminal) letAgentGo(tx core.Tx) {
	t.slot.End()
	if t.idle != nil {
		t.idle.Stop()
		t.idle = nil
	}
	if t.asked != nil {
		t.asked.settle(tx, ahp.AskRefused)
	}
}

// Denied is an error in AHP's words.
func Denied(err error) error {
	var r *guard.Refusal
	if errors.As(err, &r) {
		return ahp.PermissionDenied("%s", r.MCP())
	}
	return err
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
