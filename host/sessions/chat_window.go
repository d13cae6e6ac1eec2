package sessions

import (
	"slices"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/params"
)

// The state of a chat has its latest turns, the window. Older turns are in chatFacts.Older until a
// client asks for them (fetchTurns). Turns leave the window without an action, as lines leave a
// terminal's history: clients that have seen them keep them.
const (
	windowTurns = 200
	windowBytes = 2 << 20
	olderBytes  = 8 << 20
	pageTurns   = 50
	pageBytes   = 1 << 20
)

// compact moves old turns out of the window until it is half full.
func (c *Chat) compact(tx core.Tx) {
	turns := c.value.Turns
	if len(turns) <= windowTurns && core.TurnsBytes(turns) <= windowBytes {
		return
	}
	keep, size := 0, 0
	for i := len(turns) - 1; i >= 0; i-- {
		size += core.TurnBytes(turns[i])
		if keep > 0 && (keep >= windowTurns/2 || size > windowBytes/2) {
			break
		}
		keep++
	}
	out := len(turns) - keep
	c.facts.Older = append(c.facts.Older, turns[:out]...)
	c.value.Turns = slices.Clone(turns[out:])
	for total := core.TurnsBytes(c.facts.Older); total > olderBytes && len(c.facts.Older) > 0; {
		total -= core.TurnBytes(c.facts.Older[0])
		c.facts.Older = slices.Delete(c.facts.Older, 0, 1)
	}
	c.value.TurnsNextCursor = c.cursor()
	c.dirty = true
	// Older actions can't be replayed into a smaller state.
	tx.DropReplay(c.ch)
	tx.Checkpoint(c.ch)
}

// cursor returns the cursor of the turns before the window, or "".
func (c *Chat) cursor() string {
	if len(c.facts.Older) == 0 || len(c.value.Turns) == 0 {
		return ""
	}
	return "before:" + c.value.Turns[0].ID
}

// load moves the latest n older turns back into the window, for all clients.
func (c *Chat) load(tx core.Tx, n int) {
	from := max(0, len(c.facts.Older)-n)
	page := slices.Clone(c.facts.Older[from:])
	c.facts.Older = slices.Clone(c.facts.Older[:from])
	c.dirty = true
	next := ""
	if from > 0 {
		next = "before:" + page[0].ID
	}
	c.apply(tx, ahp.ChatTurnsLoaded{Turns: page, TurnsNextCursor: next}, nil)
}

// fetch handles a fetchTurns with a cursor.
func (c *Chat) fetch(tx core.Tx, cursor string) error {
	switch {
	case cursor == "" || cursor == c.value.TurnsNextCursor:
	case slices.ContainsFunc(c.value.Turns, func(t ahp.Turn) bool { return cursor == "before:"+t.ID }):
		return nil // another client has loaded them meanwhile
	default:
		return ahp.InvalidParams("fetch turns: the cursor %q is not one of this chat's", params.Clip(cursor))
	}
	if len(c.facts.Older) == 0 {
		return nil
	}
	n, size := 0, 0
	for i := len(c.facts.Older) - 1; i >= 0 && n < pageTurns; i-- {
		if size += core.TurnBytes(c.facts.Older[i]); n > 0 && size > pageBytes {
			break
		}
		n++
	}
	c.load(tx, n)
	return nil
}
