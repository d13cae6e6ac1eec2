package ahp

import (
	"bytes"
	"encoding/json"
	"slices"
)

// The values of ToolCall.Status (AHP, Chat Channel).
const (
	ToolStreaming     = "streaming"
	ToolPending       = "pending-confirmation"
	ToolRunning       = "running"
	ToolPendingResult = "pending-result-confirmation"
	ToolAuthRequired  = "auth-required"
	ToolCompleted     = "completed"
	ToolCancelled     = "cancelled"
)

// The values of ToolCall.Confirmed.
const (
	ConfirmedNotNeeded  = "not-needed"
	ConfirmedUserAction = "user-action"
	ConfirmedSetting    = "setting"
)

// The values of ToolCall.Reason.
const (
	ReasonDenied       = "denied"
	ReasonSkipped      = "skipped"
	ReasonResultDenied = "result-denied"
)

// ToolCall is a tool call in any status. Members that its status does not have are empty.
type ToolCall struct {
	Status      string          `json:"status"`
	ToolCallID  string          `json:"toolCallId"`
	ToolName    string          `json:"toolName"`
	DisplayName string          `json:"displayName"`
	Intention   string          `json:"intention,omitempty"`
	Contributor *Contributor    `json:"contributor,omitempty"`
	Meta        json.RawMessage `json:"_meta,omitempty"`

	PartialInput      string          `json:"partialInput,omitempty"` // only while streaming
	InvocationMessage *Prose          `json:"invocationMessage,omitempty"`
	ToolInput         json.RawMessage `json:"toolInput,omitempty"` // a string, or a reference to content

	ToolQuestion

	// The members from here to ToolRun are set once the call is confirmed.
	Confirmed      string      `json:"confirmed,omitempty"`
	SelectedOption *ToolOption `json:"selectedOption,omitempty"`
	ToolRun

	// Content is set while the call runs and after; the other parts of the result after.
	Success           *bool           `json:"success,omitempty"`
	PastTenseMessage  *Prose          `json:"pastTenseMessage,omitempty"`
	Content           []ToolContent   `json:"content,omitempty"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	Error             *ToolError      `json:"error,omitempty"`

	ToolRefusal
}

// ToolQuestion has the members of a ToolCall that waits for confirmation.
type ToolQuestion struct {
	ConfirmationTitle *Prose          `json:"confirmationTitle,omitempty"`
	RiskAssessment    json.RawMessage `json:"riskAssessment,omitempty"`
	Edits             json.RawMessage `json:"edits,omitempty"`
	Editable          *bool           `json:"editable,omitempty"`
	Options           []ToolOption    `json:"options,omitempty"`
}

// ToolRun has the members of a ToolCall that has started. A call that was cancelled has no times.
// 0.5 has only Auth.
type ToolRun struct {
	StartedAt Instant         `json:"startedAt,omitempty"`
	Progress  *ToolProgress   `json:"progress,omitempty"` // while running
	Auth      json.RawMessage `json:"auth,omitempty"`     // in auth-required
	Duration  *int64          `json:"duration,omitempty"` // in ms, once it has ended
}

// ToolProgress is the newest report of a running call: how long it has run, by the reporter's
// clock, and what it is doing.
type ToolProgress struct {
	ElapsedMs int64  `json:"elapsedMs"`
	Message   *Prose `json:"message,omitempty"`
}

// ToolRefusal has the members of a ToolCall that was cancelled.
type ToolRefusal struct {
	Reason         string          `json:"reason,omitempty"`
	ReasonMessage  *Prose          `json:"reasonMessage,omitempty"`
	UserSuggestion json.RawMessage `json:"userSuggestion,omitempty"`
}

// Over reports whether the call has ended.
func (t ToolCall) Over() bool { return t.Status == ToolCompleted || t.Status == ToolCancelled }

// Waits reports whether the call waits for a person.
func (t ToolCall) Waits() bool {
	return t.Status == ToolPending || t.Status == ToolPendingResult || t.Status == ToolAuthRequired
}

// Contributor says who runs a tool if it isn't the agent.
type Contributor struct {
	Kind            string `json:"kind"` // client, mcp
	ClientID        string `json:"clientId,omitempty"`
	CustomizationID string `json:"customizationId,omitempty"`
}

// ContributorClient is the value of Contributor.Kind for a client.
const ContributorClient = "client"

// ToolOption is one of the answers that a confirmation offers.
type ToolOption struct {
	ID    string          `json:"id"`
	Label string          `json:"label"`
	Kind  string          `json:"kind"` // approve, deny
	Group *int            `json:"group,omitempty"`
	Meta  json.RawMessage `json:"_meta,omitempty"`
}

// The values of ToolOption.Kind.
const (
	OptionApprove = "approve"
	OptionDeny    = "deny"
)

// ToolError says why a tool failed.
type ToolError struct {
	Message string          `json:"message"`
	Code    json.RawMessage `json:"code,omitempty"`
}

// ToolResult is the result of a tool call.
type ToolResult struct {
	Success           bool            `json:"success"`
	PastTenseMessage  *Prose          `json:"pastTenseMessage,omitempty"`
	Content           []ToolContent   `json:"content,omitempty"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	Error             *ToolError      `json:"error,omitempty"`
}

