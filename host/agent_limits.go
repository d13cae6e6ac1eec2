package host

import (
	"tandemux/ahp"
	"tandemux/host/auth"
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

// judge decides whether an agent may run a command, after its scope, ownership
// and directory were found right, and reserves its place: order matters
// (docs/decisions.md §22). Others get no place and need none.
func (h *Host) judge(p *auth.Principal, c ahp.CreateTerminalParams) (*guard.Slot, error) {
	if p.Agent == "" {
		return nil, nil
	}
	b := h.agentLimits()
	if c.Meta != nil {
		if r := b.Policy.Check(c.Meta.Command); r != nil {
			return nil, ahp.PermissionDenied("%s", r.MCP())
		}
	}
	if c.Claim.ToolCallID != "" {
		return h.reserveSlot(p.QuotaKey()+" calls", b.Calls, 0)
	}
	return h.reserveSlot(p.QuotaKey(), b.Terminals, b.Spawns)
}

// judgeLine is judge for a line of a shell's that has its terminal.
func (h *Host) judgeLine(p *auth.Principal, argv []string, line string) error {
	if p.Agent == "" {
		return nil
	}
	b := h.agentLimits()
	r := b.Policy.Check(argv)
	if line != "" {
		r = b.Policy.CheckLine(line)
	}
	if r != nil {
		return ahp.PermissionDenied("%s", r.MCP())
	}
	return nil
}

// reserveSlot takes a place under one of an agent's quotas.
func (h *Host) reserveSlot(of string, live, rate int) (*guard.Slot, error) {
	slot, err := h.quotas.Reserve(of, live, rate)
	if err != nil {
		return nil, ahp.Conflict("%s", err.Error())
	}
	return slot, nil
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
