package commands

import (
	"context"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/terminal"
	"tandemux/host/terminals"
	"tandemux/internal/plaintext"
)

// read gives a terminal's text without a subscription (x-tandemux/read).
func (cs *Commands) read(_ context.Context, c *requests.Conn, p ahp.ReadParams) (any, error) {
	switch p.What {
	case ahp.ReadScreen, ahp.ReadHistory, ahp.ReadRaw:
	default:
		return nil, ahp.InvalidParams("read terminal: what: %q is none of %q, %q, %q", p.What, ahp.ReadScreen, ahp.ReadHistory, ahp.ReadRaw)
	}
	t, err := cs.find(c, p.Channel, "read terminal")
	if err != nil {
		return nil, err
	}
	r, err := t.Term.Read(p.What)
	if err != nil {
		return nil, ahp.Internal("read terminal: %v", err)
	}
	return r, nil
}

// readCommand gives one command of a terminal and its output (x-tandemux/command).
func (cs *Commands) readCommand(_ context.Context, c *requests.Conn, p ahp.CommandParams) (any, error) {
	if p.Format != "" && p.Format != ahp.FormatText && p.Format != ahp.FormatRaw {
		return nil, ahp.InvalidParams("read command: format: %q is neither %q nor %q", params.Clip(p.Format), ahp.FormatText, ahp.FormatRaw)
	}
	if p.Back < 0 {
		return nil, ahp.InvalidParams("read command: back: %d is negative; 1 is the newest command", p.Back)
	}
	t, err := cs.find(c, p.Channel, "read command")
	if err != nil {
		return nil, err
	}
	if p.From != nil {
		return cs.commandFrom(t, p)
	}
	r, ok := t.Term.Command(p.ID, p.Back, p.Failed)
	if !ok {
		return nil, noCommand(t, p)
	}
	if p.Format != ahp.FormatRaw {
		r.Output, r.Tail = plaintext.Convert(r.Output), plaintext.Convert(r.Tail)
	}
	return r, nil
}

// commandFrom returns a command's output from an offset, for a client that has the
// beginning.
func (cs *Commands) commandFrom(t *terminals.Terminal, p ahp.CommandParams) (any, error) {
	if *p.From < 0 || p.ID == "" || p.Format != ahp.FormatRaw {
		return nil, ahp.InvalidParams("read command: from: takes a commandId, the format %q and a number of bytes", ahp.FormatRaw)
	}
	tx := cs.Core.Lock()
	defer tx.Unlock()
	r, ok := from(tx, t, p.ID, *p.From)
	if !ok {
		return nil, noCommand(t, p)
	}
	r.Seq = t.Last(tx)
	return r, nil
}

// from gives a command with its output behind the first n bytes, when all that was
// pending is applied.
func from(tx core.Tx, t *terminals.Terminal, id string, n int64) (r ahp.CommandResult, ok bool) {
	for !t.Drain(tx, func() (pending []ahp.Action, k terminal.Taken) {
		pending, k, r, ok = t.Term.CommandFrom(id, n)
		return pending, k
	}) {
	}
	return r, ok
}

// noCommand is the error for a command that was not found.
func noCommand(t *terminals.Terminal, p ahp.CommandParams) error {
	known := t.Term.Commands()
	switch {
	case len(known.Items) == 0 && !known.Detection:
		return ahp.NotFound("read command: nothing is known of commands in this terminal: its shell does not mark them")
	case p.ID != "":
		return ahp.NotFound("read command: there is no command %q, or not any more", params.Clip(p.ID))
	case len(known.Items) == 0:
		return ahp.NotFound("read command: no command has run yet")
	case p.Failed:
		return ahp.NotFound("read command: none of the last %d commands failed", len(known.Items))
	}
	return ahp.NotFound("read command: %d is more than the %d commands that are remembered", p.Back, len(known.Items))
}

// listCommands gives the commands that a terminal remembers (x-tandemux/commands).
func (cs *Commands) listCommands(_ context.Context, c *requests.Conn, p ahp.CommandsParams) (any, error) {
	t, err := cs.find(c, p.Channel, "list commands")
	if err != nil {
		return nil, err
	}
	r := t.Term.Commands()
	if p.Limit > 0 && len(r.Items) > p.Limit {
		r.Items = r.Items[len(r.Items)-p.Limit:]
	}
	return r, nil
}

// find is terminals.Find without the lock.
func (cs *Commands) find(c *requests.Conn, uri ahp.URI, doing string) (*terminals.Terminal, error) {
	tx := cs.Core.Lock()
	defer tx.Unlock()
	return terminals.Find(tx, c.Principal, uri, doing)
}
