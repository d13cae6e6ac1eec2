package host

import (
	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/terminals"
)

// This file keeps a token that is bound to one terminal to it, and who is in a
// sandbox to the terminals that run there. Whatever else they name is refused in the
// same words, there or not.

// shown is what a principal sees of the list of terminals.
func shown(tx core.Tx, p *auth.Principal, all []ahp.TerminalInfo) []ahp.TerminalInfo {
	if !p.Bounded() {
		return all
	}
	some := []ahp.TerminalInfo{}
	for _, t := range all {
		if terminals.Reaches(tx, p, t.Resource) {
			some = append(some, t)
		}
	}
	return some
}

// shownAction is what a principal sees of an action; nil for nothing.
func shownAction(tx core.Tx, p *auth.Principal, a ahp.Action) ahp.Action {
	switch a := a.(type) {
	case ahp.RootTerminalsChanged:
		return ahp.RootTerminalsChanged{Terminals: shown(tx, p, a.Terminals)}
	case ahp.HostWarned:
		if !p.Operates() {
			return nil
		}
	case ahp.RootAgentsChanged:
		if p.Sandbox != "" {
			return ahp.RootAgentsChanged{Agents: []ahp.AgentInfo{}}
		}
	}
	return a
}

// shownState is what a principal sees of a channel's state.
func shownState(tx core.Tx, p *auth.Principal, state any) any {
	if r, ok := state.(ahp.RootState); ok && p.Bounded() {
		r.Terminals = shown(tx, p, r.Terminals)
		if p.Sandbox != "" {
			r.Agents, r.ActiveSessions = []ahp.AgentInfo{}, nil
		}
		return r
	}
	if v, ok := state.(ahp.ActivityState); ok && !p.Operates() {
		v.Warning = ""
		return v
	}
	return state
}
