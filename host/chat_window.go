package host

import (
	"slices"
	"strings"

	"tandemux/ahp"
)

// A chat's state holds its latest turns, the window; those before wait in
// chat.older until somebody asks for them (fetchTurns). Turns move out of the
// window without an action, as lines of a terminal do: a client that has seen
// them keeps them.
const (
	windowTurns = 200
	windowBytes = 2 << 20
	olderBytes  = 8 << 20
	pageTurns   = 50
	pageBytes   = 1 << 20
)

// compactLater compacts if the window is so large that it must not wait for
// everybody to look away.
func (c *chat) compactLater(tx Tx) {
	if len(c.value.Turns) > 2*windowTurns || turnsWeight(c.value.Turns) > 2*windowBytes {
		c.compact(tx)
	}
}

// compact moves old turns out of the window, down to half of what it may hold.
func (c *chat) compact(tx Tx) {
	turns := c.value.Turns
	if len(turns) <= windowTurns && turnsWeight(turns) <= windowBytes {
		return
	}
	keep, size := 0, 0
	for i := len(turns) - 1; i >= 0; i-- {
		size += turnWeight(turns[i])
		if keep > 0 && (keep >= windowTurns/2 || size > windowBytes/2) {
			break
		}
		keep++
	}
	out := len(turns) - keep
	c.older = append(c.older, turns[:out]...)
	c.value.Turns = slices.Clone(turns[out:])
	for total := turnsWeight(c.older); total > olderBytes && len(c.older) > 0; {
		total -= turnWeight(c.older[0])
		c.older = slices.Delete(c.older, 0, 1)
	}
	c.value.TurnsNextCursor = c.cursor()
	c.dirty = true
	// What came before can't be replayed into a smaller state.
	c.ch.log.floor = c.h.seq.last
	c.ch.log.entries, c.ch.log.head, c.ch.log.bytes = nil, 0, 0
	if c.ch.journal != nil {
		c.h.checkpoint(tx, c.ch, false)
	}
}

// cursor names the turns before the window, "" when there are none.
func (c *chat) cursor() string {
	if len(c.older) == 0 || len(c.value.Turns) == 0 {
		return ""
	}
	return "before:" + c.value.Turns[0].ID
}

// load puts the latest n older turns back into the window, for everybody.
func (c *chat) load(tx Tx, n int) {
	from := max(0, len(c.older)-n)
	page := slices.Clone(c.older[from:])
	c.older = slices.Clone(c.older[:from])
	c.dirty = true
	next := ""
	if from > 0 {
		next = "before:" + page[0].ID
	}
	c.apply(tx, ahp.ChatTurnsLoaded{Turns: page, TurnsNextCursor: next}, nil)
}

// fetch answers a fetchTurns in the window's terms.
func (c *chat) fetch(tx Tx, cursor string) error {
	switch {
	case cursor == "" || cursor == c.value.TurnsNextCursor:
	case slices.ContainsFunc(c.value.Turns, func(t ahp.Turn) bool { return cursor == "before:"+t.ID }):
		return nil // Somebody else has loaded them since.
	default:
		return ahp.InvalidParams("fetch turns: the cursor %q is not one of this chat's", clip(cursor))
	}
	if len(c.older) == 0 {
		return nil
	}
	n, size := 0, 0
	for i := len(c.older) - 1; i >= 0 && n < pageTurns; i-- {
		if size += turnWeight(c.older[i]); n > 0 && size > pageBytes {
			break
		}
		n++
	}
	c.load(tx, n)
	return nil
}

func turnsWeight(turns []ahp.Turn) int {
	n := 0
	for _, t := range turns {
		n += turnWeight(t)
	}
	return n
}

// turnWeight is about the size of a turn on the wire.
func turnWeight(t ahp.Turn) int {
	n := overhead + messageWeight(t.Message)
	for _, p := range t.ResponseParts {
		n += partWeight(p)
	}
	return n
}

func messageWeight(m ahp.Message) int {
	n := overhead + len(m.Text) + len(m.Meta)
	for _, a := range m.Attachments {
		n += overhead + len(a.Data) + len(a.ModelRepresentation) + len(a.URI) + len(a.Label)
	}
	return n
}

func partWeight(p ahp.ResponsePart) int {
	n := overhead + len(p.Content) + len(p.Raw) + len(p.Meta)
	if t := p.ToolCall; t != nil {
		n += overhead + len(t.ToolInput) + len(t.Edits) + len(t.PartialInput) + len(t.StructuredContent) + len(t.Meta) + contentWeight(t.Content)
	}
	if p.Request != nil {
		n += overhead * (1 + len(p.Request.Questions))
	}
	return n
}

func contentWeight(list []ahp.ToolContent) int {
	n := 0
	for _, c := range list {
		n += overhead + len(c.Text) + len(c.Data) + len(c.Before) + len(c.After) + len(c.Diff) + len(c.Raw)
	}
	return n
}

// chatWeight is weight for actions of sessions and chats: what is beyond the
// overhead.
func chatWeight(a ahp.Action) int {
	switch a := a.(type) {
	case ahp.ChatDelta:
		return len(a.Content)
	case ahp.ChatReasoning:
		return len(a.Content)
	case ahp.ChatResponsePart:
		return partWeight(a.Part)
	case ahp.ChatTurnStarted:
		return messageWeight(a.Message)
	case ahp.ChatPendingMessageSet:
		return messageWeight(a.Message)
	case ahp.ChatDraftChanged:
		if a.Draft != nil {
			return messageWeight(*a.Draft)
		}
	case ahp.ChatTurnsLoaded:
		return turnsWeight(a.Turns)
	case ahp.ChatToolCallReady:
		return len(a.ToolInput) + len(a.Edits) + len(a.Meta) + overhead*len(a.Options)
	case ahp.ChatToolCallContentChanged:
		return contentWeight(a.Content) + len(a.Meta)
	case ahp.ChatToolCallComplete:
		return contentWeight(a.Result.Content) + len(a.Result.StructuredContent) + len(a.Meta)
	default:
		if !strings.HasPrefix(a.ActionType(), "chat/") && !strings.HasPrefix(a.ActionType(), "session/") {
			return 0
		}
		b, err := ahp.EncodeAction(ahp.V1, a) // rare, and small
		if err == nil {
			return len(b)
		}
	}
	return 0
}
