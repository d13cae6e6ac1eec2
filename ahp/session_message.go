package ahp

import (
	"encoding/json"
	"errors"
	"slices"
)

// Methods of sessions and chats (AHP, Session Channel), and notifications about the list of
// sessions, on the root channel.
const (
	MethodCreateSession  = "createSession"
	MethodDisposeSession = "disposeSession"
	MethodCreateChat     = "createChat"
	MethodDisposeChat    = "disposeChat"
	MethodFetchTurns     = "fetchTurns"
	MethodCompletions    = "completions"

	NoteSessionAdded          = "root/sessionAdded"
	NoteSessionRemoved        = "root/sessionRemoved"
	NoteSessionSummaryChanged = "root/sessionSummaryChanged"
	NoteProgress              = "root/progress"
	NoteAuthRequired          = "auth/required"
)

// CreateSessionParams creates the session Channel, whose URI the client chooses.
type CreateSessionParams struct {
	Channel            URI            `json:"channel"`
	Provider           string         `json:"provider,omitempty"` // empty means the host's first
	WorkingDirectories []URI          `json:"workingDirectories,omitempty"`
	WorkingDirectory   URI            `json:"workingDirectory,omitempty"` // in 0.5 only
	Config             map[string]any `json:"config,omitempty"`
	ActiveClient       *ActiveClient  `json:"activeClient,omitempty"`
	ProgressToken      string         `json:"progressToken,omitempty"`
	Meta               *SessionMeta   `json:"_meta,omitempty"`
}

// SessionMeta is tandemux's addition to createSession.
type SessionMeta struct {
	// Title is the session's title; empty means that of the agent or of the first message.
	Title string `json:"tandemux/title,omitempty"`
	// Chat is the URI of the default chat; empty lets the host choose.
	Chat URI `json:"tandemux/chat,omitempty"`
	// Confirm says which tool calls wait for a person: ConfirmAsk, ConfirmReads or ConfirmAll.
	Confirm string `json:"tandemux/confirm,omitempty"`
	// Sandbox names the task in whose sandbox the session runs. Only the host's own tasks may set
	// it.
	Sandbox string `json:"tandemux/sandbox,omitempty"`
}

// The values of SessionMeta.Confirm.
const (
	ConfirmAsk   = "ask"   // a person confirms every call that the agent asks about; the default
	ConfirmReads = "reads" // calls that read, search or think are approved
	ConfirmAll   = "all"   // all calls are approved
)

// Confirms has all values of SessionMeta.Confirm.
var Confirms = []string{ConfirmAsk, ConfirmReads, ConfirmAll}

// Unasked reports whether a policy approves tool calls of a kind without asking.
func Unasked(policy, kind string) bool {
	return policy == ConfirmAll || policy == ConfirmReads && slices.Contains([]string{"read", "search", "think"}, kind)
}

// CreateChatParams creates another chat of the session Channel.
type CreateChatParams struct {
	Channel            URI         `json:"channel"`
	Chat               URI         `json:"chat"`
	InitialMessage     *Message    `json:"initialMessage,omitempty"`
	Source             *ChatSource `json:"source,omitempty"`
	WorkingDirectories []URI       `json:"workingDirectories,omitempty"`
	Title              string      `json:"title,omitempty"`
}

// ChatSource is the turn that a new chat starts from.
type ChatSource struct {
	Kind      string          `json:"kind"` // fork, sideChat
	Chat      URI             `json:"chat"`
	TurnID    string          `json:"turnId"`
	Selection json.RawMessage `json:"selection,omitempty"`
}

// ListSessionsParams asks for a page of sessions, the last modified ones first.
type ListSessionsParams struct {
	Channel URI    `json:"channel"`
	Limit   int    `json:"limit,omitempty"` // 0 means the host's limit
	Cursor  string `json:"cursor,omitempty"`
}

// ListSessionsResult is the answer to listSessions.
type ListSessionsResult struct {
	Items      List[SessionSummary] `json:"items"`
	NextCursor string               `json:"nextCursor,omitempty"`
}

// SessionNotification is the params of the notifications about the list of sessions. A session that
// was added has Summary, one that was removed has Session, one that changed Session and Changes.
type SessionNotification struct {
	Channel URI             `json:"channel"`
	Summary *SessionSummary `json:"summary,omitempty"`
	Session URI             `json:"session,omitempty"`
	Changes *SessionChanges `json:"changes,omitempty"`
}

// SessionChanges has the members in which two summaries of a session differ, except the resource,
// provider and time of creation (AHP, Root Channel).
type SessionChanges struct{ Before, After SessionSummary }

// MarshalJSON writes the members that differ, as null if they are gone.
func (c SessionChanges) MarshalJSON() ([]byte, error) { return c.encode(V1) }

func (c SessionChanges) encode(p Profile) ([]byte, error) {
	return Differing(p, c.Before, c.After, "resource", "provider", "createdAt")
}

// Differing returns the members of after that differ from before's, or null for those that are
// gone, without the members except.
func Differing(p Profile, before, after any, except ...string) (json.RawMessage, error) {
	was, err := Encode(p, before)
	is, err2 := Encode(p, after)
	var old, members map[string]json.RawMessage
	if err = errors.Join(err, err2, json.Unmarshal(was, &old), json.Unmarshal(is, &members)); err != nil {
		return nil, err
	}
	for k, v := range old {
		switch now, still := members[k]; {
		case !still:
			members[k] = json.RawMessage("null")
		case string(now) == string(v):
			delete(members, k)
		}
	}
	for _, k := range except {
		delete(members, k)
	}
	return Encode(p, members)
}

// Empty reports whether no member differs.
func (c SessionChanges) Empty() bool {
	text, err := Encode(V1, c)
	return err != nil || string(text) == "{}"
}

// FetchTurnsParams asks for turns older than those in a chat's state. Before and Limit exist only
// in 0.5.
type FetchTurnsParams struct {
	Channel URI    `json:"channel"`
	Cursor  string `json:"cursor,omitempty"`
	Before  string `json:"before,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

// FetchTurnsResult is the answer to fetchTurns. It is empty but for 0.5, because later versions get
// the turns by an action.
type FetchTurnsResult struct {
	Turns   []Turn `json:"-"`
	HasMore bool   `json:"-"`
}

// CompletionsParams asks for completions of a message that is being written, at an offset in UTF-16
// units.
type CompletionsParams struct {
	Channel URI    `json:"channel"`
	Kind    string `json:"kind"`
	Text    string `json:"text"`
	Offset  int    `json:"offset"`
}

// CompletionsResult is the answer to completions.
type CompletionsResult struct {
	Items List[CompletionItem] `json:"items"`
}

// CompletionItem is text that replaces the range from RangeStart to RangeEnd, or is inserted at the
// offset.
type CompletionItem struct {
	InsertText string      `json:"insertText"`
	RangeStart *int        `json:"rangeStart,omitempty"`
	RangeEnd   *int        `json:"rangeEnd,omitempty"`
	Attachment *Attachment `json:"attachment"`
}

// ResolveSessionConfigResult is the answer to resolveSessionConfig: all settings and their values,
// defaults included.
type ResolveSessionConfigResult = SessionConfig

// ProgressParams is the params of root/progress.
type ProgressParams struct {
	Channel       URI    `json:"channel"`
	ProgressToken string `json:"progressToken"`
	Progress      int    `json:"progress"`
	Total         int    `json:"total,omitempty"`
	Message       string `json:"message,omitempty"`
}
