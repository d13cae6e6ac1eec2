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
	// it (Driving). Asks says that it has people asked what is refused it.
	Agent   string
	Session ahp.URI
	Asks    bool
	Team    bool // it leads others, in panes beside its own
	// Service is the name of a part of the host's own program, empty for all others.
	Service string
	// ByDoor says that another protocol's entrance knows the principal by means of its
	// own. It opens no connections.
	ByDoor bool
	// Sandbox, if not empty, is the session in whose sandbox the principal is: it
	// reaches the terminals that run there and nothing else.
	Sandbox ahp.URI
	// Person is who a hub says is at the other end, for people to read: it proves nothing,
	// and gives nothing.
	Person string
	// Page is set for a page for browsers of the host's own.
	Page bool
	// Proved, if not nil, says whether a person has proved just now that they are there:
	// only then it may allow what agents ask for.
	Proved func() bool
}

// Unproved is the refusal of who has to prove first that a person is there, empty for all
// others.
func (p *Principal) Unproved() string {
	if p.Proved == nil || p.Proved() {
		return ""
	}
	return "a passkey has to confirm this first"
}

// What ids of principals begin with, before what tells them apart.
const (
	tokenOwner   = "token:"
	serviceOwner = "service:"
	sandboxOwner = "sandbox:"
	agentOwner   = "agent:" // on the unix socket
)

// Told is the principal as clients are told it, to tell apart who they are and who others
// are: several people may have one token.
func (p *Principal) Told() string { return strings.TrimSpace(p.ID + " " + p.Person) }

// Operator is everybody of the host's own uid on the unix socket.
var Operator = &Principal{ID: "operator", Human: true, Scopes: AllScopes}

// Anyone is who need not say who it is. It may do nothing and opens no connections.
var Anyone = &Principal{ID: "anyone", ByDoor: true}

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

func (p *Principal) May(scope string) bool {
	if scope == ScopeApprove && p.Unproved() != "" {
		return false
	}
	return slices.Contains(p.Scopes, scope) || scope != ScopeWrite && slices.Contains(p.Scopes, ScopeAdmin)
}

// Operates reports whether the principal may take any terminal, whoever holds it.
func (p *Principal) Operates() bool { return p.Human || slices.Contains(p.Scopes, ScopeAdmin) }

// Lacks is the refusal of what needs a scope, empty if the principal has it.
func (p *Principal) Lacks(scope string) string {
	if p.May(scope) {
		return ""
	}
	if why := p.Unproved(); scope == ScopeApprove && why != "" {
		return why
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
	return cmp.Or(p.Agent, p.ID)
}

const (
	maxTokens    = 1000
	maxTokenName = 64   // bytes
	maxClientID  = 256  // bytes
	maxShown     = 1024 // bytes of what is not known, in an error
)

// The scopes of tokens.
const (
	ScopeRead    = "terminal:read"   // subscribe, read
	ScopeCreate  = "terminal:create" // createTerminal
	ScopeInput   = "terminal:input"  // type, resize, rename, clear what one holds
	ScopeClaim   = "terminal:claim"  // transfer and dispose what one holds
	ScopeSession = "session"         // claim for sessions; begin them, prompt, answer
	ScopeApprove = "approve"         // let agents' tool calls run
	ScopeAdmin   = "admin"           // everything the operator may, but for the next
	ScopeWrite   = "files:write"     // change files by requests; only who was given it has it
)

var (
	AllScopes = []string{ScopeRead, ScopeCreate, ScopeInput, ScopeClaim, ScopeSession, ScopeApprove, ScopeAdmin, ScopeWrite}
	// boundScopes are those that make sense for one terminal.
	boundScopes = []string{ScopeRead, ScopeInput, ScopeClaim}
)

// checkScopes gives the scopes of a new token: all that fit when none are
// named, but ScopeWrite.
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

// isTokenName reports whether a text can be a token's name: 1 to maxTokenName bytes of
// printable characters.
func isTokenName(s string) bool {
	return s != "" && len(s) <= maxTokenName && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func shown(s string) string { return s[:min(len(s), maxShown)] }
