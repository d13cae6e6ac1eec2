package sessions

import (
	"slices"

	"tandemux/ahp"
	"tandemux/host/agent/words"
	"tandemux/host/core"
	"tandemux/host/params"
)

// Chats that are made from another one: a fork has its turns, a side chat only
// what its agent remembers of them. An agent's session is copied as it is, so that
// the source's last turn is the only one to begin from.
const (
	sourceFork = "fork"
	sourceSide = "sideChat"
)

// refusesSource says why a chat can't be made from another one.
func (s *session) refusesSource(tx core.Tx, from ahp.ChatSource) error {
	if from.Kind != sourceFork && from.Kind != sourceSide {
		return ahp.InvalidParams("create chat: source: kind: it is %q or %q", sourceFork, sourceSide)
	}
	c, ok := core.At[*Chat](tx, from.Chat)
	if !ok || c.s != s {
		return ahp.InvalidParams("create chat: source: there is no chat %q in the session", params.Clip(from.Chat))
	}
	turns := c.value.Turns
	known := func(t ahp.Turn) bool { return t.ID == from.TurnID }
	switch {
	case s.provider == nil || !s.provider.Info().Fork:
		return ahp.InvalidParams("create chat: source: the agent of this session can't begin from another chat")
	case c.value.ActiveTurn != nil:
		return ahp.Errorf(ahp.CodeTurnInProgress, "create chat: source: the chat's turn has not ended")
	case len(turns) == 0 || from.TurnID != "" && !slices.ContainsFunc(turns, known) && !slices.ContainsFunc(c.older, known):
		return ahp.InvalidParams("create chat: source: the chat has no turn %q", params.Clip(from.TurnID))
	case from.TurnID != "" && turns[len(turns)-1].ID != from.TurnID:
		return ahp.InvalidParams("create chat: source: the agent can begin only from the chat's last turn, %s", turns[len(turns)-1].ID)
	case c.facts.Resume == "" || c.forgot:
		return ahp.InvalidParams("create chat: source: the agent does not remember that chat")
	case len(from.Selection) > words.MaxText:
		return ahp.InvalidParams("create chat: source: selection: larger than %d bytes", words.MaxText)
	}
	return nil
}

// copyOf makes a new chat one that begins from another, and begins to copy the
// agent's session. The caller has seen that it can be done.
func (c *Chat) copyOf(tx core.Tx, from ahp.ChatSource) *agentStart {
	source, _ := core.At[*Chat](tx, from.Chat)
	turns := source.value.Turns
	c.value.Origin = &ahp.ChatOrigin{Kind: from.Kind, Chat: from.Chat, TurnID: turns[len(turns)-1].ID}
	if from.Kind == sourceSide {
		c.value.Origin.Selection = from.Selection
	} else {
		c.value.Turns, c.older = slices.Clone(turns), slices.Clone(source.older)
		c.value.TurnsNextCursor = c.cursor()
	}
	c.facts.Fork, c.dirty = source.facts.Resume, true
	tx.Checkpoint(c.ch)
	return c.open(tx)
}
