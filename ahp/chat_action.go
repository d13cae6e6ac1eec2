package ahp

import "encoding/json"

// Actions of chat channels (AHP, Chat Channel). An action with a TurnID changes nothing unless that
// turn is the active one.
type (
	// ChatTurnStarted begins a turn. QueuedMessageID names the pending message that it was made
	// from, if any. The host sets StartedAt.
	ChatTurnStarted struct {
		TurnID          string          `json:"turnId"`
		StartedAt       Instant         `json:"startedAt,omitempty"`
		Message         Message         `json:"message"`
		QueuedMessageID string          `json:"queuedMessageId,omitempty"`
		Meta            json.RawMessage `json:"_meta,omitempty"`
	}
	// ChatResponsePart appends a part. Host only, as are the next three actions.
	ChatResponsePart struct {
		TurnID string       `json:"turnId"`
		Part   ResponsePart `json:"part"`
	}
	// ChatDelta appends text to a Markdown part, ChatReasoning to a reasoning part.
	ChatDelta struct {
		TurnID  string `json:"turnId"`
		PartID  string `json:"partId"`
		Content string `json:"content"`
	}
	ChatReasoning struct {
		TurnID  string `json:"turnId"`
		PartID  string `json:"partId"`
		Content string `json:"content"`
	}
	ChatUsage struct {
		TurnID string `json:"turnId"`
		Usage  Usage  `json:"usage"`
	}
	// ChatTurnComplete ends the turn. Host only.
	ChatTurnComplete struct {
		TurnID   string `json:"turnId"`
		Duration *int64 `json:"duration,omitempty"` // ms, set by the host
	}
	ChatTurnCancelled struct {
		TurnID   string          `json:"turnId"`
		Duration *int64          `json:"duration,omitempty"` // ms, set by the host
		Meta     json.RawMessage `json:"_meta,omitempty"`
	}
	// ChatError ends the turn with an error. Host only.
	ChatError struct {
		TurnID   string       `json:"turnId"`
		Duration *int64       `json:"duration,omitempty"` // ms
		Part     ResponsePart `json:"part"`               // of kind error
	}
	// ChatTurnResume resumes a turn that ended in a resumable error.
	ChatTurnResume struct {
		TurnID string `json:"turnId"`
	}
	ChatPendingMessageSet struct {
		Kind    string  `json:"kind"` // PendingSteering or PendingQueued
		ID      string  `json:"id"`
		Message Message `json:"message"`
	}
	ChatPendingMessageRemoved struct {
		Kind string `json:"kind"`
		ID   string `json:"id"`
	}
	ChatQueuedMessagesReordered struct {
		Order List[string] `json:"order"`
	}
	ChatDraftChanged struct {
		Draft *Message `json:"draft,omitempty"`
	}
	ChatIsReadChanged struct {
		IsRead bool `json:"isRead"`
	}
	ChatIsArchivedChanged struct {
		IsArchived bool `json:"isArchived"`
	}
	// ChatInputRequested adds a request or replaces an open one with the same id. Host only.
	ChatInputRequested struct {
		Request InputRequest `json:"request"`
	}
	// ChatInputAnswerChanged sets the draft of an answer; without an Answer it deletes the draft.
	ChatInputAnswerChanged struct {
		RequestID  string          `json:"requestId"`
		QuestionID string          `json:"questionId"`
		Answer     json.RawMessage `json:"answer,omitempty"`
	}
	ChatInputCompleted struct {
		RequestID string                     `json:"requestId"`
		Response  string                     `json:"response"`
		Answers   map[string]json.RawMessage `json:"answers,omitempty"`
	}
	// ChatTruncated drops all turns after TurnID, or all if it is empty.
	ChatTruncated struct {
		TurnID string `json:"turnId,omitempty"`
	}
	// ChatTurnsLoaded puts older turns before the others. Host only, as are all below.
	ChatTurnsLoaded struct {
		Turns           List[Turn] `json:"turns"`
		TurnsNextCursor string     `json:"turnsNextCursor,omitempty"`
	}
	ChatActivityChanged struct {
		Activity string `json:"activity,omitempty"`
	}
	ChatBackgroundWorkSet struct {
		Work BackgroundWork `json:"work"`
	}
	ChatBackgroundWorkRemoved struct {
		ID string `json:"id"`
	}
	ChatMovableChanged struct {
		Movable *bool `json:"movable,omitempty"`
	}
	ChatChangesetsChanged struct {
		Changesets []json.RawMessage `json:"changesets,omitzero"`
	}
	ChatWorkingDirectorySet struct {
		Directory URI `json:"directory"`
	}
	ChatWorkingDirectoryRemoved struct {
		Directory URI `json:"directory"`
	}
)

