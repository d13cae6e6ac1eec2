package ui_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ui/link"
)

// Session is a session of the host, with its chat.
type Session struct {
	URI, Chat ahp.URI

	host  *Host
	row   ahp.SessionSummary
	state ahp.SessionState
	chat  ahp.ChatState
	turns int
}

// AddSession makes a session that no client asked for.
func (h *Host) AddSession(name, title string) *Session {
	return h.addSession(ahp.SessionScheme+"/"+name, ahp.ChatScheme+"/"+name, "scripted", title, "file:///srv/"+name)
}

func (h *Host) addSession(uri, chat ahp.URI, provider, title string, cwd ahp.URI) *Session {
	now := h.instant()
	s := &Session{URI: uri, Chat: chat, host: h}
	s.chat = ahp.ChatState{ChatSummary: ahp.ChatSummary{Resource: chat, Status: ahp.ActivityIdle | ahp.FlagRead, ModifiedAt: now}, Turns: []ahp.Turn{}}
	s.state = ahp.SessionState{
		SessionInfo: ahp.SessionInfo{Provider: provider, Title: title, Status: ahp.ActivityIdle | ahp.FlagRead, WorkingDirectories: []ahp.URI{cwd}},
		Lifecycle:   ahp.LifecycleReady, ActiveClients: []ahp.ActiveClient{}, Chats: []ahp.ChatSummary{s.chat.ChatSummary}, DefaultChat: chat,
		Config: &ahp.SessionConfig{Schema: json.RawMessage(`{}`), Values: map[string]any{}},
	}
	s.state.Resource, s.state.CreatedAt, s.state.ModifiedAt = uri, now, now
	s.row = s.state.Summary()
	h.sessions = append(h.sessions, s)
	h.noteSession(ahp.NoteSessionAdded, ahp.SessionNotification{Channel: ahp.RootURI, Summary: &s.row})
	return s
}

func (h *Host) instant() ahp.Instant { return ahp.InstantOf(max(h.Now, epoch.UnixMilli())) }

func (h *Host) noteSession(method string, n ahp.SessionNotification) {
	text, err := ahp.Encode(ahp.V1, n)
	if err != nil {
		h.t.Fatalf("encode notification: %v", err)
	}
	if h.follows[ahp.RootURI] && !h.lost {
		h.later(func() { h.sink.Note(method, text) })
	}
}

// session finds the session of a channel, its own or its chat's.
func (h *Host) session(uri ahp.URI) *Session {
	i := slices.IndexFunc(h.sessions, func(s *Session) bool { return s.URI == uri || s.Chat == uri })
	if i < 0 {
		return nil
	}
	return h.sessions[i]
}

// Session gives the session of a title.
func (h *Host) Session(title string) *Session {
	h.t.Helper()
	for _, s := range h.sessions {
		if s.state.Title == title {
			return s
		}
	}
	h.t.Fatalf("the host has no session %q", title)
	return nil
}

// State is the chat's state.
func (s *Session) State() ahp.ChatState { return s.chat }

// Do applies an action of the host's to the chat.
func (s *Session) Do(a ahp.Action) { s.apply(a, nil) }

// DoSession applies an action of the host's to the session.
func (s *Session) DoSession(a ahp.Action) { s.applySession(a, nil) }

// Meta replaces what the session's _meta says.
func (s *Session) Meta(meta string) {
	s.DoSession(ahp.SessionMetaChanged{Meta: json.RawMessage(meta)})
}

// RowMeta replaces what the summary's _meta says.
func (s *Session) RowMeta(meta string) {
	s.change(func(r *ahp.SessionSummary) { r.Meta = json.RawMessage(meta) })
}

func (s *Session) apply(a ahp.Action, origin *ahp.Origin) {
	h := s.host
	if t, ok := a.(ahp.ChatTurnStarted); ok && t.StartedAt == "" {
		t.StartedAt = h.instant()
		a = t
	}
	s.chat = ahp.ReduceChat(s.chat, a)
	h.emit(s.Chat, a, origin)
	s.settle()
}

