package ahp

import (
	"encoding/json"
	"errors"
	"slices"
)

// Methods of sessions and chats (AHP, Session Channel), and the notifications about
// the list of sessions, on the root channel.
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

// CreateSessionParams creates the session Channel, chosen by the client.
type CreateSessionParams struct {
	Channel            URI            `json:"channel"`
	Provider           string         `json:"provider,omitempty"` // empty: the host's first
	WorkingDirectories []URI          `json:"workingDirectories,omitempty"`
	WorkingDirectory   URI            `json:"workingDirectory,omitempty"` // 0.5
	Config             map[string]any `json:"config,omitempty"`
	ActiveClient       *ActiveClient  `json:"activeClient,omitempty"`
	ProgressToken      string         `json:"progressToken,omitempty"`
	Meta               *SessionMeta   `json:"_meta,omitempty"`
}

// SessionMeta is tandemux's addition to createSession.
type SessionMeta struct {
	// Title of the session; empty: the agent's, or the first message's.
	Title string `json:"tandemux/title,omitempty"`
	// Chat is the URI of the default chat; empty: the host's to choose.
	Chat URI `json:"tandemux/chat,omitempty"`
	// Confirm says which tool calls wait for a person; see ConfirmAsk.
	Confirm string `json:"tandemux/confirm,omitempty"`
	// Sandbox names the task whose sandbox the session runs in. Only the host's own
	// tasks may give one.
	Sandbox string `json:"tandemux/sandbox,omitempty"`
}

// Policies of confirmation, in SessionMeta.Confirm.
const (
	ConfirmAsk   = "ask"   // every call that the agent asks about; the default
	ConfirmReads = "reads" // those that read, search or think are approved
	ConfirmAll   = "all"   // all are approved
)

// Confirms are all of them.
var Confirms = []string{ConfirmAsk, ConfirmReads, ConfirmAll}

// Unasked reports whether a policy approves tool calls of a kind.
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

// ChatSource is what a chat is made from.
type ChatSource struct {
	Kind      string          `json:"kind"` // fork, sideChat
	Chat      URI             `json:"chat"`
	TurnID    string          `json:"turnId"`
	Selection json.RawMessage `json:"selection,omitempty"`
}

// ListSessionsParams asks for a page of sessions, the last modified first.
type ListSessionsParams struct {
	Channel URI    `json:"channel"`
	Limit   int    `json:"limit,omitempty"` // 0: the host's
	Cursor  string `json:"cursor,omitempty"`
}

// ListSessionsResult answers it.
type ListSessionsResult struct {
	Items      List[SessionSummary] `json:"items"`
	NextCursor string               `json:"nextCursor,omitempty"`
}

// SessionNotification is the params of the notifications about the list of
// sessions: Summary for one added, Session for one removed, and with Changes for
// one changed.
type SessionNotification struct {
	Channel URI             `json:"channel"`
	Summary *SessionSummary `json:"summary,omitempty"`
	Session URI             `json:"session,omitempty"`
	Changes *SessionChanges `json:"changes,omitempty"`
}

// SessionChanges are the members of a summary that differ from an earlier one:
// never the resource, provider or time of creation (AHP, Root Channel).
type SessionChanges struct{ Before, After SessionSummary }

// MarshalJSON writes the members that differ, null for those that are gone.
func (c SessionChanges) MarshalJSON() ([]byte, error) { return c.encode(V1) }

func (c SessionChanges) encode(p Profile) ([]byte, error) {
	return Differing(p, c.Before, c.After, "resource", "provider", "createdAt")
}

// Differing are the members of after that differ from before's, but for some; null
// stands for one that is gone.
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

// Empty reports whether nothing differs that clients are told.
func (c SessionChanges) Empty() bool {
	text, err := Encode(V1, c)
	return err != nil || string(text) == "{}"
}

// FetchTurnsParams asks for older turns than those that a chat's state has.
// Before and Limit are 0.5's.
type FetchTurnsParams struct {
	Channel URI    `json:"channel"`
	Cursor  string `json:"cursor,omitempty"`
	Before  string `json:"before,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

// FetchTurnsResult answers it: nothing, as the turns come by an action, but for
// 0.5, which has them here.
type FetchTurnsResult struct {
	Turns   []Turn `json:"-"`
	HasMore bool   `json:"-"`
}

// CompletionsParams asks what may follow at an offset, in UTF-16 units, of a
// message that is being written.
type CompletionsParams struct {
	Channel URI    `json:"channel"`
	Kind    string `json:"kind"`
	Text    string `json:"text"`
	Offset  int    `json:"offset"`
}

// CompletionsResult answers it.
type CompletionsResult struct {
	Items List[CompletionItem] `json:"items"`
}

// CompletionItem replaces the text between RangeStart and RangeEnd, or is put in
// at the offset.
type CompletionItem struct {
	InsertText string      `json:"insertText"`
	RangeStart *int        `json:"rangeStart,omitempty"`
	RangeEnd   *int        `json:"rangeEnd,omitempty"`
	Attachment *Attachment `json:"attachment"`
}

// ResolveSessionConfigResult answers resolveSessionConfig: all that can be set,
// and the values, defaults filled in.
type ResolveSessionConfigResult = SessionConfig

// ProgressParams is the params of root/progress.
type ProgressParams struct {
	Channel       URI    `json:"channel"`
	ProgressToken string `json:"progressToken"`
	Progress      int    `json:"progress"`
	Total         int    `json:"total,omitempty"`
	Message       string `json:"message,omitempty"`
}
