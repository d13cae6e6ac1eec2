package ahp

import "encoding/json"

// Methods of sessions and chats (AHP, Session Channel), and the notifications about
// the list of sessions, on the root channel.
const (
	MethodCreateSession            = "createSession"
	MethodDisposeSession           = "disposeSession"
	MethodCreateChat               = "createChat"
	MethodDisposeChat              = "disposeChat"
	MethodFetchTurns               = "fetchTurns"
	MethodCompletions              = "completions"
	MethodResolveSessionConfig     = "resolveSessionConfig"
	MethodSessionConfigCompletions = "sessionConfigCompletions"

	NoteSessionAdded          = "root/sessionAdded"
	NoteSessionRemoved        = "root/sessionRemoved"
	NoteSessionSummaryChanged = "root/sessionSummaryChanged"
	NoteProgress              = "root/progress"
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

type plainCreateSession CreateSessionParams

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
	Items      []SessionSummary `json:"items"` // never null
	NextCursor string           `json:"nextCursor,omitempty"`
}

func (r ListSessionsResult) appendTo(w *writer) {
	w.open('{')
	list(w, "items", r.Items)
	w.optStr("nextCursor", r.NextCursor)
	w.close('}')
}

// SessionNotification is the params of the notifications about the list of
// sessions: Summary for one added, Session for one removed, and with Changes for
// one changed.
type SessionNotification struct {
	Channel URI
	Summary *SessionSummary
	Session URI
	Changes *SessionChanges
}

func (n SessionNotification) appendTo(w *writer) {
	w.open('{')
	w.str("channel", n.Channel)
	if n.Summary != nil {
		w.member("summary", *n.Summary)
	}
	w.optStr("session", n.Session)
	if n.Changes != nil {
		w.member("changes", *n.Changes)
	}
	w.close('}')
}

// SessionChanges are the members of a summary that differ from an earlier one:
// never the resource, provider or time of creation (AHP, Root Channel).
type SessionChanges struct{ Before, After SessionSummary }

func (c SessionChanges) appendTo(w *writer) {
	var before, after map[string]json.RawMessage
	for _, s := range []struct {
		of   SessionSummary
		into *map[string]json.RawMessage
	}{{c.Before, &before}, {c.After, &after}} {
		text, err := Encode(w.p, s.of)
		if err == nil {
			err = json.Unmarshal(text, s.into)
		}
		if err != nil {
			w.fail(err)
			return
		}
	}
	changes := map[string]json.RawMessage{}
	for k, v := range after {
		if string(before[k]) != string(v) {
			changes[k] = v
		}
	}
	for k := range before {
		if _, still := after[k]; !still {
			changes[k] = json.RawMessage("null")
		}
	}
	for _, k := range []string{"resource", "provider", "createdAt"} {
		delete(changes, k)
	}
	w.embed(changes)
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
	Turns   []Turn
	HasMore bool
}

func (r FetchTurnsResult) appendTo(w *writer) {
	w.open('{')
	if w.p == V05 {
		list(w, "turns", r.Turns)
		w.bool("hasMore", r.HasMore)
	}
	w.close('}')
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
	Items []CompletionItem `json:"items"` // never null
}

// CompletionItem replaces the text between RangeStart and RangeEnd, or is put in
// at the offset.
type CompletionItem struct {
	InsertText string      `json:"insertText"`
	RangeStart *int        `json:"rangeStart,omitempty"`
	RangeEnd   *int        `json:"rangeEnd,omitempty"`
	Attachment *Attachment `json:"attachment,omitempty"`
}

func (r CompletionsResult) appendTo(w *writer) {
	w.open('{')
	list(w, "items", r.Items)
	w.close('}')
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
