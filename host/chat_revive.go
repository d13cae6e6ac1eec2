package host

import (
	"encoding/json"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
)

// reviveSession makes a session that an earlier host left.
func reviveSession(h *Host, ch *core.Channel, state json.RawMessage) (core.Body, error) {
	s := &session{h: h, ch: ch}
	if err := json.Unmarshal(state, &s.value); err != nil {
		return nil, err
	}
	h.sessions.list = append(h.sessions.list, s)
	return s, nil
}

// reviveChat makes a chat that an earlier host left; it finds its session when
// all are there.
func reviveChat(h *Host, ch *core.Channel, state json.RawMessage) (core.Body, error) {
	c := &chat{h: h, ch: ch}
	if err := json.Unmarshal(state, &c.value); err != nil {
		return nil, err
	}
	return c, nil
}

// reviveSessions puts sessions and chats together again that an earlier host
// left, and ends what its agents were doing: they are gone with it (AHP,
// Lifecycle). The caller holds the lock; all channels are there.
func (ss *sessions) reviveSessions(tx core.Tx) {
	for ch := range tx.Channels() {
		if c, ok := ch.Body.(*chat); ok {
			if s, ok := sessionAt(tx, c.facts.Session); ok {
				c.s = s
				s.chats = append(s.chats, c)
			} else {
				ss.h.log.Error("a chat without its session is dropped", "chat", ch.URI)
				tx.RemoveChannel(ch)
			}
		}
	}
	slices.SortFunc(ss.list, func(a, b *session) int {
		return rankOf(ahp.SessionSummary{ModifiedAt: a.facts.Created, Resource: a.ch.URI}).compare(rankOf(ahp.SessionSummary{ModifiedAt: b.facts.Created, Resource: b.ch.URI})) * -1
	})
	for _, s := range ss.list {
		s.revive(tx)
	}
	if n := ss.h.root.value.ActiveSessions; n != nil || len(ss.list) > 0 {
		ss.countSessions(tx)
	}
	ss.refreshAgents(tx)
}

// revive brings one session up to date.
func (s *session) revive(tx core.Tx) {
	h := s.h
	if s.facts.Sandbox != "" {
		s.confined = h.confine(s.ch.URI, s.facts.Sandbox)
		s.openSocket(tx)
	}
	order := func(c *chat) int {
		return slices.IndexFunc(s.value.Chats, func(r ahp.ChatSummary) bool { return r.Resource == c.ch.URI })
	}
	slices.SortFunc(s.chats, func(a, b *chat) int { return order(a) - order(b) })
	s.provider, _ = s.h.sessions.provider(tx, s.value.Provider) //nolint:errcheck // without one, turns fail and say so
	if s.provider == nil && h.cfg.Agent != nil && len(h.sessions.providers) < maxAgents {
		if p, err := h.cfg.Agent(s.value.Provider, nil); err == nil && p.Info().ID == s.value.Provider {
			h.sessions.providers = append(slices.Clip(h.sessions.providers), p)
			s.provider = p
		}
	}
	if len(s.value.Meta) > 0 {
		json.Unmarshal(s.value.Meta, &s.meta) //nolint:errcheck // then it is told anew
	}
	for _, row := range slices.Clone(s.value.Chats) {
		if _, ok := chatAt(tx, row.Resource); !ok {
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
		s.h.sessions.clientGone(tx, cl.ClientID)
	}
	opened := slices.ContainsFunc(s.chats, func(c *chat) bool { return c.facts.Resume != "" })
	switch {
	case s.value.Lifecycle != ahp.LifecycleCreating:
	case opened: // Its agent was there; only the word of it was not.
		s.apply(tx, ahp.SessionReady{}, nil)
	default:
		s.apply(tx, ahp.SessionCreationFailed{Error: ahp.ErrorInfo{ErrorType: errorRestarted, Message: "the host was restarted while the session was being created"}}, nil)
	}
	s.told = s.summary(tx)
}

const errorRestarted = "hostRestarted"

// revive ends the turn that was active when the earlier host ended.
func (c *chat) revive(tx core.Tx) {
	if t := c.value.ActiveTurn; t != nil {
		took := int64(0)
		if began, ok := t.StartedAt.Ms(); ok {
			took = max(0, c.h.now().UnixMilli()-began)
		}
		if c.value.Activity != "" {
			tx.Apply(c.ch, ahp.ChatActivityChanged{}, nil)
		}
		message := "the host was restarted while the agent was at work; send the message again"
		if c.settleCalls(tx, false, func(string) time.Time { return time.Time{} }) {
			message = "the host was restarted while the agent was at work; what it ran may have had its effect: look before you send the message again"
		}
		c.apply(tx, ahp.ChatError{TurnID: t.ID, Duration: &took, Part: failedPart(ahp.ErrorInfo{ErrorType: errorRestarted, Message: message})}, nil)
	}
	if ended := c.h.sessions.turnEnded; ended != nil {
		ended(tx, c, "", "") // No tool call runs any more; its terminal may.
	}
	for _, w := range slices.Clone(c.value.BackgroundWork) {
		if t, ok := termAt(tx, w.Terminal); !ok || t.value.Lifecycle.Exited() {
			c.apply(tx, ahp.ChatBackgroundWorkRemoved{ID: w.ID}, nil)
		}
	}
}
