package sessions

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent/commandline"
	"tandemux/host/agent/words"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/sessions/page"
)

// ReviveSession returns a session of an earlier host, from its stored state.
func (ss *Sessions) ReviveSession(ch *core.Channel, state json.RawMessage) (core.Body, error) {
	s := &session{all: ss, ch: ch}
	if err := json.Unmarshal(state, &s.value); err != nil {
		return nil, err
	}
	ss.list = append(ss.list, s)
	return s, nil
}

// ReviveChat returns a chat of an earlier host, from its stored state. Revive connects it to its
// session.
func (ss *Sessions) ReviveChat(ch *core.Channel, state json.RawMessage) (core.Body, error) {
	c := &Chat{all: ss, ch: ch}
	if err := json.Unmarshal(state, &c.value); err != nil {
		return nil, err
	}
	return c, nil
}

// Revive connects the sessions and chats of an earlier host, and ends what their agents were doing,
// because the agents ended with that host (AHP, Lifecycle). It is called when all channels exist.
func (ss *Sessions) Revive(tx core.Tx) {
	for ch := range tx.Channels() {
		if c, ok := ch.Body.(*Chat); ok {
			if s, ok := core.At[*session](tx, c.facts.Session); ok {
				c.s = s
				s.chats = append(s.chats, c)
			} else {
				ss.Log.Error("a chat without its session is dropped", "chat", ch.URI)
				tx.RemoveChannel(ch)
			}
		}
	}
	slices.SortFunc(ss.list, func(a, b *session) int {
		return page.Place{Modified: b.facts.Created, URI: b.ch.URI}.Compare(page.Place{Modified: a.facts.Created, URI: a.ch.URI})
	})
	for _, s := range ss.list {
		s.revive(tx)
	}
	ss.Annotations.Sweep(tx)
	ss.countSessions(tx)
	ss.refreshAgents(tx)
}

// revive updates a session of an earlier host.
func (s *session) revive(tx core.Tx) {
	ss := s.all
	ss.Annotations.Open(tx, s.ch.URI)
	if s.facts.Sandbox != "" {
		s.sandbox = ss.Confine(s.ch.URI, s.facts.Sandbox)
		s.sandbox.Open(tx)
	}
	order := func(c *Chat) int {
		return slices.IndexFunc(s.value.Chats, func(r ahp.ChatSummary) bool { return r.Resource == c.ch.URI })
	}
	slices.SortFunc(s.chats, func(a, b *Chat) int { return order(a) - order(b) })
	s.provider, _ = s.all.Provider(tx, s.value.Provider) //nolint:errcheck // without one, turns fail and say so
	if s.provider == nil && ss.Agent != nil && len(ss.Providers) < MaxAgents {
		if p, err := ss.Agent(s.value.Provider, nil); err == nil && p.Info().ID == s.value.Provider {
			ss.Providers = append(slices.Clip(ss.Providers), p)
			s.provider = p
		}
	}
	if len(s.value.Meta) > 0 {
		json.Unmarshal(s.value.Meta, &s.meta) //nolint:errcheck // without it the agent tells it again
	}
	for _, row := range slices.Clone(s.value.Chats) {
		if _, ok := core.At[*Chat](tx, row.Resource); !ok {
			s.apply(tx, ahp.SessionChatRemoved{Chat: row.Resource}, nil)
		}
	}
	for _, c := range s.chats {
		if order(c) < 0 {
			s.apply(tx, ahp.SessionChatAdded{Summary: c.value.ChatSummary}, nil)
		}
		c.revive(tx)
		s.mirror(tx, c)
	}
	for _, n := range slices.Clone(s.value.InputNeeded) {
		s.met(tx, n.ID)
	}
	for _, cl := range slices.Clone(s.value.ActiveClients) {
		s.all.ClientGone(tx, cl.ClientID)
	}
	opened := slices.ContainsFunc(s.chats, func(c *Chat) bool { return c.facts.Resume != "" })
	switch {
	case s.value.Lifecycle != ahp.LifecycleCreating:
	case opened: // its agent was opened; only the action was missing
		s.apply(tx, ahp.SessionReady{}, nil)
	default:
		s.apply(tx, ahp.SessionCreationFailed{Error: ahp.ErrorInfo{ErrorType: errorRestarted, Message: "the host was restarted while the session was being created"}}, nil)
	}
	s.told = s.summary(tx)
}

const errorRestarted = "hostRestarted"

// revive ends the turn that was active when the earlier host ended.
func (c *Chat) revive(tx core.Tx) {
	if t := c.value.ActiveTurn; t != nil {
		took := int64(0)
		if began, ok := t.StartedAt.Ms(); ok {
			took = max(0, c.all.Now().UnixMilli()-began)
		}
		if c.value.Activity != "" {
			tx.Apply(c.ch, ahp.ChatActivityChanged{}, nil)
		}
		message := "the host was restarted while the agent was at work; send the message again"
		if c.settleCalls(tx, false, true) {
			message = "the host was restarted while the agent was at work; what it ran may have had its effect: look before you send the message again"
		}
		if commandline.Of(t.Message) != "" {
			message = "the host was restarted while the command ran: look in its terminal before you send it again"
		}
		part := words.FailedPart(ahp.ErrorInfo{ErrorType: errorRestarted, Message: message})
		part.Resumable = commandline.Of(t.Message) == ""
		c.apply(tx, ahp.ChatError{TurnID: t.ID, Duration: &took, Part: part}, nil)
	}
	c.all.Terminals.CallEnded(tx, c, "", "") // no tool call runs any more, but its terminal may
	for _, w := range slices.Clone(c.value.BackgroundWork) {
		if t, ok := c.all.Terminals.State(tx, w.Terminal); !ok || t.Lifecycle.Exited() {
			c.apply(tx, ahp.ChatBackgroundWorkRemoved{ID: w.ID}, nil)
		}
	}
}

// resumeTurn handles chat/turnResume for the last turn, which failed. Agents can't resume a turn, so
// they get its message again; if they had begun to answer and remember it, with a note about what
// happened before it.
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
	if began, ok := t.StartedAt.Ms(); ok { // its duration counts from there
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
