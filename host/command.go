package host

import (
	"context"

	"tandemux/ahp"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/terminal"
	"tandemux/internal/plaintext"
)

// maxListedLine bounds the command line in a row of the list of terminals.
const maxListedLine = 256

// readCommand gives one command of a terminal and its output (x-tandemux/command).
func readCommand(_ context.Context, h *Host, c *requests.Conn, p ahp.CommandParams) (any, error) {
	if p.Format != "" && p.Format != ahp.FormatText && p.Format != ahp.FormatRaw {
		return nil, ahp.InvalidParams("read command: format: %q is neither %q nor %q", params.Clip(p.Format), ahp.FormatText, ahp.FormatRaw)
	}
	if p.Back < 0 {
		return nil, ahp.InvalidParams("read command: back: %d is negative; 1 is the newest command", p.Back)
	}
	t, err := h.terminalAt(p.Channel, "read command")
	if err != nil {
		return nil, err
	}
	if p.From != nil {
		return t.commandFrom(p)
	}
	r, ok := t.t.Command(p.ID, p.Back, p.Failed)
	if !ok {
		return nil, t.noCommand(p)
	}
	if p.Format != ahp.FormatRaw {
		r.Output, r.Tail = plaintext.Convert(r.Output), plaintext.Convert(r.Tail)
	}
	return r, nil
}

// commandFrom gives what follows of a command's output, to who has its beginning
// from what it was told before.
func (t *term) commandFrom(p ahp.CommandParams) (any, error) {
	h := t.h
	if *p.From < 0 || p.ID == "" || p.Format != ahp.FormatRaw {
		return nil, ahp.InvalidParams("read command: from: takes a commandId, the format %q and a number of bytes", ahp.FormatRaw)
	}
	tx := h.core.Lock()
	defer tx.Unlock()
	var r ahp.CommandResult
	var ok bool
	for !t.drain(tx, func() (pending []ahp.Action, k terminal.Taken) {
		pending, k, r, ok = t.t.CommandFrom(p.ID, *p.From)
		return pending, k
	}) {
	}
	if !ok {
		return nil, t.noCommand(p)
	}
	r.Seq = t.ch.Last()
	return r, nil
}

// noCommand says why there is none.
func (t *term) noCommand(p ahp.CommandParams) error {
	known := t.t.Commands()
	switch {
	case len(known.Items) == 0 && !known.Detection:
		return ahp.NotFound("read command: nothing is known of commands in this terminal: its shell does not mark them")
	case p.ID != "":
		return ahp.NotFound("read command: there is no command %q, or not any more", params.Clip(p.ID))
	case p.Failed:
		return ahp.NotFound("read command: none of the last %d commands failed", len(known.Items))
	case len(known.Items) == 0:
		return ahp.NotFound("read command: no command has run yet")
	}
	return ahp.NotFound("read command: %d is more than the %d commands that are remembered", p.Back, len(known.Items))
}

// listCommands gives the commands that a terminal remembers (x-tandemux/commands).
func listCommands(_ context.Context, h *Host, c *requests.Conn, p ahp.CommandsParams) (any, error) {
	t, err := h.terminalAt(p.Channel, "list commands")
	if err != nil {
		return nil, err
	}
	r := t.t.Commands()
	if p.Limit > 0 && len(r.Items) > p.Limit {
		r.Items = r.Items[len(r.Items)-p.Limit:]
	}
	return r, nil
}

// terminalAt finds the terminal of a request.
func (h *Host) terminalAt(uri ahp.URI, doing string) (*term, error) {
	tx := h.core.Lock()
	defer tx.Unlock()
	t, ok := termAt(tx, uri)
	if !ok {
		return nil, ahp.NotFound("%s: there is no terminal %q", doing, params.Clip(uri))
	}
	return t, nil
}

// noteCommand keeps the newest command for the list of terminals.
func (t *term) noteCommand(a ahp.Action) {
	switch a := a.(type) {
	case ahp.TerminalCommandExecuted:
		t.meta.LastCommand = &ahp.CommandInfo{
			ID: a.CommandID, CommandLine: clipLine(a.CommandLine), Timestamp: a.Timestamp, Running: true, Cwd: t.value.Cwd,
		}
	case ahp.TerminalCommandFinished:
		if last := t.meta.LastCommand; last != nil && last.ID == a.CommandID {
			done := *last // The list that was sent keeps the old one.
			done.Running, done.ExitCode, done.DurationMs = false, a.ExitCode, a.DurationMs
			t.meta.LastCommand = &done
		}
	}
}

// clipLine cuts a command line at a character.
func clipLine(s string) string {
	if len(s) <= maxListedLine {
		return s
	}
	n := maxListedLine
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