func (s *Session) applySession(a ahp.Action, origin *ahp.Origin) {
	s.state = ahp.ReduceSession(s.state, a)
	s.host.emit(s.URI, a, origin)
	s.change(func(r *ahp.SessionSummary) { r.Title, r.Status = s.state.Title, s.state.Status })
}

// settle mirrors the chat in the session, as a host does.
func (s *Session) settle() {
	for _, p := range s.parts() {
		id := p.ToolCall.ToolCallID
		i := slices.IndexFunc(s.state.InputNeeded, func(n ahp.InputNeeded) bool { return n.ID == id })
		known := i >= 0
		switch waits := p.ToolCall.Status == ahp.ToolPending; {
		case waits && (!known || !reflect.DeepEqual(s.state.InputNeeded[i].ToolCall, p.ToolCall)):
			s.applySession(ahp.SessionInputNeededSet{Request: ahp.InputNeeded{ID: id, Chat: s.Chat, Kind: ahp.NeedToolConfirmation, TurnID: s.turnID(), ToolCall: p.ToolCall}}, nil)
		case !waits && known:
			s.applySession(ahp.SessionInputNeededRemoved{ID: id}, nil)
		}
	}
	s.state.Status = s.state.Status.WithActivity(s.chat.Status.Activity()).WithFlag(ahp.FlagRead, s.chat.Status&ahp.FlagRead != 0)
	s.state.Chats = []ahp.ChatSummary{s.chat.ChatSummary}
	s.change(func(r *ahp.SessionSummary) {
		r.Status, r.Activity, r.ModifiedAt = s.state.Status, s.chat.Activity, s.host.instant()
	})
}

func (s *Session) turnID() string {
	if s.chat.ActiveTurn == nil {
		return ""
	}
	return s.chat.ActiveTurn.ID
}

func (s *Session) parts() []ahp.ResponsePart {
	turns := s.chat.Turns
	if s.chat.ActiveTurn != nil {
		turns = append(slices.Clone(turns), *s.chat.ActiveTurn)
	}
	var out []ahp.ResponsePart
	for _, t := range turns {
		for _, p := range t.ResponseParts {
			if p.ToolCall != nil {
				out = append(out, p)
			}
		}
	}
	return out
}

// change changes the session's row and tells it.
func (s *Session) change(f func(*ahp.SessionSummary)) {
	before := s.row
	f(&s.row)
	c := ahp.SessionChanges{Before: before, After: s.row}
	if !c.Empty() {
		s.host.noteSession(ahp.NoteSessionSummaryChanged, ahp.SessionNotification{Channel: ahp.RootURI, Session: s.URI, Changes: &c})
	}
}

// Begin begins a turn as if the person had asked.
func (s *Session) Begin(text string) {
	s.turns++
	s.Do(ahp.ChatTurnStarted{TurnID: fmt.Sprint("turn", s.turns), Message: ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}})
}

// Say is text of the agent's, in a part of its own.
func (s *Session) Say(id, text string) {
	s.Do(ahp.ChatResponsePart{TurnID: s.turnID(), Part: ahp.ResponsePart{Kind: ahp.PartMarkdown, ID: id}})
	s.Do(ahp.ChatDelta{TurnID: s.turnID(), PartID: id, Content: text})
}

// Call begins a tool call; confirmed "" asks first.
func (s *Session) Call(id, title, input, confirmed string, options ...ahp.ToolOption) {
	s.Do(ahp.ChatToolCallStart{TurnID: s.turnID(), ToolCallID: id, ToolName: "run", DisplayName: title})
	s.Do(ahp.ChatToolCallReady{TurnID: s.turnID(), ToolCallID: id, InvocationMessage: ahp.Plain(title), ToolInput: ahp.TextInput(input), Confirmed: confirmed, Options: options})
}

// Give replaces what a tool call gives.
func (s *Session) Give(id string, content ...ahp.ToolContent) {
	s.Do(ahp.ChatToolCallContentChanged{TurnID: s.turnID(), ToolCallID: id, Content: content})
}

