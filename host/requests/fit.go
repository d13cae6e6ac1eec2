package requests

import (
	"math"
	"slices"

	"tandemux/ahp"
	"tandemux/host/core"
)

// leastShare is what each terminal may have of a reply, however many there are: a
// screen without history fits.
const leastShare = 16 << 10

// fit makes the snapshots of one reply fit into it, by leaving out history of the
// terminals that have most: a client that comes back to many terminals gets all of
// them. The snapshots were taken in the same turn.
func (c *Conn) fit(tx core.Tx, taken []snapshot) {
	sizes := make([]int, len(taken))
	total := 0
	for i, s := range taken {
		sizes[i] = contentSize(s.state)
		total += sizes[i]
	}
	room := c.s.Limits.ReplyBytes / 10 * 9
	if total <= room {
		return
	}
	share := max(leastShare, level(sizes, room))
	for i, s := range taken {
		if sizes[i] <= share {
			continue
		}
		ch := tx.Channel(s.uri)
		tx.Unsubscribe(ch, c.Link) // What this brings in is part of the state.
		if state, ok := c.s.Channels.StateWithin(tx, ch, share); ok {
			taken[i] = snapshot{uri: s.uri, state: state, seq: tx.Seq()}
		}
		tx.Subscribe(ch, c.Link)
	}
}

// contentSize is the size of a state as JSON has it, roughly but for the content
// of terminals.
func contentSize(state any) int {
	const around = 1 << 10
	n := around
	switch s := state.(type) {
	case ahp.RootState:
		n += around * len(s.Terminals)
	case ahp.LayoutState:
		n += len(s.Doc)
	case ahp.TerminalState:
		for _, p := range s.Content {
			n += wireSize(p.CommandLine) + wireSize(p.Text()) + 200
		}
	}
	return n
}

// wireSize is the length of s as a JSON string.
func wireSize(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n', c == '\r', c == '\t', c == '"', c == '\\':
			n++
		case c < ' ':
			n += 5
		}
	}
	return n
}

// level is the most that each of sizes may have, so that together they have no
// more than total.
func level(sizes []int, total int) int {
	left := slices.Sorted(slices.Values(sizes))
	for len(left) > 0 && left[0] <= total/len(left) {
		total -= left[0]
		left = left[1:]
	}
	if len(left) == 0 {
		return math.MaxInt
	}
	return total / len(left)
}
