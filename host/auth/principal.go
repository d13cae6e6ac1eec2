package auth

import (
	"fmt"
	"slices"
	"strings"

	"tandemux/ahp"
)

// Principal is who is at the other end of a connection, as was found out when it
// was opened. It never changes.
type Principal struct {
	// ID is compared to tell principals apart: "operator", "token:ID", …
	ID string
	// Human is set for the operator: the person whose host it is.
	Human  bool
	Token  string // the token's id, empty for who has none
	Scopes []string
	// Terminal, if not empty, is all that the principal reaches, as long as Process
	// runs in it.
	Terminal ahp.URI
	Process  string
	// Agent is the name of an agent that connects by itself (AsAgent), empty for all
	// others, and Session the one that it works for; others have one when they announced
	// it (Driving).
	Agent   string
	Session ahp.URI
	// Service is the name of a part of the host's own program, empty for all others.
	Service string
	// ByDoor says that another protocol's entrance knows the principal by means of its
	// own. It opens no connections.
	ByDoor bool
	// Sandbox, if not empty, is the session in whose sandbox the principal is: it
	// reaches the terminals that run there and nothing else.
	Sandbox ahp.URI
}

// What ids of principals begin with, before what tells them apart.
const (
	tokenOwner   = "token:"
	serviceOwner = "service:"
	sandboxOwner = "sandbox:"
	agentOwner   = "agent:" // on the unix socket
)

// Operator is everybody of the host's own uid on the unix socket.
var Operator = &Principal{ID: "operator", Human: true, Scopes: AllScopes}

// Principal is whoever has the token.
func (t *Token) Principal() *Principal {
	return &Principal{ID: tokenOwner + t.ID, Token: t.ID, Scopes: t.Scopes, Terminal: t.Terminal, Process: t.Process}
}

// TokenOf is the id of the token that a principal's id was made of.
func TokenOf(principal string) (token string, ok bool) {
	return strings.CutPrefix(principal, tokenOwner)
}

// Service is the principal of a part of the host's own program, which may do everything.
func Service(name string) *Principal {
	return &Principal{ID: serviceOwner + name, Scopes: AllScopes, Service: name}
}

// InSandbox is the principal of who connects from a session's sandbox.
func InSandbox(session ahp.URI) *Principal {
	return &Principal{
		ID: sandboxOwner + session, Agent: "sandbox", Session: session, Sandbox: session,
		Scopes: slices.Clone(agentScopes),
	}
}

// May reports whether the principal has a scope.
func (p *Principal) May(scope string) bool {
	return slices.Contains(p.Scopes, scope) || scope != ScopeWrite && slices.Contains(p.Scopes, ScopeAdmin)
}

// Operates reports whether the principal may take any terminal, whoever holds it.
func (p *Principal) Operates() bool { return p.Human || slices.Contains(p.Scopes, ScopeAdmin) }

// Lacks is the refusal of what needs a scope, empty if the principal has it.
func (p *Principal) Lacks(scope string) string {
	if p.May(scope) {
		return ""
	}
	return fmt.Sprintf("this token lacks the scope %q: ask the host's owner for one that has it", scope)
}

// Bounded reports whether there is anything that the principal does not reach.
func (p *Principal) Bounded() bool { return p.Terminal != "" || p.Sandbox != "" }

// OutOfReach is the refusal of what lies beyond a bound token's terminal, or a sandbox.
func (p *Principal) OutOfReach() string {
	if p.Sandbox != "" {
		return "who is in a sandbox reaches the terminals that run in it, and nothing else of the host"
	}
	return fmt.Sprintf("this token is for the terminal %s only", p.Terminal)
}

// Name is what people are told of a principal.
func (p *Principal) Name() string {
	if p.Agent != "" {
		return p.Agent
	}
	return p.ID
}
