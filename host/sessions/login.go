package sessions

import (
	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/core"
	"tandemux/host/params"
)

// LoginProvider returns the provider to log in to: that of the session, if one is named.
func (ss *Sessions) LoginProvider(p ahp.LoginParams) (agent.Provider, error) {
	tx := ss.Core.Lock()
	defer tx.Unlock()
	if p.Session != "" {
		s, ok := core.At[*session](tx, p.Session)
		switch {
		case !ok:
			return nil, ahp.SessionNotFound("log in: there is no session %q", params.Clip(p.Session))
		case p.Provider != "" && p.Provider != s.value.Provider:
			return nil, ahp.InvalidParams("log in: the session is one of %s, not of %q", s.value.Provider, params.Clip(p.Provider))
		}
		if s.sandbox != nil {
			return nil, ahp.Conflict("log in: the session is in a sandbox, and what its agent would have run is not run outside of it: give the agent its key as a secret (`tandemux env set --secret`)")
		}
		p.Provider = s.value.Provider
	}
	if p.Provider == "" {
		return nil, ahp.InvalidParams("log in: provider: missing")
	}
	return ss.Provider(tx, p.Provider)
}

// Protected returns the agents' resources with the URI that need a token.
func (ss *Sessions) Protected(tx core.Tx, resource string) (list []agent.Resource) {
	for _, p := range ss.Providers {
		if r := p.Info().Resource; r != nil && r.URI == resource {
			list = append(list, *r)
		}
	}
	return list
}

// Forsake closes the agents of a principal's sessions that use a token for a resource. The sessions
// stay.
func (ss *Sessions) Forsake(tx core.Tx, principal, resource string) {
	for _, s := range ss.list {
		if s.provider == nil || s.facts.Owner != principal || s.sandbox != nil {
			continue
		}
		if r := s.provider.Info().Resource; r == nil || r.URI != resource {
			continue
		}
		for _, c := range s.chats {
			c.forsake(tx)
		}
	}
}

// BeginAgain opens the agent of a session whose creation failed, after a login.
func (ss *Sessions) BeginAgain(tx core.Tx, uri ahp.URI) {
	s, ok := core.At[*session](tx, uri)
	if !ok || s.value.Lifecycle != ahp.LifecycleFailed || s.beginning != nil || tx.Closing() {
		return
	}
	s.begin(tx, nil, "")
}
