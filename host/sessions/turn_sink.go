package sessions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/core"
	"tandemux/host/params"
)

// gathered is text of the agent's that was not applied yet. Like output of terminals it is applied at
// once after a pause, and otherwise at most once per textInterval.
type gathered struct {
	kind string // the part's kind
	part string // the part's id
	made bool   // the part exists
	buf  strings.Builder
	last time.Time
	due  *time.Timer // nil unless a flush is due
}

func (g *gathered) stop() {
	if g.due != nil {
		g.due.Stop()
		g.due = nil
	}
}

const (
	textInterval = 25 * time.Millisecond
	textPiece    = 16 << 10 // bytes that are applied at once in any case
)

func (r *prompting) Message(text string) { r.say(ahp.PartMarkdown, text) }

func (r *prompting) Reasoning(text string) { r.say(ahp.PartReasoning, text) }

func (r *prompting) say(kind, text string) {
	if text == "" {
		return
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	r.event(len(text), func(tx core.Tx) {
		g := &r.text
		if g.kind != kind {
			r.closeText(tx)
			g.kind, g.part = kind, newID("part")
		}
		g.buf.WriteString(text)
		wait := textInterval - time.Since(g.last)
		switch {
		case wait <= 0 || g.buf.Len() >= textPiece:
			r.flush(tx)
		case g.due == nil:
			g.due = time.AfterFunc(wait, func() { r.c.all.Core.Do(func(tx core.Tx) { r.flush(tx) }) })
		}
	})
}

// event calls do under the lock, unless the turn has ended. size is how many bytes it adds; an agent
// that says too much fails its turn.
func (r *prompting) event(size int, do func(tx core.Tx)) {
	r.c.all.Core.Do(func(tx core.Tx) {
		if r.over || r.c.Dead(tx) {
			return
		}
		r.heard(tx)
		if r.said += size + 64; r.said > r.c.all.Limits.TurnBytes {
			r.fail(tx, ahp.ErrorInfo{ErrorType: agent.KindProtocol, Message: fmt.Sprintf("the agent said more than %d bytes in one turn", r.c.all.Limits.TurnBytes)})
			return
		}
		do(tx)
	})
}

// flush applies the text that has gathered.
func (r *prompting) flush(tx core.Tx) {
	g := &r.text
	g.stop()
	if g.buf.Len() == 0 || r.over || r.c.Dead(tx) {
		return
	}
	text := g.buf.String()
	g.buf.Reset()
	g.last = time.Now()
	var a ahp.Action
	switch {
	case !g.made:
		g.made = true
		if !r.room(tx) {
			return
		}
		a = ahp.ChatResponsePart{TurnID: r.id, Part: ahp.ResponsePart{Kind: g.kind, ID: g.part, Content: text}}
	case g.kind == ahp.PartReasoning:
		a = ahp.ChatReasoning{TurnID: r.id, PartID: g.part, Content: text}
	default:
		a = ahp.ChatDelta{TurnID: r.id, PartID: g.part, Content: text}
	}
	r.c.apply(tx, a, nil)
}

// closeText ends the current text part. Later text begins another one.
func (r *prompting) closeText(tx core.Tx) {
	r.flush(tx)
	r.text.kind, r.text.part, r.text.made = "", "", false
}

// room counts a new part, and fails a turn with too many.
func (r *prompting) room(tx core.Tx) bool {
	if r.parts++; r.parts <= maxTurnParts {
		return true
	}
	if r.parts == maxTurnParts+1 {
		r.fail(tx, ahp.ErrorInfo{ErrorType: agent.KindProtocol, Message: fmt.Sprintf("the agent's turn has more than %d parts", maxTurnParts)})
	}
	return false
}

// part appends a part that is not text.
func (r *prompting) part(tx core.Tx, p ahp.ResponsePart) {
	r.closeText(tx)
	if !r.over && r.room(tx) {
		r.c.apply(tx, ahp.ChatResponsePart{TurnID: r.id, Part: p}, nil)
	}
}

func (r *prompting) note(tx core.Tx, text string) {
	r.part(tx, ahp.ResponsePart{Kind: ahp.PartSystemNotification, Note: ahp.Plain(params.ClipTo(text, words.MaxError))})
}

func (r *prompting) Notice(text string) { r.event(len(text), func(tx core.Tx) { r.note(tx, text) }) }

func (r *prompting) Usage(u agent.Usage) {
	r.event(0, func(tx core.Tx) { r.c.apply(tx, ahp.ChatUsage{TurnID: r.id, Usage: words.Usage(u)}, nil) })
}

// Plan implements agent.Sink. The plan is stored in the session's _meta.
func (r *prompting) Plan(entries []agent.PlanEntry) {
	entries = entries[:min(len(entries), maxPlan)]
	size := 0
	for _, e := range entries {
		size += len(e.Text)
	}
	r.event(size, func(tx core.Tx) {
		s := r.c.s
		plans := map[ahp.URI][]ahp.AgentPlanEntry{}
		maps.Copy(plans, s.meta.Plans)
		plans[r.c.ch.URI] = entries
		s.meta.Plans = plans
		s.setMeta(tx)
	})
}

// endPlan removes the chat's plan if all of it is completed.
func (c *Chat) endPlan(tx core.Tx) {
	plan, ok := c.s.meta.Plans[c.ch.URI]
	if !ok {
		return
	}
	if slices.ContainsFunc(plan, func(e ahp.AgentPlanEntry) bool { return e.Status != "completed" }) {
		return // the next turn may continue it
	}
	c.s.meta.Plans = maps.Clone(c.s.meta.Plans)
	delete(c.s.meta.Plans, c.ch.URI)
	c.s.setMeta(tx)
}

// sessionUsage is tandemux's addition to a session's summary ("tandemux/usage"): what its finished
// turns took, and since when one runs.
type sessionUsage struct {
	Tokens   int64 `json:"tokens,omitempty"` // input and output
	WorkedMs int64 `json:"workedMs,omitempty"`
	Since    int64 `json:"since,omitempty"` // Unix ms; 0 if no turn runs
}

// usage returns the summary's _meta, or nil if it would be empty.
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

// tally adds what the ending turn has taken to the chat's facts.
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
