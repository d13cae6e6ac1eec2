package sessions

import (
	"slices"

	"tandemux/ahp"
	"tandemux/host/core"
)

// FollowWork keeps the chats' lists of background work: the terminals that a session
// holds for no tool call and whose command still runs (G41). It is called when a
// terminal's claim has changed, or it has exited; work describes it.
func (ss *Sessions) FollowWork(tx core.Tx, t ahp.TerminalState, work ahp.BackgroundWork) {
	claim := t.Claim
	parked := claim.Kind == ahp.ClaimSession && claim.TurnID+claim.ToolCallID == "" && !t.Lifecycle.Exited()
	for _, s := range ss.list {
		for _, c := range s.chats {
			has := slices.ContainsFunc(c.value.BackgroundWork, func(w ahp.BackgroundWork) bool { return w.ID == work.ID })
			wants := parked && claim.Chat == c.ch.URI && claim.Session == s.ch.URI
			switch {
			case wants && !has:
				c.apply(tx, ahp.ChatBackgroundWorkSet{Work: work}, nil)
			case has && !wants:
				c.apply(tx, ahp.ChatBackgroundWorkRemoved{ID: work.ID}, nil)
			}
		}
	}
}
