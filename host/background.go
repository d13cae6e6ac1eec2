package host

import (
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/core"
)

// followWork keeps a chat's list of background work: the terminals that its session
// holds for no tool call and whose command still runs (G41). The caller has told the
// terminal's action.
func (ss *sessions) followWork(tx core.Tx, t *term, a ahp.Action) {
	switch a.(type) {
	case ahp.TerminalClaimed, ahp.TerminalExited:
	default:
		return
	}
	claim := t.value.Claim
	parked := claim.Kind == ahp.ClaimSession && claim.TurnID+claim.ToolCallID == "" && !t.value.Lifecycle.Exited()
	for _, s := range ss.list {
		for _, c := range s.chats {
			has := slices.ContainsFunc(c.value.BackgroundWork, func(w ahp.BackgroundWork) bool { return w.ID == t.ch.URI })
			wants := parked && claim.Chat == c.ch.URI && claim.Session == s.ch.URI
			switch {
			case wants && !has:
				c.apply(tx, ahp.ChatBackgroundWorkSet{Work: t.work()}, nil)
			case has && !wants:
				c.apply(tx, ahp.ChatBackgroundWorkRemoved{ID: t.ch.URI}, nil)
			}
		}
	}
}

// work is the terminal as a chat's background work.
func (t *term) work() ahp.BackgroundWork {
	return ahp.BackgroundWork{
		ID: t.ch.URI, Label: t.value.Title, StartedAt: ahp.InstantOf(t.meta.Created), Kind: ahp.WorkShell,
		Command: strings.Join(t.meta.Command, " "), Terminal: t.ch.URI,
	}
}
