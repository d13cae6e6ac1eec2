package commands

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/shell"
	"tandemux/host/terminal"
	"tandemux/host/terminals"
	"tandemux/internal/jsonrpc"
)

// run types a command into a shell that waits for one, and answers once the
// shell has begun it (x-tandemux/run). mayRun checks the permission.
func (cs *Commands) run(_ context.Context, c *requests.Conn, p ahp.RunParams) (any, error) {
	argv := p.Command
	if p.Line != "" {
		argv = []string{"eval", p.Line}
	}
	if err := checkRun(p, argv); err != nil {
		return nil, err
	}
	tx := cs.Core.Lock()
	defer tx.Unlock()
	w, err := cs.newWait(tx, c, p.Channel, "run")
	if err != nil {
		return nil, err
	}
	w.key = p.Key
	if id := w.t.RanAs(tx, c.Client.ID, p.Key); id != "" {
		w.again(tx, id)
		return nil, jsonrpc.ErrReplied
	}
	if err := w.mayRun(tx, p); err != nil {
		w.end(tx)
		return nil, err
	}
	if p.Stdin {
		if w.feed, err = cs.Terminals.NewFeeder(c); err != nil {
			w.end(tx)
			return nil, err
		}
	}
	err = w.submit(tx, p, argv)
	if err == nil && p.Typed && w.line != "" {
		err = ahp.Conflict("run: its shell does not wait for a command")
	}
	if err != nil {
		w.feed.End()
		w.end(tx)
		return nil, err
	}
	cs.Audit.Did(c.Who(), "run", w.t.URI())
	return nil, jsonrpc.ErrReplied
}

// maxTyped bounds a line that is typed as it is, in bytes.
const maxTyped = 64 << 10

// checkRun says what is wrong with a request for argv; a line that is typed is what a
// person would type where an empty prompt waits for it.
func checkRun(p ahp.RunParams, argv []string) error {
	switch _, err := terminals.CheckCommand(argv, ""); {
	case p.Typed && (p.Line == "" || len(p.Command) > 0 || p.Stdin):
		return ahp.InvalidParams("run: typed: takes a line and nothing else")
	case p.Typed && len(p.Line) > maxTyped:
		return ahp.InvalidParams("run: line: %d bytes are too long to be typed; at most %d", len(p.Line), maxTyped)
	case p.Typed && strings.ContainsFunc(p.Line, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }):
		return ahp.InvalidParams("run: line: control characters would be keys to the shell's line editor")
	case p.Line != "" && len(p.Command) > 0:
		return ahp.InvalidParams("run: command and line: give one of them")
	case err != nil:
		return ahp.InvalidParams("run: command: missing, empty or too long")
	case len(p.Key) > terminals.MaxRunKey:
		return ahp.InvalidParams("run: key: longer than %d bytes", terminals.MaxRunKey)
	}
	return nil
}

// seeBegin answers when the shell has begun the command.
func (w *wait) seeBegin(tx core.Tx, _ *wait, a ahp.Action) {
	switch a := a.(type) {
	case ahp.TerminalCommandExecuted:
		if w.line == "" && a.CommandID == w.command {
			w.answer(tx, ahp.RunResult{CommandID: a.CommandID, CommandLine: a.CommandLine}, nil)
		}
	case ahp.TerminalExited:
		w.answer(tx, nil, ahp.Conflict("run: the shell ended before it ran the command"))
	}
}

