package commands

import (
	"context"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/requests"
	"tandemux/host/terminals"
)

// mark tells where a terminal is (x-tandemux/mark), so that what is asked from there
// on can be asked again, of this host or the next one.
func (cs *Commands) mark(_ context.Context, c *requests.Conn, p ahp.MarkParams) (any, error) {
	tx := cs.Core.Lock()
	defer tx.Unlock()
	t, err := terminals.Find(tx, c.Principal, p.Channel, "mark")
	if err != nil {
		return nil, err
	}
	m := ahp.Mark{Line: t.PresentLine(tx), Seq: t.Last(tx)}
	items := t.Term.Commands().Items
	if n := len(items); n > 0 {
		if m.Last = items[n-1].ID; items[n-1].Running {
			m.CommandID = m.Last
		}
	}
	m.Next = m.CommandID == "" && !t.Value.Lifecycle.Exited() && t.Term.Entered()
	return m, nil
}

// bind finds the command that a wait from a mark is about: the one that ran there,
// or that Enter there has begun since.
func (w *wait) bind() {
	m := w.from
	if w.command = m.CommandID; w.command != "" || !m.Next {
		return
	}
	items := w.t.Term.Commands().Items
	newer := slices.IndexFunc(items, func(i ahp.CommandInfo) bool { return i.ID == m.Last }) + 1
	if newer < len(items) {
		w.command = items[newer].ID
	}
}

// forCommandFrom answers a wait for a command from a mark if that has ended. It
// reports whether it has.
func (w *wait) forCommandFrom(tx core.Tx, items []ahp.CommandInfo) (over bool) {
	id := w.command
	if id == "" && w.t.Term.Entered() && w.from.Next {
		return false
	}
	if id == "" {
		id = w.from.Last
	}
	r := ahp.WaitResult{Reason: ahp.WaitMet, CommandID: id}
	for _, item := range items {
		if item.ID == id {
			if item.Running {
				return false
			}
			r.ExitCode = item.ExitCode
		}
	}
	if w.command != "" && r.ExitCode == nil && w.t.Value.Lifecycle.Exited() {
		r.Reason, r.ExitCode = ahp.WaitExited, w.t.ExitCode(tx)
	}
	w.reply(tx, r)
	return true
}

// quietFor is how long there must be no output from now on for a wait from a mark
// that lies ago back.
func (w *wait) quietFor(tx core.Tx, ago time.Duration) time.Duration {
	es, ok := w.t.Since(tx, w.from.Seq)
	if !ok || slices.ContainsFunc(es, shows) {
		return w.quiet // When it came is not known.
	}
	return max(w.quiet-ago, 0)
}

// shows reports whether an action changes the content.
func shows(e ahp.Envelope) bool {
	switch e.Action.(type) {
	case ahp.TerminalData, ahp.TerminalCleared:
		return true
	}
	return false
}

// replay shows the wait what came since its mark. Where that is not known any
// more, all output that is kept is matched: rather a line of before than none.
func (w *wait) replay(tx core.Tx, es []ahp.Envelope, ok bool) {
	for _, e := range es {
		w.see(tx, w, e.Action)
	}
	if ok || w.command == "" {
		return
	}
	if cmd, runs := w.t.Term.Running(); !runs || cmd.ID != w.command {
		w.match.last(ahp.WaitResult{Reason: ahp.WaitFinished})
	}
}
