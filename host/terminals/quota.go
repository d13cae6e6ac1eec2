package terminals

import (
	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/shell"
)

// callsQuota and teamQuota end what the quotas of an agent's tool calls, and of its team,
// are of.
const callsQuota, teamQuota = " calls", " team"

// Quota is a bound of what one agent has at once, and of what it starts in a while.
type Quota struct {
	Of         string
	Live, Rate int
}

const (
	// maxTeam bounds the panes that one team has at once.
	maxTeam = 64
	// maxTeams bounds the answers about teams; beyond it all are asked about anew.
	maxTeams = 1000
)

// quotaOf is what an agent may have at once: for a tool call, in its team, or in the
// background.
func (ts *Terminals) quotaOf(who *auth.Principal, call bool) (Quota, error) {
	limits := ts.AgentLimits()
	switch {
	case call:
		return Quota{who.QuotaKey() + callsQuota, limits.Calls, 0}, nil
	case who.Team:
		answer, err := ts.Team(who.Session)
		if err == nil && answer != ahp.AskGranted {
			err = ahp.PermissionDenied("create terminal: nobody has allowed panes for this agent's teammates")
		}
		return Quota{who.QuotaKey() + teamQuota, maxTeam, 0}, err
	}
	return Quota{who.QuotaKey(), limits.Terminals, limits.Spawns}, nil
}

// Team says whether the teammates of a session's agent get panes: ahp.AskGranted,
// ahp.AskRefused, or "" where a person is to be asked.
func (ts *Terminals) Team(session ahp.URI) (answer string, err error) {
	switch ts.Start().Tmux {
	case shell.TmuxOn:
		return ahp.AskGranted, nil
	case shell.TmuxAsk:
		ts.Core.Locked(func(core.Tx) {
			if may, known := ts.Teams[session]; known {
				answer = map[bool]string{true: ahp.AskGranted, false: ahp.AskRefused}[may]
			}
		})
		return answer, nil
	}
	return "", ahp.PermissionDenied("create terminal: an agent's teammates get no panes here: tmux-for-agents in the configuration allows them")
}

// Teams is what people have said about the teammates of agents, by the agents' sessions.
// Guarded by the lock.
type Teams map[ahp.URI]bool

// Answer keeps an answer.
func (t Teams) Answer(_ core.Tx, session ahp.URI, may bool) {
	if len(t) >= maxTeams {
		clear(t)
	}
	t[session] = may
}
