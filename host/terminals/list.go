package terminals

import (
	"reflect"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/activity"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
)

// listed is the actions that change a row of the root list (AHP, Terminal Channel).
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
	held  bool        // not all of an earlier host's terminals are known yet
}

// Changed sends the list of terminals now or, if the last one is recent, later.
func (ts *Terminals) Changed(tx core.Tx) {
	if ts.list.timer != nil || ts.list.held {
		return
	}
	wait := activity.Interval - time.Since(ts.list.last)
	if wait <= 0 {
		ts.SendList(tx)
		return
	}
	ts.listAfter(wait)
}

func (ts *Terminals) listAfter(wait time.Duration) {
	ts.list.timer = time.AfterFunc(wait, func() {
		tx := ts.Core.Lock()
		defer tx.Unlock()
		ts.SendDue(tx)
	})
}

// ComesOrGoes is called when a client's first connection has come or its last has gone, perhaps
// during a handshake. It schedules a new list, as the rows of the client's terminals change.
func (ts *Terminals) ComesOrGoes(tx core.Tx, cl *core.Client) {
	if slices.ContainsFunc(ts.all, func(t *Terminal) bool { return t.Value.Claim.ClientID == cl.ID }) {
		ts.ListSoon(tx)
	}
}

// ListSoon is Changed for callers that must not send anything now.
func (ts *Terminals) ListSoon(tx core.Tx) {
	if ts.list.timer == nil && !ts.list.held && !tx.Closing() {
		ts.listAfter(activity.Interval)
	}
}

// SendDue sends the list if one is due.
func (ts *Terminals) SendDue(tx core.Tx) {
	if ts.list.timer == nil {
		return
	}
	ts.list.timer.Stop()
	ts.list.timer = nil
	ts.SendList(tx)
}

// SendList sends the list if it has changed.
func (ts *Terminals) SendList(tx core.Tx) {
	root := tx.Channel(ahp.RootURI)
	layouts, meta := ts.Host.Layouts(tx)
	now := ts.infos(tx, layouts)
	tx.Tells(root)
	told := root.Body.State(tx).(ahp.RootState)
	if len(now) == len(told.Terminals) && (len(now) == 0 || reflect.DeepEqual(now, told.Terminals)) && reflect.DeepEqual(meta, told.Meta) {
		return
	}
	ts.enroll(tx)
	ts.list.last = time.Now()
	tx.Apply(root, ahp.RootTerminalsChanged{Terminals: now, Meta: meta}, nil)
}

// infos is the present list of terminals, oldest first.
func (ts *Terminals) infos(tx core.Tx, layouts map[ahp.URI][]ahp.URI) []ahp.TerminalInfo {
	list := make([]ahp.TerminalInfo, 0, len(ts.all))
	for _, t := range ts.all {
		meta := t.Meta
		meta.Cwd = t.Value.Cwd
		meta.Layouts = layouts[t.ch.URI]
		if id, ok := auth.TokenOf(t.Holder); ok {
			if meta.Holder = ts.Host.TokenName(id); t.Person != "" {
				meta.Holder = t.Person + " (" + meta.Holder + ")"
			}
		}
		meta.Shares = ts.Host.Shares(t.ch, t.proc)
		if meta.Name != "" {
			meta.Title = t.auto
		}
		if c := t.Value.Claim; c.Kind == ahp.ClaimClient {
			cl := tx.Client(c.ClientID)
			meta.Detached = cl == nil || !cl.Here()
		}
		list = append(list, ahp.TerminalInfo{
			Resource: t.ch.URI, Title: t.Value.Title, Claim: t.Value.Claim,
			Lifecycle: t.Value.Lifecycle, Meta: &meta,
		})
	}
	return list
}

// maxListedLine bounds the command line in a row of the list of terminals.
const maxListedLine = 256

// noteCommand keeps the newest command for the list of terminals.
func (t *Terminal) noteCommand(a ahp.Action) {
	switch a := a.(type) {
	case ahp.TerminalCommandExecuted:
		t.Meta.LastCommand = &ahp.CommandInfo{
			ID: a.CommandID, CommandLine: clipLine(a.CommandLine), Timestamp: a.Timestamp, Running: true, Cwd: t.Value.Cwd,
		}
	case ahp.TerminalCommandFinished:
		if last := t.Meta.LastCommand; last != nil && last.ID == a.CommandID {
			done := *last // a copy: the list that was sent has the old one
			done.Running, done.ExitCode, done.DurationMs = false, a.ExitCode, a.DurationMs
			t.Meta.LastCommand = &done
		}
	}
}

// clipLine shortens a command line to at most maxListedLine bytes, between characters.
func clipLine(s string) string {
	if cut := params.ClipTo(s, maxListedLine); cut != s {
		return cut + "…"
	}
	return s
}
