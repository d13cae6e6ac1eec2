package terminals

import (
	"tandemux/ahp"
	"tandemux/host/params"
)

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
			done := *last // The list that was sent keeps the old one.
			done.Running, done.ExitCode, done.DurationMs = false, a.ExitCode, a.DurationMs
			t.Meta.LastCommand = &done
		}
	}
}

// clipLine cuts a command line at a character.
func clipLine(s string) string {
	if cut := params.ClipTo(s, maxListedLine); cut != s {
		return cut + "…"
	}
	return s
}
