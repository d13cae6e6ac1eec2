package host

import (
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/host/auth"
)

// principal is who is at the other end of a connection, as its front found out.
// It never changes.
type principal struct {
	// id is compared to tell principals apart: "operator" or "token:ID".
	id string
	// human is set for the operator: the person whose host it is.
	human  bool
	token  string // the token's id, empty for the operator
	scopes []string
	// terminal, if not empty, is all that the principal reaches, as long as
	// process runs in it (confine.go).
	terminal ahp.URI
	process  string
	// agent is the name of one that came from the side, empty for all others,
	// and session the one that it works for (guest.go).
	agent   string
	session ahp.URI
	// service is the name of a part of the host's own program, empty for all
	// others; door says that a door found out who it is, by means of its own: it
	// opens no connections.
	service string
	door    bool
	// sandbox, if not empty, is the session in whose sandbox the principal is: it
	// reaches the terminals that run there and nothing else (confine.go).
	sandbox ahp.URI
}

// serviceOwner begins the id of a service's principal.
const serviceOwner = "service:"

// tokenOwner begins the id of a token's principal.
const tokenOwner = "token:"

// operator is everybody of the host's own uid on the unix socket.
var operator = &principal{id: "operator", human: true, scopes: auth.AllScopes}

func tokenPrincipal(t *auth.Token) *principal {
	return &principal{id: tokenOwner + t.ID, token: t.ID, scopes: t.Scopes, terminal: t.Terminal, process: t.Process}
}

// may reports whether the principal has a scope.
func (p *principal) may(scope string) bool {
	return slices.Contains(p.scopes, scope) || slices.Contains(p.scopes, auth.ScopeAdmin)
}

// operates reports whether the principal may take any terminal, whoever holds
// it.
func (p *principal) operates() bool { return p.human || slices.Contains(p.scopes, auth.ScopeAdmin) }

func (p *principal) lacks(scope string) string {
	if p.may(scope) {
		return ""
	}
	return fmt.Sprintf("this token lacks the scope %q: ask the host's owner for one that has it", scope)
}
