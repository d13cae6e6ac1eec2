package sessions

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/core"
)

// session is the body of a session's channel: what its chats share. It is guarded by the core's lock.
type session struct {
	all   *Sessions
	ch    *core.Channel
	value ahp.SessionState
	facts sessionFacts
	dirty bool // facts have changed since Changed was called

	provider agent.Provider // nil if this host no longer has it
	chats    []*Chat        // in the order of value.Chats
	told     ahp.SessionSummary
	meta     sessionMeta
	absent   map[string]*time.Timer // timers of active clients that are disconnected, by client id
	// toolsChanged is closed when the clients' tools change; nil if nobody waits for that.
	toolsChanged chan struct{}
	beginning    *beginning // nil unless the first agent is being opened
	sandbox      Sandbox    // nil unless facts.Sandbox is set; immutable
}

// sessionFacts is what the host stores about a session besides its state.
type sessionFacts struct {
	Created  ahp.Instant `json:"created"`
	Modified ahp.Instant `json:"modified"`
	// Owner is the principal that made the session.
	Owner string   `json:"owner"`
	Roots []string `json:"roots"`
	// Confirm is one of ahp.Confirms.
	Confirm string `json:"confirm"`
	// Named says that a person set the title.
	Named  bool           `json:"named,omitempty"`
	Config map[string]any `json:"config,omitempty"`
	// Sandbox names what the session is confined to; empty for most sessions.
	Sandbox string `json:"sandbox,omitempty"`
	// Reviewed is what package changes stores with Review.
	Reviewed map[string]string `json:"reviewed,omitempty"`
}

// sessionMeta is the session's _meta: what AHP has no member for.
type sessionMeta struct {
	Can      *ahp.AgentCan                    `json:"tandemux/can,omitempty"`
	Options  []ahp.AgentOption                `json:"tandemux/options,omitempty"`
	Commands []ahp.AgentCommand               `json:"tandemux/commands,omitempty"`
	Plans    map[ahp.URI][]ahp.AgentPlanEntry `json:"tandemux/plans,omitempty"`
}

func (s *session) Reduce(a ahp.Action) { s.value = ahp.ReduceSession(s.value, a) }

// State returns the session's state. Its activity follows from the chats; AHP has no action for it, so
// it is correct in a snapshot, and afterwards clients derive it from the chats' rows.
func (s *session) State(tx core.Tx) any {
	v := s.value
	v.Status, _ = s.aggregate()
	v.Resource, v.CreatedAt, v.ModifiedAt = s.ch.URI, s.facts.Created, s.modified()
	v.Annotations = s.all.Annotations.Summary(tx, s.ch.URI)
	return v
}

func (s *session) Settle(tx core.Tx) {
	for _, c := range s.chats {
		c.Settle(tx)
	}
}

func (s *session) Kind() string { return ahp.SessionScheme }
func (s *session) Private() any { return s.facts }
func (s *session) Changed() bool {
	was := s.dirty
	s.dirty = false
	return was
}
func (s *session) Know(raw json.RawMessage) error { return json.Unmarshal(raw, &s.facts) }

// aggregate returns the session's status and activity: those of the default chat, or else of the one
// modified last, unless another chat needs input or failed (AHP, Session Channel).
func (s *session) aggregate() (status ahp.Status, activity string) {
	status = s.value.Status.WithActivity(ahp.ActivityIdle)
	if len(s.value.Chats) == 0 {
		return status, ""
	}
	i := slices.IndexFunc(s.value.Chats, func(c ahp.ChatSummary) bool { return c.Resource == s.value.DefaultChat })
	if i < 0 {
		i = 0
		for j, c := range s.value.Chats {
			if c.ModifiedAt > s.value.Chats[i].ModifiedAt {
				i = j
			}
		}
	}
	now := s.value.Chats[i]
	status, activity = status.WithActivity(now.Status.Activity()), now.Activity
	for _, c := range s.value.Chats {
		switch {
		case c.Status.NeedsInput():
			status = status.WithActivity(ahp.ActivityInputNeeded)
		case c.Status.Activity() == ahp.ActivityError && !status.NeedsInput():
			status = status.WithActivity(ahp.ActivityError)
		}
	}
	return status, activity
}

