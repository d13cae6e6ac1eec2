package sessions

import (
	"context"

	"tandemux/ahp"
	"tandemux/host/completion"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// completions offers what may follow in a message to a chat.
func (ss *Sessions) completions(_ context.Context, _ *requests.Conn, p ahp.CompletionsParams) (any, error) {
	tx := ss.Core.Lock()
	chat, ok := core.At[*Chat](tx, p.Channel)
	var commands []ahp.AgentCommand
	var roots []string
	if ok {
		commands, roots = chat.s.meta.Commands, chat.s.facts.Roots
	}
	tx.Unlock()
	if !ok {
		return nil, ahp.SessionNotFound("completions: there is no chat %q", params.Clip(p.Channel))
	}
	return completion.Of(p, commands, roots)
}
