package auth

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandemux/ahp"
)

// Principal is who is at the other end of a connection, as determined when it was opened. It never
// changes.
type Principal struct {
	// ID identifies the principal: "operator", "token:ID" and so on.
	ID string
	// Human is set for the operator, the person who owns the host.
	Human  bool
	Token  string // the token's id; empty without a token
	Scopes []string
	// Terminal, if not empty, is the only thing that the principal may reach, while Process runs in
	// it.
	Terminal ahp.URI
	Process  string
	// Agent is the name of an agent that connects itself (AsAgent), empty for others. Session is the
	// session that the agent works for; others have one if they announced it (Driving). Asks says that
	// people are asked about what the agent is refused.
	Agent   string
	Session ahp.URI
	Asks    bool
	Team    bool // it leads other agents, in panes beside its own
	// Service is the name of a part of the host's program, empty for others.
	Service string
	// ByDoor says that an entrance for another protocol has authenticated the principal. It opens no
	// AHP connections.
	ByDoor bool
	// Sandbox, if not empty, is the session in whose sandbox the principal is. It may reach only the
	// terminals there.
	Sandbox ahp.URI
	// Person is who is at the other end according to a hub, for people to read. It gives no rights.
	Person string
	// Page is set for the host's own page in a browser.
	Page bool
	// Proved, if not nil, reports whether a person has just proved to be there. Only then the
	// principal may allow what agents ask for.
	Proved func() bool
}

// Unproved returns why the principal has to prove first that a person is there, or "".
func (p *Principal) Unproved() string {
	if p.Proved == nil || p.Proved() {
		return ""
	}
	return "a passkey has to confirm this first"
}

// The beginnings of principals' IDs.
const (
	tokenOwner   = "token:"
	serviceOwner = "service:"
	sandboxOwner = "sandbox:"
	agentOwner   = "agent:" // on the unix socket
)

// Told returns the principal as clients get it, so that they can tell people with the same token
// apart.
func (p *Principal) Told() string { return strings.TrimSpace(p.ID + " " + p.Person) }

// Operator is everybody with the host's uid on the unix socket.
var Operator = &Principal{ID: "operator", Human: true, Scopes: AllScopes}

// Anyone is a caller without authentication. It may do nothing and opens no connections.
var Anyone = &Principal{ID: "anyone", ByDoor: true}

// Principal returns the principal that has the token.
func (t *Token) Principal() *Principal {
	return &Principal{ID: tokenOwner + t.ID, Token: t.ID, Scopes: t.Scopes, Terminal: t.Terminal, Process: t.Process}
}

// TokenOf returns the id of the token in a principal's ID.
func TokenOf(principal string) (token string, ok bool) {
	return strings.CutPrefix(principal, tokenOwner)
}

// Service returns the principal of a part of the host's program, which may do everything.
func Service(name string) *Principal {
	return &Principal{ID: serviceOwner + name, Scopes: AllScopes, Service: name}
}

// InSandbox returns the principal of what connects from a session's sandbox.
func InSandbox(session ahp.URI) *Principal {
	return &Principal{
		ID: sandboxOwner + session, Agent: "sandbox", Session: session, Sandbox: session,
		Scopes: slices.Clone(agentScopes),
	}
}

func (p *Principal) May(scope string) bool {
	if scope == ScopeApprove && p.Unproved() != "" {
		return false
	}
	return slices.Contains(p.Scopes, scope) || scope != ScopeWrite && slices.Contains(p.Scopes, ScopeAdmin)
}

// Operates reports whether the principal may take any terminal, whoever holds it.
func (p *Principal) Operates() bool { return p.Human || slices.Contains(p.Scopes, ScopeAdmin) }

// Lacks returns why the principal lacks a scope, or "" if it has it.
func (p *Principal) Lacks(scope string) string {
	if p.May(scope) {
		return ""
	}
	if why := p.Unproved(); scope == ScopeApprove && why != "" {
		return why
	}
	return fmt.Sprintf("this token lacks the scope %q: ask the host's owner for one that has it", scope)
}

// Bounded reports whether there is anything that the principal may not reach.
func (p *Principal) Bounded() bool { return p.Terminal != "" || p.Sandbox != "" }

// OutOfReach returns the refusal of what is beyond a bound token's terminal or a sandbox.
func (p *Principal) OutOfReach() string {
	if p.Sandbox != "" {
		return "who is in a sandbox reaches the terminals that run in it, and nothing else of the host"
	}
	return fmt.Sprintf("this token is for the terminal %s only", p.Terminal)
}

// Name returns the principal's name for people.
func (p *Principal) Name() string {
	return cmp.Or(p.Agent, p.ID)
}

const (
	maxTokens    = 1000
	maxTokenName = 64   // bytes
	maxClientID  = 256  // bytes
	maxShown     = 1024 // bytes of an unknown value in an error
)

// The scopes of tokens.
const (
	ScopeRead    = "terminal:read"   // subscribe, read
	ScopeCreate  = "terminal:create" // createTerminal
	ScopeInput   = "terminal:input"  // type, resize, rename, clear what one holds
	ScopeClaim   = "terminal:claim"  // transfer and dispose what one holds
	ScopeSession = "session"         // claim for sessions; begin them, prompt, answer
	ScopeApprove = "approve"         // let agents' tool calls run
	ScopeAdmin   = "admin"           // everything the operator may do, except the next
	ScopeWrite   = "files:write"     // change files by requests; only tokens that were given it have it
)

var (
	AllScopes = []string{ScopeRead, ScopeCreate, ScopeInput, ScopeClaim, ScopeSession, ScopeApprove, ScopeAdmin, ScopeWrite}
	// boundScopes are the scopes that a token for one terminal may have.
	boundScopes = []string{ScopeRead, ScopeInput, ScopeClaim}
)

// checkScopes returns the scopes of a new token. Without names these are all that fit, except
// ScopeWrite.
func checkScopes(names []string, bound bool) ([]string, error) {
	known := AllScopes
	if bound {
		known = boundScopes
	}
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(known), func(s string) bool { return s == ScopeWrite }), nil
	}
	var scopes []string
	for _, s := range names {
		switch {
		case !slices.Contains(AllScopes, s):
			return nil, fmt.Errorf("no scope is named %q: use %s", shown(s), strings.Join(AllScopes, ", "))
		case !slices.Contains(known, s):
			return nil, fmt.Errorf("the scope %q is not for a token bound to one terminal: use %s", s, strings.Join(boundScopes, ", "))
		case !slices.Contains(scopes, s):
			scopes = append(scopes, s)
		}
	}
	return scopes, nil
}

// isTokenName reports whether a text is valid as a token's name: 1 to maxTokenName bytes of printable
// characters.
func isTokenName(s string) bool {
	return s != "" && len(s) <= maxTokenName && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func shown(s string) string { return s[:min(len(s), maxShown)] }