// Actions about a tool call of the active turn (AHP, Chat Channel).
type (
	ChatToolCallStart struct {
		TurnID      string          `json:"turnId"`
		ToolCallID  string          `json:"toolCallId"`
		ToolName    string          `json:"toolName"`
		DisplayName string          `json:"displayName"`
		Intention   string          `json:"intention,omitempty"`
		Contributor *Contributor    `json:"contributor,omitempty"`
		Meta        json.RawMessage `json:"_meta,omitempty"`
	}
	ChatToolCallDelta struct {
		TurnID            string          `json:"turnId"`
		ToolCallID        string          `json:"toolCallId"`
		Content           string          `json:"content"`
		InvocationMessage *Prose          `json:"invocationMessage,omitempty"`
		Meta              json.RawMessage `json:"_meta,omitempty"`
	}
	// ChatToolCallReady starts the call if Confirmed is set, else asks whether it may run.
	ChatToolCallReady struct {
		TurnID            string          `json:"turnId"`
		ToolCallID        string          `json:"toolCallId"`
		InvocationMessage *Prose          `json:"invocationMessage"`
		ToolInput         json.RawMessage `json:"toolInput,omitempty"`
		ConfirmationTitle *Prose          `json:"confirmationTitle,omitempty"`
		RiskAssessment    json.RawMessage `json:"riskAssessment,omitempty"`
		Options           []ToolOption    `json:"options,omitempty"`
		Edits             json.RawMessage `json:"edits,omitempty"`
		Editable          *bool           `json:"editable,omitempty"`
		Confirmed         string          `json:"confirmed,omitempty"`
		StartedAt         Instant         `json:"startedAt,omitempty"` // set by the host, when confirmed
		Contributor       *Contributor    `json:"contributor,omitempty"`
		Intention         string          `json:"intention,omitempty"`
		Meta              json.RawMessage `json:"_meta,omitempty"`
	}
	// ChatToolCallConfirmed answers that question; the first answer counts.
	ChatToolCallConfirmed struct {
		TurnID           string          `json:"turnId"`
		ToolCallID       string          `json:"toolCallId"`
		Approved         bool            `json:"approved"`
		Confirmed        string          `json:"confirmed,omitempty"` // if approved
		StartedAt        Instant         `json:"startedAt,omitempty"` // if approved; set by the host
		EditedToolInput  *string         `json:"editedToolInput,omitempty"`
		Reason           string          `json:"reason,omitempty"` // if not approved
		ReasonMessage    *Prose          `json:"reasonMessage,omitempty"`
		UserSuggestion   json.RawMessage `json:"userSuggestion,omitempty"`
		SelectedOptionID string          `json:"selectedOptionId,omitempty"`
		Meta             json.RawMessage `json:"_meta,omitempty"`
	}
	ChatToolCallContentChanged struct {
		TurnID     string            `json:"turnId"`
		ToolCallID string            `json:"toolCallId"`
		Content    List[ToolContent] `json:"content"`
		Meta       json.RawMessage   `json:"_meta,omitempty"`
	}
	// ChatToolCallProgress says that a call still runs. No released version of AHP has it.
	ChatToolCallProgress struct {
		TurnID     string `json:"turnId"`
		ToolCallID string `json:"toolCallId"`
		ToolProgress
		Meta json.RawMessage `json:"_meta,omitempty"`
	}
	ChatToolCallComplete struct {
		TurnID                     string          `json:"turnId"`
		ToolCallID                 string          `json:"toolCallId"`
		Result                     ToolResult      `json:"result"`
		Duration                   *int64          `json:"duration,omitempty"` // ms, set by the host
		RequiresResultConfirmation bool            `json:"requiresResultConfirmation,omitempty"`
		Meta                       json.RawMessage `json:"_meta,omitempty"`
	}
	ChatToolCallResultConfirmed struct {
		TurnID     string          `json:"turnId"`
		ToolCallID string          `json:"toolCallId"`
		Approved   bool            `json:"approved"`
		Meta       json.RawMessage `json:"_meta,omitempty"`
	}
	ChatToolCallAuthRequired struct {
		TurnID     string          `json:"turnId"`
		ToolCallID string          `json:"toolCallId"`
		Auth       json.RawMessage `json:"auth"`
		Meta       json.RawMessage `json:"_meta,omitempty"`
	}
	ChatToolCallAuthResolved struct {
		TurnID     string          `json:"turnId"`
		ToolCallID string          `json:"toolCallId"`
		Meta       json.RawMessage `json:"_meta,omitempty"`
	}
)

