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

// agentScheme begins the session of an agent that has none among the host's.
const agentScheme = "x-tandemux-agent:/"

// agentScopes is what an agent that connects by itself may have at most.
var agentScopes = []string{ScopeRead, ScopeCreate, ScopeInput, ScopeClaim, ScopeSession}

const (
	maxAgentName = 64
	maxSession   = 1024 // bytes of its URI
)

// AsAgent is the principal of p's connection when the handshake says that an agent
// uses it, as by MCP. It is less than whoever opened the connection: no operator,
// and bound to a session of its own. In a sandbox its name alone is its own to say.
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
	who := url.PathEscape(clientID) // no identity, which has a slash
	if a.Identity != "" {
		who = p.ID + "/" + strings.Clone(a.Identity) // nobody else's
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
	if p.Terminal == "" && (g.May(ScopeCreate) || g.May(ScopeClaim)) { // its own session is its to drive
		g.Scopes = append(g.Scopes, ScopeSession)
	}
	return g, nil
}

// Driving is the principal of p's connection when the handshake announces a session that
// it drives outside of the host.
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

// IsAgent reports whether a principal's id is that of an agent without a token: it is gone
// with its connections.
func IsAgent(principal string) bool { return strings.HasPrefix(principal, agentOwner) }

// RefuseClaim is the refusal of an agent's claim that is not for its own session, empty
// for all others.
func (p *Principal) RefuseClaim(to ahp.Claim) string {
	if p.Agent == "" || to.Kind == ahp.ClaimSession && to.Session == p.Session {
		return ""
	}
	return fmt.Sprintf("an agent claims for its own session, %s, only", p.Session)
}

// CannotDrive says why a principal can't begin sessions, prompt and answer, empty if it
// can; who may let tool calls run is another matter (ScopeApprove).
func (p *Principal) CannotDrive() string {
	if p.Agent != "" {
		return "an agent from the side does not drive sessions of other agents"
	}
	return p.Lacks(ScopeSession)
}

// QuotaKey names whose quota an agent's terminals are counted in. A token is one
// agent, however often it connects; so is what works in one session.
func (p *Principal) QuotaKey() string {
	if p.Token != "" {
		return p.ID
	}
	return p.Session
}
