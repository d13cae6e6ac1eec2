package sessions

import (
	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/core"
	"tandemux/host/params"
)

// LoginProvider is the provider to log in to, of the session if one is named.
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
			return nil, ahp.Conflict("log in: the session is in a sandbox, and what its agent would have run is not run outside of it: give the agent its key as a secret (`tandemux env add --secret`)")
		}
		p.Provider = s.value.Provider
	}
	if p.Provider == "" {
		return nil, ahp.InvalidParams("log in: provider: missing")
	}
	return ss.Provider(tx, p.Provider)
}

// BeginAgain opens the agent of a session that could not be created, now that somebody
// has logged in.
func (ss *Sessions) BeginAgain(tx core.Tx, uri ahp.URI) {
	s, ok := core.At[*session](tx, uri)
	if !ok || s.value.Lifecycle != ahp.LifecycleFailed || s.beginning != nil || tx.Closing() {
		return
	}
	s.begin(tx, nil, "")
}
