package terminal

import (
	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/terminal/output"
)

// parts is the content, never nil. Its texts together are a stream that makes the present
// state. The running command is its last part, unless the content was cleared since it
// began (G12–G15). The caller holds screen.
func (t *Terminal) parts(limit int) []ahp.Part {
	if t.kept.whole && wireSize(t.kept.raw.Pieces()...) <= limit {
		return assemble(&t.kept.raw, t.kept.cuts)
	}
	state, marks := t.snapshot(limit)
	cuts := t.cmds.cutAt(marks, len(state))
	var stream output.Range
	stream.Add(t.filter.Resume(state))
	return assemble(&stream, cuts)
}

// assemble makes parts of a stream; cuts are where each begins.
func assemble(stream *output.Range, cuts []cut) []ahp.Part {
	parts := make([]ahp.Part, 0, len(cuts)+1)
	text := func(from, to int, cmd *command) {
		b := output.Text(stream.Append(make([]byte, 0, to-from), from, to))
		switch {
		case cmd != nil:
			parts = append(parts, cmd.part(b))
		case from < to:
			parts = append(parts, ahp.Part{Type: ahp.PartUnclassified, Value: b})
		}
	}
	at, cmd := 0, (*command)(nil)
	for _, c := range cuts {
		text(at, c.at, cmd)
		at, cmd = c.at, c.cmd
	}
	text(at, stream.Size(), cmd)
	return parts
}

// part is the command as a part with the given output (R10).
func (c *command) part(output string) ahp.Part {
	return ahp.Part{
		Type: ahp.PartCommand, CommandID: c.info.ID, CommandLine: c.info.CommandLine, Timestamp: c.info.Timestamp,
		Output: output, IsComplete: !c.info.Running, ExitCode: c.info.ExitCode, DurationMs: c.info.DurationMs,
	}
}

// cutAt finds the commands in a serialised state of the given length, by the marks that
// are left in it. If only one of a command's two marks is left, its output can't be told
// from what is around it, and its part is empty. The exception is the first command with
// only its end left: its beginning has gone with the history, so its part begins the state.
func (c *commands) cutAt(marks []emulator.Cut, length int) []cut {
	at := make(map[uint64]int, len(marks))
	for _, m := range marks {
		at[m.ID] = m.At
	}
	var cuts []cut
	last := 0      // where the previous part ends
	older := false // something of an older command is left
	for _, cmd := range c.list {
		if number(cmd.info.ID) <= c.hidden {
			continue
		}
		from, begins := at[cmd.begin]
		to, ends := at[cmd.end]
		running := cmd == c.running
		switch {
		case running && begins:
			to = length
		case running && (older || !c.marks):
			from, to = length, length
		case running:
			from, to = last, length
		case begins && ends:
		case begins:
			to = from
		case ends && older:
			from = to
		case ends:
			from = last
		default:
			continue
		}
		older = true
		// A program can move the cursor up before it ends.
		from = max(from, last)
		to = max(to, from)
		cuts = append(cuts, cut{from, cmd}, cut{to, nil})
		last = to
	}
	if c.running != nil && len(cuts) > 0 && cuts[len(cuts)-2].cmd == c.running {
		cuts = cuts[:len(cuts)-1] // the rest of an incomplete sequence belongs to it
	}
	return cuts
}
