package terminals

import (
	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/shell"
)

// callsQuota and teamQuota are the suffixes of the names of quotas for an agent's tool calls, and
// for its team.
const callsQuota, teamQuota = " calls", " team"

// Quota bounds the terminals that one agent has at once, and how often it starts one.
type Quota struct {
	Of         string
	Live, Rate int
}

const (
	// maxTeam bounds the panes that one team has at once.
	maxTeam = 64
	// maxTeams bounds the remembered answers about teams; beyond it all are forgotten.
	maxTeams = 1000
)

// quotaOf is the quota of an agent: for a tool call, in its team, or in the background.
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

// Team says whether the teammates of a session's agent get panes: ahp.AskGranted, ahp.AskRefused,
// or "" if a person must be asked.
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

// Teams is people's answers about the teammates of agents, by the agents' sessions. The lock
// guards it.
type Teams map[ahp.URI]bool

// Answer keeps an answer.
func (t Teams) Answer(_ core.Tx, session ahp.URI, may bool) {
	if len(t) >= maxTeams {
		clear(t)
	}
	t[session] = may
}
