package host

import (
	"slices"
	"strings"
	"unicode"

	"tandemux/ahp"
	"tandemux/host/auth"
)

// A guest is an agent that reaches the host from the side, by MCP: a connection
// that said in its handshake that it is one. It is less than whoever opened it:
// no operator, whatever the socket says, bound to a session of its own, and
// under the seat belt (seatbelt.go).

// guestScheme begins the session of an agent that has none among the host's.
const guestScheme = "x-tandemux-agent:/"

// guestScopes is what a guest may have at most.
var guestScopes = []string{auth.ScopeRead, auth.ScopeCreate, auth.ScopeInput, auth.ScopeClaim, auth.ScopeSession}

const maxAgentName = 64

// asGuest is the principal of p's connection when it is an agent's.
func (p *principal) asGuest(a *ahp.AgentMeta, clientID string) (*principal, error) {
	name := strings.TrimSpace(a.Name)
	switch {
	case name == "" || len(name) > maxAgentName || strings.ContainsFunc(name, unicode.IsControl):
		return nil, ahp.InvalidParams("initialize: tandemux/agent: name: want 1 to %d bytes without control characters", maxAgentName)
	case len(a.Session) > maxURI:
		return nil, ahp.InvalidParams("initialize: tandemux/agent: session: longer than %d bytes", maxURI)
	case a.Session != "" && p.sandbox == "" && !p.may(auth.ScopeSession):
		return nil, ahp.PermissionDenied("initialize: tandemux/agent: session: %s", p.lacks(auth.ScopeSession))
	}
	if p.sandbox != "" {
		return p.asInsider(name, a.Session)
	}
	g := &principal{
		id: p.id, token: p.token, terminal: p.terminal, process: p.process,
		agent: name, session: a.Session,
	}
	if p.human {
		g.id = guestOwner + clientID
	}
	if g.session == "" {
		g.session = guestScheme + clientID
	}
	for _, s := range guestScopes {
		if p.may(s) && (p.terminal == "" || slices.Contains(p.scopes, s)) {
			g.scopes = append(g.scopes, s)
		}
	}
	if p.terminal == "" && (g.may(auth.ScopeCreate) || g.may(auth.ScopeClaim)) { // its own session is its to drive
		g.scopes = append(g.scopes, auth.ScopeSession)
	}
	return g, nil
}

// guestOwner begins the id of a guest's principal on the unix socket.
const guestOwner = "agent:"

// name is what people are told of a principal.
func (p *principal) name() string {
	if p.agent != "" {
		return p.agent
	}
	return p.id
}

// ownSession refuses a claim that is not for a guest's own session.
func (p *principal) ownSession(to ahp.Claim) string {
	if p.agent == "" || to.Kind == ahp.ClaimSession && to.Session == p.session {
		return ""
	}
	return because("an agent claims for its own session, %s, only", p.session)
}

// errKept is what agents are told that end what is not theirs to end (T21).
const errKept = "Cannot kill visible or user-owned terminals"

// mayEnd decides what a guest may end: what its session holds and nobody sees
// (T20, docs/decisions.md §1). visible says that a layout shows it.
func (p *principal) mayEnd(t *term, visible bool) string {
	if p.agent == "" || t.value.Claim.Kind == ahp.ClaimSession && t.holds(p) && !visible {
		return ""
	}
	return errKept
}

// noteAgent notes which agent holds a terminal, as its claim changes to to, made
// by p. The name of one that lost it stays for a hand-back, but not its place; an
// agent below the host has its name from its session (session.label).
func (t *term) noteAgent(to ahp.Claim, p *principal) {
	switch {
	case to.Kind == ahp.ClaimClient:
		t.slot.End()
	case t.holder != p.id:
	case p.agent != "" || t.used == nil:
		t.meta.Agent = p.agent
	}
}

// letAgentGo ends what agents wait for and count of a terminal that is removed.
// The caller holds h.mu.
func (h *Host) letAgentGo(t *term) {
	t.slot.End()
	if t.idle != nil {
		t.idle.Stop()
		t.idle = nil
	}
	if t.asked != nil {
		h.settleAsk(t.asked, ahp.AskRefused)
	}
}
