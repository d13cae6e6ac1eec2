package host

import (
	"context"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/terminal"
)

// mark tells where a terminal is (x-tandemux/mark), so that what is asked from there
// on can be asked again, of this host or the next one.
func mark(_ context.Context, h *Host, c *requests.Conn, p ahp.MarkParams) (any, error) {
	tx := h.core.Lock()
	defer tx.Unlock()
	t, ok := termAt(tx, p.Channel)
	if !ok {
		return nil, ahp.NotFound("mark: there is no terminal %q", params.Clip(p.Channel))
	}
	return t.markOf(tx), nil
}

// markOf is where a terminal is now.
func (t *term) markOf(tx core.Tx) ahp.Mark {
	m := ahp.Mark{Line: t.presentLine(tx)}
	m.Seq = t.ch.Last()
	items := t.t.Commands().Items
	if n := len(items); n > 0 {
		if m.Last = items[n-1].ID; items[n-1].Running {
			m.CommandID = m.Last
		}
	}
	m.Next = m.CommandID == "" && !t.value.Lifecycle.Exited() && t.t.Entered()
	return m
}

// presentLine is the line that the cursor is on, up to there, when all that was
// pending is applied.
func (t *term) presentLine(tx core.Tx) (line string) {
	for !t.drain(tx, func() (pending []ahp.Action, k terminal.Taken) {
		pending, k, line = t.t.PresentLine()
		return pending, k
	}) {
	}
	return line
}

// since gives what the terminal did after a mark; ok is false when the first of
// it is not known any more. It is valid until the next action.
func (t *term) since(tx core.Tx, m *ahp.Mark) (es []ahp.Envelope, ok bool) {
	return t.ch.Since(m.Seq)
}

// bind finds the command that a wait from a mark is about: the one that ran there,
// or that Enter there has begun since.
func (w *wait) bind() {
	m := w.from
	if w.command = m.CommandID; w.command != "" || !m.Next {
		return
	}
	items := w.t.t.Commands().Items
	newer := slices.IndexFunc(items, func(i ahp.CommandInfo) bool { return i.ID == m.Last }) + 1
	if newer < len(items) {
		w.command = items[newer].ID
	}
}

// forCommandFrom answers a wait for a command from a mark if that has ended. It
// reports whether it has.
func (w *wait) forCommandFrom(tx core.Tx, items []ahp.CommandInfo) (over bool) {
	id := w.command
	if id == "" && w.t.t.Entered() && w.from.Next {
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
	if w.command != "" && r.ExitCode == nil && w.t.value.Lifecycle.Exited() {
		r.Reason, r.ExitCode = ahp.WaitExited, w.t.exitCode()
	}
	w.reply(tx, r)
	return true
}

// quietFor is how long there must be no output from now on for a wait from a mark
// that lies ago back.
func (w *wait) quietFor(tx core.Tx, ago time.Duration) time.Duration {
	es, ok := w.t.since(tx, w.from)
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
	if cmd, runs := w.t.t.Running(); !runs || cmd.ID != w.command {
		w.match.last(ahp.WaitResult{Reason: ahp.WaitFinished})
	}
}
