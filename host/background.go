package host

import (
	"slices"
	"strings"

	"tandemux/ahp"
)

// followWork keeps a chat's list of background work: the terminals that its session
// holds for no tool call and whose command still runs (G41). The caller has told the
// terminal's action.
func (ss *sessions) followWork(tx Tx, t *term, a ahp.Action) {
	switch a.(type) {
	case ahp.TerminalClaimed, ahp.TerminalExited:
	default:
		return
	}
	claim := t.value.Claim
	parked := claim.Kind == ahp.ClaimSession && claim.TurnID+claim.ToolCallID == "" && !t.value.Lifecycle.Exited()
	for _, s := range ss.list {
		for _, c := range s.chats {
			has := slices.ContainsFunc(c.value.BackgroundWork, func(w ahp.BackgroundWork) bool { return w.ID == t.ch.uri })
			wants := parked && claim.Chat == c.ch.uri && claim.Session == s.ch.uri
			switch {
			case wants && !has:
				c.apply(tx, ahp.ChatBackgroundWorkSet{Work: t.work()}, nil)
			case has && !wants:
				c.apply(tx, ahp.ChatBackgroundWorkRemoved{ID: t.ch.uri}, nil)
			}
		}
	}
}

// work is the terminal as a chat's background work.
func (t *term) work() ahp.BackgroundWork {
	return ahp.BackgroundWork{
		ID: t.ch.uri, Label: t.value.Title, StartedAt: ahp.InstantOf(t.meta.Created), Kind: ahp.WorkShell,
		Command: strings.Join(t.meta.Command, " "), Terminal: t.ch.uri,
	}
}