// End ends the turn: "complete", "cancelled", or an error with that text.
func (s *Session) End(how string) {
	ms := int64(4200)
	switch how {
	case ahp.TurnComplete:
		s.Do(ahp.ChatTurnComplete{TurnID: s.turnID(), Duration: &ms})
	case ahp.TurnCancelled:
		s.Do(ahp.ChatTurnCancelled{TurnID: s.turnID(), Duration: &ms})
	default:
		s.Do(ahp.ChatError{TurnID: s.turnID(), Duration: &ms, Part: ahp.ResponsePart{Kind: ahp.PartError, Error: &ahp.ErrorInfo{ErrorType: "agent", Message: how}}})
	}
}

// subscribeSession answers a subscription to a session or chat.
func (h *Host) subscribeSession(uri ahp.URI) bool {
	s := h.session(uri)
	if s == nil {
		return false
	}
	h.follows[uri] = true
	if uri == s.URI {
		h.snapshot(uri, s.state)
	} else {
		h.snapshot(uri, s.chat)
	}
	return true
}

// doSession carries a dispatch to a session or chat out.
func (h *Host) doSession(uri ahp.URI, a ahp.Action, origin *ahp.Origin) bool {
	s := h.session(uri)
	if s == nil {
		return false
	}
	if uri == s.URI {
		s.applySession(a, origin)
	} else {
		s.apply(a, origin)
	}
	return true
}

// Sessions implements link.Host.
func (h *Host) Sessions(context.Context) ([]ahp.SessionSummary, error) {
	var rows []ahp.SessionSummary
	for _, s := range h.sessions {
		rows = append(rows, s.row)
	}
	return rows, nil
}

// CreateSession implements link.Host.
func (h *Host) CreateSession(_ context.Context, p ahp.CreateSessionParams) error {
	if h.FailSession != nil {
		return h.FailSession
	}
	cwd := ""
	if len(p.WorkingDirectories) > 0 {
		cwd = p.WorkingDirectories[0]
	}
	h.Sent = append(h.Sent, fmt.Sprintf("create session with %s in %s", p.Provider, cwd))
	h.addSession(p.Channel, p.Meta.Chat, p.Provider, "", cwd)
	return nil
}

// Agents implements link.Host.
func (h *Host) Agents(context.Context) ([]link.Agent, error) {
	return []link.Agent{{Name: "scripted", Title: "Scripted"}, {Name: "gemini", Title: "Gemini CLI", Why: "not installed"}}, nil
}

// disposeSession ends a session.
func (h *Host) disposeSession(uri ahp.URI) error {
	s := h.session(uri)
	if s == nil {
		return errors.New("there is no such session")
	}
	h.Sent = append(h.Sent, "dispose session "+s.state.Title)
	h.sessions = slices.DeleteFunc(h.sessions, func(o *Session) bool { return o == s })
	h.noteSession(ahp.NoteSessionRemoved, ahp.SessionNotification{Channel: ahp.RootURI, Session: uri})
	h.later(func() { h.sink.Gone(s.Chat) })
	return nil
}

// complete knows two files and two commands.
func complete(p ahp.CompletionsParams) (r ahp.CompletionsResult) {
	before := p.Text[:min(p.Offset, len(p.Text))]
	from := strings.LastIndexAny(before, " \n") + 1
	to := len(before)
	for _, s := range []string{"@main.go ", "@Makefile ", "/review ", "/init "} {
		if word := before[from:]; word != "" && strings.HasPrefix(s, word) {
			it := ahp.CompletionItem{InsertText: s, RangeStart: &from, RangeEnd: &to}
			if s[0] == '@' {
				it.Attachment = &ahp.Attachment{Type: ahp.AttachResource, Label: strings.TrimSpace(s[1:]), URI: "file:///srv/" + strings.TrimSpace(s[1:])}
			}
			r.Items = append(r.Items, it)
		}
	}
	return r
}

// Missed does what the client misses while its connection is lost; it gets the
// state anew.
func (s *Session) Missed(f func()) {
	h := s.host
	for _, uri := range []ahp.URI{s.URI, s.Chat, ahp.RootURI} {
		delete(h.follows, uri)
	}
	f()
	h.follows[ahp.RootURI] = true
	h.subscribeSession(s.URI)
	h.subscribeSession(s.Chat)
}