// modified returns when the session or one of its chats was changed last.
func (s *session) modified() ahp.Instant {
	last := s.facts.Modified
	for _, c := range s.value.Chats {
		last = max(last, c.ModifiedAt)
	}
	return last
}

// touch sets the time of the session's last change.
func (s *session) touch() {
	s.facts.Modified = ahp.InstantOf(s.all.Now().UnixMilli())
	s.dirty = true
}

// summary returns the session's row in lists.
func (s *session) summary(tx core.Tx) ahp.SessionSummary {
	v := s.State(tx).(ahp.SessionState)
	row := v.Summary()
	_, row.Activity = s.aggregate()
	row.Meta = s.usage()
	return row
}

// announce tells the root's subscribers what has changed in the summary.
func (s *session) announce(tx core.Tx) {
	now := s.summary(tx)
	c := ahp.SessionChanges{Before: s.told, After: now}
	if reflect.DeepEqual(s.told, now) || c.Empty() {
		return
	}
	s.told = now
	tx.Notify(tx.Channel(ahp.RootURI), ahp.NoteSessionSummaryChanged, ahp.SessionNotification{Channel: ahp.RootURI, Session: s.ch.URI, Changes: &c})
}

// apply applies an action of the session, and announces what it changed in the summary.
func (s *session) apply(tx core.Tx, a ahp.Action, by *core.By) {
	if _, is := a.(ahp.SessionConfigChanged); is {
		s.touch()
	}
	tx.Apply(s.ch, a, by)
	switch a.(type) {
	case ahp.SessionActiveClientSet, ahp.SessionActiveClientRemoved:
		s.toolsMayHaveChanged(tx)
	}
	s.announce(tx)
}

// mirror updates a chat's row after an action of the chat.
func (s *session) mirror(tx core.Tx, c *Chat) {
	i := slices.IndexFunc(s.value.Chats, func(r ahp.ChatSummary) bool { return r.Resource == c.ch.URI })
	if i < 0 || reflect.DeepEqual(s.value.Chats[i], c.value.ChatSummary) {
		return
	}
	changes, err := ahp.Differing(ahp.V1, s.value.Chats[i], c.value.ChatSummary)
	if err != nil {
		s.all.Log.Error("mirror a chat", "chat", c.ch.URI, "err", err)
		return
	}
	unread := s.value.Chats[i].Status&ahp.FlagRead != 0 && c.value.Status&ahp.FlagRead == 0
	s.apply(tx, ahp.SessionChatUpdated{Chat: c.ch.URI, Changes: changes}, nil)
	if unread && s.value.Status&ahp.FlagRead != 0 { // the chat has something new
		s.apply(tx, ahp.SessionIsReadChanged{}, nil)
	}
}

// setMeta applies changes of meta. If it is too large nothing is applied.
func (s *session) setMeta(tx core.Tx) {
	b, err := json.Marshal(s.meta)
	if err != nil || len(b) > maxSessionMeta {
		s.all.Log.Warn("leave out a session's options, commands and plans", "session", s.ch.URI, "bytes", len(b))
		return
	}
	if string(b) == "{}" {
		b = nil
	}
	if string(b) != string(s.value.Meta) {
		s.apply(tx, ahp.SessionMetaChanged{Meta: b}, nil)
	}
}

// need adds what waits in a chat to the session's list.
func (s *session) need(tx core.Tx, n ahp.InputNeeded) {
	s.apply(tx, ahp.SessionInputNeededSet{Request: n}, nil)
}

// met removes it.
func (s *session) met(tx core.Tx, id string) {
	if slices.ContainsFunc(s.value.InputNeeded, func(n ahp.InputNeeded) bool { return n.ID == id }) {
		s.apply(tx, ahp.SessionInputNeededRemoved{ID: id}, nil)
	}
}
