package terminals

import (
	"tandemux/ahp"
	"tandemux/host/auth"
)

// callsQuota and teamQuota end what the quotas of an agent's tool calls, and of its team,
// are of.
const callsQuota, teamQuota = " calls", " team"

// Quota is a bound of what one agent has at once, and of what it starts in a while.
type Quota struct {
	Of         string
	Live, Rate int
}

// maxTeam bounds the panes that one team has at once.
const maxTeam = 64

// quotaOf is what an agent may have at once: for a tool call, in its team, or in the
// background.
func (ts *Terminals) quotaOf(who *auth.Principal, call bool) (Quota, error) {
	limits := ts.AgentLimits()
	switch {
	case call:
		return Quota{who.QuotaKey() + callsQuota, limits.Calls, 0}, nil
	case who.Team && !ts.Start().Tmux:
		return Quota{}, ahp.PermissionDenied("create terminal: an agent's teammates get no panes here: tmux-for-agents = true in the configuration allows it")
	case who.Team:
		return Quota{who.QuotaKey() + teamQuota, maxTeam, 0}, nil
	}
	return Quota{who.QuotaKey(), limits.Terminals, limits.Spawns}, nil
}
