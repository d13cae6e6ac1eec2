package sessions

import (
	"encoding/json"
	"time"

	"tandemux/host/core"
)

// sessionUsage is tandemux's addition to a session's summary ("tandemux/usage"): what its
// finished turns took, and since when one runs.
type sessionUsage struct {
	Tokens   int64 `json:"tokens,omitempty"` // in and out
	WorkedMs int64 `json:"workedMs,omitempty"`
	Since    int64 `json:"since,omitempty"` // Unix ms; 0 while no turn runs
}

// usage is the summary's _meta, nil when there is nothing to tell.
func (s *session) usage() json.RawMessage {
	var u sessionUsage
	for _, c := range s.chats {
		u.Tokens += c.facts.Tokens
		u.WorkedMs += c.facts.WorkedMs
		if t := c.value.ActiveTurn; t != nil {
			if at, err := time.Parse(time.RFC3339, string(t.StartedAt)); err == nil && (u.Since == 0 || at.UnixMilli() < u.Since) {
				u.Since = at.UnixMilli()
			}
		}
	}
	if u == (sessionUsage{}) {
		return nil
	}
	b, err := json.Marshal(map[string]sessionUsage{"tandemux/usage": u})
	if err != nil {
		return nil
	}
	return b
}

// tally adds what a turn that ends has taken.
func (c *Chat) tally(tx core.Tx, r *prompting) {
	t := c.value.ActiveTurn
	if t == nil || t.ID != r.id {
		return
	}
	c.facts.WorkedMs += *r.took()
	if u := t.Usage; u != nil {
		for _, n := range []*int64{u.InputTokens, u.OutputTokens} {
			if n != nil {
				c.facts.Tokens += *n
			}
		}
	}
	c.dirty = true
}