// The values of ToolContent.Type.
const (
	ContentText     = "text"
	ContentEmbedded = "embeddedResource"
	ContentResource = "resource"
	ContentFileEdit = "fileEdit"
	ContentTerminal = "terminal"
	ContentSubagent = "subagent"
)

// ToolContent is one piece of a tool's result. A piece of an unknown type is kept as JSON in Raw.
type ToolContent struct {
	Type        string          `json:"type"`
	Text        string          `json:"text,omitempty"`        // text
	Data        string          `json:"data,omitempty"`        // embeddedResource, base64
	URI         URI             `json:"uri,omitempty"`         // resource
	SizeHint    *int64          `json:"sizeHint,omitempty"`    // resource
	ContentType string          `json:"contentType,omitempty"` // embeddedResource, resource
	Before      json.RawMessage `json:"before,omitempty"`      // fileEdit
	After       json.RawMessage `json:"after,omitempty"`       // fileEdit
	Diff        json.RawMessage `json:"diff,omitempty"`        // fileEdit
	Resource    URI             `json:"resource,omitempty"`    // terminal, subagent
	Title       string          `json:"title,omitempty"`       // terminal, subagent
	IsPty       *bool           `json:"isPty,omitempty"`       // terminal
	Result      *TerminalResult `json:"result,omitempty"`      // terminal
	AgentName   string          `json:"agentName,omitempty"`   // subagent
	Description string          `json:"description,omitempty"` // subagent
	Raw         json.RawMessage `json:"-"`                     // the JSON of unknown types
}

// MarshalJSON writes the members that the type requires even if they are empty.
func (c ToolContent) MarshalJSON() ([]byte, error) {
	type plain ToolContent
	switch c.Type {
	case ContentText:
		return Encode(V1, struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{c.Type, c.Text})
	case ContentTerminal, ContentSubagent:
		return Encode(V1, struct {
			Type     string `json:"type"`
			Resource URI    `json:"resource"`
			Title    string `json:"title"`
			plain
		}{c.Type, c.Resource, c.Title, plain(c)})
	}
	if c.Raw != nil {
		return c.Raw, nil
	}
	return Encode(V1, plain(c))
}

// UnmarshalJSON reads a piece by its type and keeps an unknown one as JSON.
func (c *ToolContent) UnmarshalJSON(b []byte) error {
	type plain ToolContent
	var head struct {
		Type string `json:"type"`
	}
	if err := Unmarshal(b, &head); err != nil {
		return err
	}
	*c = ToolContent{Type: head.Type}
	if !slices.Contains([]string{ContentText, ContentEmbedded, ContentResource, ContentFileEdit, ContentTerminal, ContentSubagent}, c.Type) {
		c.Raw = bytes.Clone(b)
		return nil
	}
	return Unmarshal(b, (*plain)(c))
}

// TerminalResult is how a tool call's command in a terminal ended. The terminal itself may still
// run (AHP, Chat Channel).
type TerminalResult struct {
	ExitCode   *int            `json:"exitCode,omitempty"`
	Preview    string          `json:"preview,omitempty"`
	Truncated  bool            `json:"truncated,omitempty"`
	FullOutput json.RawMessage `json:"fullOutput,omitempty"`
}

// TextInput returns s as a tool's input.
func TextInput(s string) json.RawMessage {
	b, err := Encode(V1, s)
	if err != nil {
		return nil
	}
	return b
}

// InputText returns a tool's input if it is a string.
func InputText(raw json.RawMessage) (s string, ok bool) {
	return s, len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
}
