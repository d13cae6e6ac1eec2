package sessions

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/core"
)

// permitCall begins the ids of tool calls that Permit makes.
const permitCall = "may"

// Permit calls Chat.Permit of the chat uri, if it exists.
func (ss *Sessions) Permit(ctx context.Context, uri ahp.URI, command, what string) (answer string, err error) {
	var c *Chat
	ss.Core.Locked(func(tx core.Tx) { c, _ = core.At[*Chat](tx, uri) })
	if c == nil {
		return ahp.AskNobody, nil
	}
	return c.Permit(ctx, command, what)
}

// Permit asks whether the chat's agent may run a dangerous command, as a tool call of the active turn.
// So it is answered where questions of tools are. The answer is one of ahp.AskGranted and the like.
func (c *Chat) Permit(ctx context.Context, command, what string) (answer string, err error) {
	var r *prompting
	c.all.Core.Locked(func(tx core.Tx) { r = c.now })
	if r == nil {
		return ahp.AskNobody, nil
	}
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return ahp.AskRefused, err
	}
	call := agent.ToolCall{ID: newID(permitCall), Name: "run", Kind: "execute", Title: "a dangerous command: " + what, Input: input}
	a, err := r.Confirm(ctx, agent.Confirmation{Call: call, ByPerson: true, Options: []agent.Choice{
		{ID: "allow", Name: "Allow once", Group: agent.ConfirmAllowOnce}, {ID: "reject", Name: "Refuse", Group: agent.ConfirmRejectOnce},
	}})
	switch {
	case err != nil:
		return ahp.AskTimeout, nil
	case a.Option != "allow":
		return ahp.AskRefused, nil
	}
	call.Status = agent.ToolCompleted
	r.Tool(call)
	return ahp.AskGranted, nil
}