func (ChatTurnStarted) ActionType() string             { return "chat/turnStarted" }
func (ChatResponsePart) ActionType() string            { return "chat/responsePart" }
func (ChatDelta) ActionType() string                   { return "chat/delta" }
func (ChatReasoning) ActionType() string               { return "chat/reasoning" }
func (ChatUsage) ActionType() string                   { return "chat/usage" }
func (ChatTurnComplete) ActionType() string            { return "chat/turnComplete" }
func (ChatTurnCancelled) ActionType() string           { return "chat/turnCancelled" }
func (ChatError) ActionType() string                   { return "chat/error" }
func (ChatTurnResume) ActionType() string              { return "chat/turnResume" }
func (ChatPendingMessageSet) ActionType() string       { return "chat/pendingMessageSet" }
func (ChatPendingMessageRemoved) ActionType() string   { return "chat/pendingMessageRemoved" }
func (ChatQueuedMessagesReordered) ActionType() string { return "chat/queuedMessagesReordered" }
func (ChatDraftChanged) ActionType() string            { return "chat/draftChanged" }
func (ChatIsReadChanged) ActionType() string           { return "chat/isReadChanged" }
func (ChatIsArchivedChanged) ActionType() string       { return "chat/isArchivedChanged" }
func (ChatInputRequested) ActionType() string          { return "chat/inputRequested" }
func (ChatInputAnswerChanged) ActionType() string      { return "chat/inputAnswerChanged" }
func (ChatInputCompleted) ActionType() string          { return "chat/inputCompleted" }
func (ChatTruncated) ActionType() string               { return "chat/truncated" }
func (ChatTurnsLoaded) ActionType() string             { return "chat/turnsLoaded" }
func (ChatActivityChanged) ActionType() string         { return "chat/activityChanged" }
func (ChatBackgroundWorkSet) ActionType() string       { return "chat/backgroundWorkSet" }
func (ChatBackgroundWorkRemoved) ActionType() string   { return "chat/backgroundWorkRemoved" }
func (ChatMovableChanged) ActionType() string          { return "chat/movableChanged" }
func (ChatChangesetsChanged) ActionType() string       { return "chat/changesetsChanged" }
func (ChatWorkingDirectorySet) ActionType() string     { return "chat/workingDirectorySet" }
func (ChatWorkingDirectoryRemoved) ActionType() string { return "chat/workingDirectoryRemoved" }
func (ChatToolCallStart) ActionType() string           { return "chat/toolCallStart" }
func (ChatToolCallDelta) ActionType() string           { return "chat/toolCallDelta" }
func (ChatToolCallReady) ActionType() string           { return "chat/toolCallReady" }
func (ChatToolCallConfirmed) ActionType() string       { return "chat/toolCallConfirmed" }
func (ChatToolCallContentChanged) ActionType() string  { return "chat/toolCallContentChanged" }
func (ChatToolCallProgress) ActionType() string        { return "chat/toolCallProgress" }
func (ChatToolCallComplete) ActionType() string        { return "chat/toolCallComplete" }
func (ChatToolCallResultConfirmed) ActionType() string { return "chat/toolCallResultConfirmed" }
func (ChatToolCallAuthRequired) ActionType() string    { return "chat/toolCallAuthRequired" }
func (ChatToolCallAuthResolved) ActionType() string    { return "chat/toolCallAuthResolved" }
