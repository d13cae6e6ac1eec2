package sessions

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent/words"
	"tandemux/host/core"
)

// errorInterrupted is the code of the error of a tool call whose end nobody has told:
// its message says what is known.
var errorInterrupted = json.RawMessage(`"tandemux/interrupted"`)

// settleCalls ends the tool calls of the active turn that have not ended, before the
// turn does: what a turn's end leaves open counts as skipped in AHP, and what has
// run was not. complete says that the agent has ended its turn in order; since is
// when a call began, zero where that is not known. It reports whether one of them
// may have run.
func (c *Chat) settleCalls(tx core.Tx, complete bool, since func(id string) time.Time) (ran bool) {
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
			c.apply(tx, c.interrupted(tx, turn.ID, t, complete, since(t.ToolCallID)), nil)
		default:
			ran = ran || t.Status == ahp.ToolStreaming // Some agents don't say when they begin.
		}
	}
	return ran
}

// interrupted ends a tool call that ran, with what is known of it.
func (c *Chat) interrupted(tx core.Tx, turn string, t *ahp.ToolCall, complete bool, since time.Time) ahp.ChatToolCallComplete {
	how, meta, after := "may have run", t.Meta, ""
	if !since.IsZero() {
		if took := c.all.Now().Sub(since); took >= time.Second {
			meta = words.WithMember(meta, "tandemux/took", took.Milliseconds())
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
		case !complete && !since.IsZero() && held: // Whoever interrupts the agent ends what it waits for.
			how = "interrupted" + after + ", in terminal " + path.Base(uri)
		default:
			how = "still running in " + path.Base(uri)
		}
	}
	return ahp.ChatToolCallComplete{TurnID: turn, ToolCallID: t.ToolCallID, Meta: meta, Result: ahp.ToolResult{
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
