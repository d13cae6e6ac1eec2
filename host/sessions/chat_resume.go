package sessions

import (
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent/commandline"
	"tandemux/host/agent/words"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// resumeTurn is chat/turnResume: the last turn, which failed, goes on. Agents have
// no way to do that, so they are asked again: with the message as it was, or where
// they had begun to answer and remember it, with what happened in front of it.
func resumeTurn(tx core.Tx, d *requests.Dispatch) string {
	c, a := d.Channel.Body.(*Chat), d.Action.(ahp.ChatTurnResume)
	if s := c.mayPrompt(nil); s != "" {
		return s
	}
	switch {
	case c.value.ActiveTurn != nil:
		return fmt.Sprintf("TurnInProgress: the turn %s has not ended", params.Clip(c.value.ActiveTurn.ID))
	case !c.value.Resumable(a.TurnID):
		return "only the last turn can go on, and only when it failed in a way that allows it: send a message"
	}
	t := c.value.Turns[len(c.value.Turns)-1]
	if commandline.Of(t.Message) != "" {
		return "a command line can't go on: send it again"
	}
	r := newPrompting(c, t.ID, t.Message)
	if began, ok := t.StartedAt.Ms(); ok { // Its duration is from there.
		r.started = time.UnixMilli(began)
	}
	if n := len(t.ResponseParts); n > 1 && t.ResponseParts[n-1].Error != nil {
		r.broken = t.ResponseParts[n-1].Error.Message
	}
	for _, p := range t.ResponseParts {
		if p.ToolCall != nil {
			r.calls[p.ToolCall.ToolCallID] = &call{r: r, id: p.ToolCall.ToolCallID, over: true, before: true}
		}
	}
	c.all.Audit.Did(d.By.Link.Who(), "resume", d.Channel.URI, "turn", params.Clip(a.TurnID))
	c.begin(tx, r, a, d.By)
	return ""
}

// goOn is what an agent is asked that had begun to answer.
func goOn(message, broken string) string {
	return fmt.Sprintf("Your last turn was interrupted (%s). Go on where you were. What was asked: %s", params.ClipTo(broken, words.MaxError), message)
}
