package host

import (
	"encoding/json"
	"slices"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
)

// This file keeps a token that is bound to one terminal to it, and who is in a
// sandbox to the terminals that run there. Whatever else they name is refused in the
// same words, there or not.

// everywhere are the requests that a bound token may make though they name
// another channel than its terminal: they decide by themselves, or tell nothing.
var everywhere = map[string]bool{
	ahp.MethodInitialize:   true,
	ahp.MethodReconnect:    true, // visible decides about each subscription
	ahp.MethodPing:         true,
	ahp.MethodSubscribe:    true, // visible decides
	ahp.MethodListSessions: true, // only what it reaches
	ahp.MethodHost:         true, // tells a bound token less
	"resolveSessionConfig": true,
}

// within are the requests that act on their channel, a terminal, and on nothing
// else: a bound token may make them for its own. What is in neither list is
// refused, as are requests that do not exist yet.
var within = []string{
	ahp.MethodRead, ahp.MethodCommand, ahp.MethodCommands, ahp.MethodWait, ahp.MethodMark, ahp.MethodRun, ahp.MethodFeed,
	ahp.MethodDisposeTerminal,
}

// inSandbox are further requests of who is in a sandbox: to begin what is confined as
// well, and to give away what is its own.
var inSandbox = []string{ahp.MethodCreateTerminal, ahp.MethodPromote, ahp.MethodAsk, ahp.MethodClientTools, ahp.MethodCallTool}

// reaches reports whether a channel exists for the principal.
func reaches(tx core.Tx, p *auth.Principal, uri ahp.URI) bool {
	if !p.Bounded() {
		return true
	}
	t, ok := termAt(tx, uri)
	if p.Sandbox != "" {
		return ok && t.sandbox == p.Sandbox
	}
	return ok && uri == p.Terminal && t.proc == p.Process
}

// confine refuses a bound token's request for anything but its terminal. It
// reads the channel as the requests do, by decode.
func (c *conn) confine(method string, raw json.RawMessage) error {
	if !c.Principal.Bounded() || everywhere[method] {
		return nil
	}
	if c.Principal.Sandbox != "" && slices.Contains(inSandbox, method) {
		return nil // They look at what they name.
	}
	var p ahp.SubscribeParams
	if slices.Contains(within, method) && params.Decode(raw, &p) == nil {
		tx := c.h.core.Lock()
		defer tx.Unlock()
		if reaches(tx, c.Principal, p.Channel) {
			return nil
		}
	}
	return ahp.PermissionDenied("%s: %s", method, c.Principal.OutOfReach())
}

// shown is what a principal sees of the list of terminals.
func shown(tx core.Tx, p *auth.Principal, all []ahp.TerminalInfo) []ahp.TerminalInfo {
	if !p.Bounded() {
		return all
	}
	some := []ahp.TerminalInfo{}
	for _, t := range all {
		if reaches(tx, p, t.Resource) {
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
