package auth

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"tandemux/ahp"
)

// agentScheme begins the session of an agent that works for none of the host's sessions.
const agentScheme = "x-tandemux-agent:/"

// agentScopes are the most that an agent that connects itself may have.
var agentScopes = []string{ScopeRead, ScopeCreate, ScopeInput, ScopeClaim, ScopeSession}

const (
	maxAgentName = 64
	maxSession   = 1024 // in bytes, of its URI
)

// AsAgent returns the principal of p's connection if the handshake says that an agent uses it, for
// example over MCP. It has fewer rights than p: it is no operator, and is bound to its own session. In
// a sandbox only its name is its choice.
func (p *Principal) AsAgent(a *ahp.AgentMeta, clientID string) (*Principal, error) {
	name := strings.TrimSpace(a.Name)
	switch {
	case name == "" || len(name) > maxAgentName || strings.ContainsFunc(name, unicode.IsControl):
		return nil, ahp.InvalidParams("initialize: tandemux/agent: name: want 1 to %d bytes without control characters", maxAgentName)
	case len(a.Session) > maxSession:
		return nil, ahp.InvalidParams("initialize: tandemux/agent: session: longer than %d bytes", maxSession)
	case len(a.Identity) > maxAgentName || strings.ContainsFunc(a.Identity, unicode.IsControl):
		return nil, ahp.InvalidParams("initialize: tandemux/agent: identity: want at most %d bytes without control characters", maxAgentName)
	case p.Sandbox != "":
		if a.Session != "" && a.Session != p.Sandbox {
			return nil, ahp.PermissionDenied("initialize: tandemux/agent: session: %s", p.OutOfReach())
		}
		inside := *p
		inside.Agent, inside.Asks = strings.Clone(name), a.Asks
		return &inside, nil
	case a.Session != "" && !p.May(ScopeSession):
		return nil, ahp.PermissionDenied("initialize: tandemux/agent: session: %s", p.Lacks(ScopeSession))
	}
	g := &Principal{
		ID: p.ID, Token: p.Token, Terminal: p.Terminal, Process: p.Process,
		Agent: name, Session: a.Session, Asks: a.Asks, Team: a.Team != "",
	}
	who := url.PathEscape(clientID) // differs from identities, which contain a slash
	if a.Identity != "" {
		who = p.ID + "/" + strings.Clone(a.Identity) // nobody else has this one
	}
	if p.Human {
		g.ID = agentOwner + who
	}
	g.Session = cmp.Or(g.Session, agentScheme+who)
	for _, s := range agentScopes {
		if p.May(s) && (p.Terminal == "" || slices.Contains(p.Scopes, s)) {
			g.Scopes = append(g.Scopes, s)
		}
	}
	if p.Terminal == "" && (g.May(ScopeCreate) || g.May(ScopeClaim)) { // it may drive its own session
		g.Scopes = append(g.Scopes, ScopeSession)
	}
	return g, nil
}

// Driving returns the principal of p's connection if the handshake announces a session that it drives
// outside of the host.
func (p *Principal) Driving(session ahp.URI) (*Principal, error) {
	refusal := p.CannotDrive()
	if refusal == "" && p.Bounded() {
		refusal = p.OutOfReach()
	}
	switch {
	case len(session) > maxSession:
		return nil, ahp.InvalidParams("initialize: tandemux/session: longer than %d bytes", maxSession)
	case refusal != "":
		return nil, ahp.PermissionDenied("initialize: tandemux/session: %s", refusal)
	}
	d := *p
	d.Session = strings.Clone(session)
	return &d, nil
}

// IsAgent reports whether a principal's id is that of an agent without a token, which ceases with its
// connections.
func IsAgent(principal string) bool { return strings.HasPrefix(principal, agentOwner) }

// RefuseClaim returns why an agent's claim is refused, because it is not for its own session, or "".
func (p *Principal) RefuseClaim(to ahp.Claim) string {
	if p.Agent == "" || to.Kind == ahp.ClaimSession && to.Session == p.Session {
		return ""
	}
	return fmt.Sprintf("an agent claims for its own session, %s, only", p.Session)
}

// CannotDrive returns why a principal may not begin sessions, prompt and answer, or "". Allowing tool
// calls needs ScopeApprove in addition.
func (p *Principal) CannotDrive() string {
	if p.Agent != "" {
		return "an agent from the side does not drive sessions of other agents"
	}
	return p.Lacks(ScopeSession)
}

// QuotaKey returns the key under which an agent's terminals are counted. All connections with a token
// count as one agent, and so does everything that works in one session.
func (p *Principal) QuotaKey() string {
	if p.Token != "" {
		return p.ID
	}
	return p.Session
}
