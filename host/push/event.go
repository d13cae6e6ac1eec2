package push

import (
	"time"

	"tandemux/ahp"
	"tandemux/host/hooks"
)

// Kinds are the events that browsers may be told of.
var Kinds = []string{hooks.Question, hooks.Attention, hooks.Command, hooks.Turn}

// long is what a command takes that somebody may have gone away from.
const long = 10 * time.Second

// Text is what browsers are told of an event, empty for nothing. It says nothing of what
// the event is about.
func Text(e hooks.Event) string {
	switch {
	case e.Event == hooks.Question:
		return "An agent waits for your answer."
	case e.Event == hooks.Turn && (e.Outcome == hooks.Failed || e.Outcome == hooks.Budget):
		return "An agent's turn has failed."
	case e.Status != nil && e.Status.State == ahp.StatusBlocked:
		return "A terminal waits for you."
	case e.Status != nil && e.Status.State == ahp.StatusError:
		return "A program has failed."
	case e.Command == nil || e.Command.DurationMs == nil || *e.Command.DurationMs < long.Milliseconds():
		return ""
	case e.Command.ExitCode != nil && *e.Command.ExitCode != 0:
		return "A long command has failed."
	}
	return "A long command has ended."
}
