package host

import (
	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/terminals"
)

// This file keeps a token that is bound to one terminal to it, and who is in a
// sandbox to the terminals that run there. Whatever else they name is refused in the
// same words, there or not. And it keeps what was started, which may have secrets among
// its arguments, from tokens that neither hold the terminal nor operate the host.

// shown is what a principal sees of the list of terminals. other says that it differs from
// all.
func shown(tx core.Tx, p *auth.Principal, all []ahp.TerminalInfo) (some []ahp.TerminalInfo, other bool) {
	trusted := p.Token == "" || p.Operates()
	if trusted && !p.Bounded() {
		return all, false
	}
	some = []ahp.TerminalInfo{}
	for _, t := range all {
		if !terminals.Reaches(tx, p, t.Resource) {
			other = true
			continue
		}
		m := t.Meta
		if m != nil && !trusted && (len(m.Command) > 0 || m.LastCommand != nil) && !terminals.Held(tx, p, t.Resource) {
			less := *m
			less.Command, less.LastCommand = nil, nil
			t.Meta, other = &less, true
		}
		if t.Meta != nil && len(t.Meta.Shares) > 0 && !p.Operates() {
			less := *t.Meta
			less.Shares = nil
			t.Meta, other = &less, true
		}
		if m != nil && m.Ask != nil && (m.Ask.Command != "" || m.Ask.Panes) && !p.Operates() { // it is the person's, wherever they are asked
			less := *t.Meta
			less.Ask = nil
			t.Meta, other = &less, true
		}
		some = append(some, t)
	}
	return some, other
}

// shownAction is what a principal sees of an action, nil for nothing; other says that it is
// not the action itself.
func shownAction(tx core.Tx, p *auth.Principal, a ahp.Action) (shownAs ahp.Action, other bool) {
	switch a := a.(type) {
	case ahp.RootTerminalsChanged:
		list, other := shown(tx, p, a.Terminals)
		if p.Bounded() {
			return ahp.RootTerminalsChanged{Terminals: list}, other || a.Meta != nil
		}
		return ahp.RootTerminalsChanged{Terminals: list, Meta: a.Meta}, other
	case ahp.HostWarned:
		if !p.Operates() {
			return nil, true
		}
	case ahp.RootAgentsChanged:
		if p.Sandbox != "" {
			return ahp.RootAgentsChanged{Agents: []ahp.AgentInfo{}}, true
		}
	}
	return a, false
}

// shownState is what a principal sees of a channel's state.
func shownState(tx core.Tx, p *auth.Principal, state any) any {
	if r, ok := state.(ahp.RootState); ok {
		r.Terminals, _ = shown(tx, p, r.Terminals)
		if p.Bounded() {
			r.Meta = nil
		}
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
