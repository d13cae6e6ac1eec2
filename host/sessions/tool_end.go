package sessions

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
)

// errorInterrupted is the code of the error of a tool call whose end nobody has told:
// its message says what is known.
var errorInterrupted = json.RawMessage(`"tandemux/interrupted"`)

// settleCalls ends the tool calls of the active turn that have not ended, before the
// turn does: what a turn's end leaves open counts as skipped in AHP, and what has
// run was not. complete says that the agent has ended its turn in order; died,
// that an earlier host ended in it. It reports whether one of them may have run.
func (c *Chat) settleCalls(tx core.Tx, complete, died bool) (ran bool) {
	turn := c.value.ActiveTurn
	if turn == nil {
		return false
	}
	for _, p := range turn.ResponseParts {
		t := p.ToolCall
		if t == nil || t.Over() {
			continue
		}
		switch t.Status {
		case ahp.ToolPending:
			c.apply(tx, ahp.ChatToolCallConfirmed{
				TurnID: turn.ID, ToolCallID: t.ToolCallID, Reason: ahp.ReasonSkipped, ReasonMessage: ahp.Plain("not run: nobody had allowed it"),
			}, nil)
		case ahp.ToolRunning:
			ran = true
			c.apply(tx, c.interrupted(tx, turn.ID, t, complete, died), nil)
		default:
			ran = ran || t.Status == ahp.ToolStreaming // Some agents don't say when they begin.
		}
	}
	return ran
}

// interrupted ends a tool call that ran, with what is known of it.
func (c *Chat) interrupted(tx core.Tx, turn string, t *ahp.ToolCall, complete, died bool) ahp.ChatToolCallComplete {
	how, after := "may have run", ""
	if ms, ok := elapsed(t.StartedAt, c.all.Now()); ok && !died {
		if took := time.Duration(ms) * time.Millisecond; took >= time.Second {
			after = fmt.Sprintf(" after %v", took.Truncate(time.Second))
		}
		how = "interrupted" + after + ", may have run to its end"
	}
	if complete {
		how = "the agent did not say how it ended"
	}
	for _, uri := range c.terminalsOf(tx, t) {
		term, _ := c.all.Terminals.State(tx, uri)
		claim, life := term.Claim, term.Lifecycle
		switch held := claim.Chat == c.ch.URI && claim.ToolCallID != ""; {
		case life.Exited() && life.ExitCode != nil:
			how = fmt.Sprintf("its command has ended with exit code %d", *life.ExitCode)
		case life.Exited():
			how = "its command was ended by a signal"
		case !complete && !died && held: // Whoever interrupts the agent ends what it waits for.
			how = "interrupted" + after + ", in terminal " + path.Base(uri)
		default:
			how = "still running in " + path.Base(uri)
		}
	}
	return ahp.ChatToolCallComplete{TurnID: turn, ToolCallID: t.ToolCallID, Meta: t.Meta, Result: ahp.ToolResult{
		PastTenseMessage: t.InvocationMessage, Content: t.Content, Error: &ahp.ToolError{Message: how, Code: errorInterrupted},
	}}
}

// terminalsOf are the terminals that a tool call shows, or that are held for it.
func (c *Chat) terminalsOf(tx core.Tx, t *ahp.ToolCall) (list []ahp.URI) {
	for _, k := range t.Content {
		if _, ok := c.all.Terminals.State(tx, k.Resource); ok && k.Type == ahp.ContentTerminal {
			list = append(list, k.Resource)
		}
	}
	for _, uri := range c.all.Terminals.HeldFor(tx, c, t.ToolCallID) {
		if !slices.Contains(list, uri) {
			list = append(list, uri)
		}
	}
	return list
}