// submit types the command, now or when the shell shows its prompt: of a command
// that has just ended, or of a shell that is starting. A line in the shell's
// language goes as it is if it is words alone; else argv, which evaluates it: one
// that isn't complete is an error then, not a shell that waits for the rest.
func (w *wait) submit(tx core.Tx, p ahp.RunParams, argv []string) error {
	w.t.Flush(tx)
	base := filepath.Base(w.t.Shell())
	if words := strings.Fields(p.Line); shell.Quote(words, base) == p.Line && p.Line != "" {
		argv = words
	}
	w.line, w.see = shell.Quote(argv, base), w.seeBegin
	switch w.plain = cmp.Or(p.Line, w.line); {
	case p.Typed:
		w.line, w.plain = p.Line, ""
	case w.feed != nil:
		w.line = w.feed.Redirect(w.line)
	}
	if err := w.submitLine(tx); err != nil {
		return err
	}
	w.timer = w.after(beginTime, func(tx core.Tx) {
		why := "its shell has not shown a prompt"
		if w.line == "" {
			why = "the command was typed, but the shell has not begun it"
		}
		w.answer(tx, nil, ahp.Conflict("run: %s within %v: look at the terminal with `tandemux read`", why, beginTime))
	})
	return nil
}

// mayRun decides whether the command may be typed, and judges an agent's.
func (w *wait) mayRun(tx core.Tx, p ahp.RunParams) error {
	if _, refusal := w.t.MayType(tx, w.c.Principal, w.c.Client.ID); refusal != "" || w.c.Principal.Agent == "" {
		return params.Allowed("run", refusal)
	}
	return terminals.Denied(w.cs.Terminals.MayRun(tx, w.t.Value.Claim.Session, p.Command, p.Line))
}

// ready tries again after the shell did not wait for a command.
func (w *wait) ready(tx core.Tx) {
	if w.line == "" || w.over {
		return
	}
	if err := w.submitLine(tx); err != nil {
		w.answer(tx, nil, err)
	}
}

// submitLine types the line if the shell waits for one; not yet is no error.
func (w *wait) submitLine(tx core.Tx) error {
	refusal := ""
	follow := false
	if follow, refusal = w.t.MayType(tx, w.c.Principal, w.c.Client.ID); refusal != "" {
		return params.Allowed("run", refusal)
	}
	id, err := w.t.TypeLine(tx, w.line, w.plain, w.c.Client.ID, w.key)
	switch {
	case errors.Is(err, terminal.ErrNoPrompt):
		if w.idle == nil && w.t.Term.Entered() {
			w.idle = w.after(terminal.EnterTime, func(tx core.Tx) {
				w.idle.Reset(terminal.EnterTime)
				w.ready(tx)
			})
		}
		return nil
	case errors.Is(err, terminal.ErrNoDetection):
		return ahp.Conflict("run: the shell of this terminal does not mark its commands, so their end can't be seen: type with `tandemux send`, or run the command in a terminal of its own")
	case err != nil:
		return ahp.Conflict("run: the terminal can't take a command now: %v", err)
	}
	w.line, w.command, w.next = "", id, true
	if w.feed != nil {
		w.t.SetFeed(tx, w.feed)
	}
	w.t.SetFollower(tx, w.c)
	if follow {
		w.t.Claim(tx, ahp.Claim{Kind: ahp.ClaimClient, ClientID: w.c.Client.ID}, nil, w.c.Principal)
	}
	return nil
}

// again answers a run that was asked for before with the command that it became,
// or waits until that begins.
func (w *wait) again(tx core.Tx, id string) {
	w.command, w.next, w.see = id, true, w.seeBegin
	w.t.Flush(tx)
	items := w.t.Term.Commands().Items
	for _, item := range items {
		if item.ID == id {
			w.answer(tx, ahp.RunResult{CommandID: id, CommandLine: item.CommandLine}, nil)
			return
		}
	}
	w.timer = w.after(beginTime, func(tx core.Tx) {
		w.answer(tx, nil, ahp.Conflict("run: the command was typed, but the shell has not begun it within %v: look at the terminal with `tandemux read`", beginTime))
	})
}

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
	m := w.asked.From
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
	if id == "" && w.t.Term.Entered() && w.asked.From.Next {
		return false
	}
	id = cmp.Or(id, w.asked.From.Last)
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
	es, ok := w.t.Since(tx, w.asked.From.Seq)
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
