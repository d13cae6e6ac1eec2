package host

import (
	"errors"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/guard"
)

// agentLimits are those in force.
func (h *Host) agentLimits() guard.Limits {
	if h.cfg.AgentLimits != nil {
		return h.cfg.AgentLimits()
	}
	return guard.DefaultLimits()
}

// judge decides whether an agent may run a command, or a line of a shell's if there is
// one. Why not is a guard.Refusal.
func (h *Host) judge(argv []string, line string) error {
	policy := h.agentLimits().Policy
	refused := policy.Check(argv)
	if line != "" {
		refused = policy.CheckLine(line)
	}
	if refused != nil {
		return refused
	}
	return nil
}

// asDenied is an error in AHP's words.
func asDenied(err error) error {
	var r *guard.Refusal
	if errors.As(err, &r) {
		return ahp.PermissionDenied("%s", r.MCP())
	}
	return err
}

// retake gives a terminal of an earlier host its place again, and its time without
// input and output.
func (t *term) retake(tx core.Tx) {
	t.watchIdle(tx)
	if t.place == "" || t.slot != nil || t.value.Claim.Kind != ahp.ClaimSession || t.value.Lifecycle.Exited() {
		return
	}
	t.slot = t.h.quotas.Retake(t.place)
}
