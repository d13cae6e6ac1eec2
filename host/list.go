package host

import (
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/activity"
	"tandemux/host/core"
)

// listed are the actions that change what the root list says (AHP, Terminal
// Channel).
var listed = map[string]bool{
	ahp.TerminalTitleChanged{}.ActionType(): true,
	ahp.TerminalClaimed{}.ActionType():      true,
	ahp.TerminalExited{}.ActionType():       true,
	ahp.TerminalCwdChanged{}.ActionType():   true,

	ahp.TerminalCommandExecuted{}.ActionType(): true,
	ahp.TerminalCommandFinished{}.ActionType(): true,
}

// listing paces root/terminalsChanged.
type listing struct {
	last  time.Time
	timer *time.Timer // armed while a list is due
	held  bool        // not all terminals are known yet
}

// listChanged sends the list of terminals now or, when the last one is recent,
// later.
func (h *Host) listChanged(tx core.Tx) {
	if h.list.timer != nil || h.list.held {
		return
	}
	wait := activity.Interval - time.Since(h.list.last)
	if wait <= 0 {
		h.sendList(tx)
		return
	}
	h.listAfter(wait)
}

func (h *Host) listAfter(wait time.Duration) {
	h.list.timer = time.AfterFunc(wait, func() {
		tx := h.core.Lock()
		defer tx.Unlock()
		h.sendDueList(tx)
	})
}

// comesOrGoes is called when a client's first connection has come or its last has
// gone, perhaps in the middle of a handshake: what it holds is listed anew, a
// little later.
func (h *Host) comesOrGoes(tx core.Tx, cl *core.Client) {
	if slices.ContainsFunc(h.terms, func(t *term) bool { return t.value.Claim.ClientID == cl.ID }) {
		h.listSoon(tx)
	}
}

// listSoon is listChanged where nothing may be sent now.
func (h *Host) listSoon(tx core.Tx) {
	if h.list.timer == nil && !h.list.held && !tx.Closing() {
		h.listAfter(activity.Interval)
	}
}

// sendDueList sends the list if one is due.
func (h *Host) sendDueList(tx core.Tx) {
	if h.list.timer == nil {
		return
	}
	h.list.timer.Stop()
	h.list.timer = nil
	h.sendList(tx)
}

func (h *Host) sendList(tx core.Tx) {
	now := h.infos(tx)
	if sameInfos(now, h.root.value.Terminals) {
		return
	}
	h.enroll(tx)
	h.list.last = time.Now()
	tx.Apply(h.root.ch, ahp.RootTerminalsChanged{Terminals: now}, nil)
}
