package host

import (
	"encoding/json"
	"fmt"
	"slices"

	"tandemux/ahp"
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

// bounded reports whether there is anything that the principal does not reach.
func (p *principal) bounded() bool { return p.terminal != "" || p.sandbox != "" }

// reaches reports whether a channel exists for the principal. The caller holds
// h.mu.
func (h *Host) reaches(p *principal, uri ahp.URI) bool {
	if !p.bounded() {
		return true
	}
	t, ok := h.termAt(uri)
	if p.sandbox != "" {
		return ok && t.sandbox == p.sandbox
	}
	return ok && uri == p.terminal && t.proc == p.process
}

// confined is the refusal of what lies beyond a bound token's terminal, or a sandbox.
func (p *principal) confined() string {
	if p.sandbox != "" {
		return "who is in a sandbox reaches the terminals that run in it, and nothing else of the host"
	}
	return fmt.Sprintf("this token is for the terminal %s only", p.terminal)
}

// confine refuses a bound token's request for anything but its terminal. It
// reads the channel as the requests do, by decode.
func (c *conn) confine(method string, params json.RawMessage) error {
	if !c.principal.bounded() || everywhere[method] {
		return nil
	}
	if c.principal.sandbox != "" && slices.Contains(inSandbox, method) {
		return nil // They look at what they name.
	}
	var p ahp.SubscribeParams
	if slices.Contains(within, method) && decode(params, &p) == nil {
		c.h.mu.Lock()
		defer c.h.mu.Unlock()
		if c.h.reaches(c.principal, p.Channel) {
			return nil
		}
	}
	return ahp.PermissionDenied("%s: %s", method, c.principal.confined())
}

// shown is what a principal sees of the list of terminals. The caller holds
// h.mu.
func (h *Host) shown(p *principal, all []ahp.TerminalInfo) []ahp.TerminalInfo {
	if !p.bounded() {
		return all
	}
	some := []ahp.TerminalInfo{}
	for _, t := range all {
		if h.reaches(p, t.Resource) {
			some = append(some, t)
		}
	}
	return some
}

// shownAction is what a principal sees of an action. The caller holds h.mu.
func (h *Host) shownAction(p *principal, e ahp.Envelope) ahp.Envelope {
	switch a := e.Action.(type) {
	case ahp.RootTerminalsChanged:
		if p.bounded() {
			e.Action = ahp.RootTerminalsChanged{Terminals: h.shown(p, a.Terminals)}
		}
	case ahp.HostWarned:
		if !h.shownTo(p, a) {
			e.Action = ahp.HostWarned{}
		}
	case ahp.RootAgentsChanged:
		if p.sandbox != "" {
			e.Action = ahp.RootAgentsChanged{Agents: []ahp.AgentInfo{}}
		}
	}
	return e
}

// shownState is what a principal sees of a channel's state.
func (tx Tx) shownState(p *principal, state any) any {
	if r, ok := state.(ahp.RootState); ok && p.bounded() {
		r.Terminals = tx.shown(p, r.Terminals)
		if p.sandbox != "" {
			r.Agents, r.ActiveSessions = []ahp.AgentInfo{}, nil
		}
		return r
	}
	if v, ok := state.(ahp.ActivityState); ok && !p.operates() {
		v.Warning = ""
		return v
	}
	return state
}
