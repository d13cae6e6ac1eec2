package ahp

import "encoding/json"

// ChatSummary is a chat's row in its session, and the head of its state.
type ChatSummary struct {
	Resource           URI             `json:"resource"`
	Title              string          `json:"title"`
	Status             Status          `json:"status"`
	Activity           string          `json:"activity,omitempty"`
	ModifiedAt         Instant         `json:"modifiedAt"`
	Changes            json.RawMessage `json:"changes,omitempty"`
	Origin             *ChatOrigin     `json:"origin,omitempty"`
	Movable            *bool           `json:"movable,omitempty"`
	Interactivity      string          `json:"interactivity,omitempty"`
	WorkingDirectories []URI           `json:"workingDirectories,omitempty"`
}

// The values of ChatSummary.Interactivity; empty means full.
const (
	InteractivityFull     = "full"
	InteractivityReadOnly = "read-only"
	InteractivityHidden   = "hidden"
)

// ChatOrigin says where a chat comes from.
type ChatOrigin struct {
	Kind       string          `json:"kind"` // user, fork, sideChat, tool
	Chat       URI             `json:"chat,omitempty"`
	TurnID     string          `json:"turnId,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	Selection  json.RawMessage `json:"selection,omitempty"`
}

// ChatState is the state of a chat channel: the conversation (AHP, Chat Channel).
type ChatState struct {
	ChatSummary
	Changesets      []json.RawMessage
	BackgroundWork  []BackgroundWork
	Turns           []Turn // finished, oldest first; never null on the wire
	TurnsNextCursor string // of fetchTurns, when there are older ones
	ActiveTurn      *Turn  // nil when none runs
	SteeringMessage *PendingMessage
	QueuedMessages  []PendingMessage
	Draft           *Message
	Meta            json.RawMessage
	// InputRequests are those outside of a turn, which only 0.5 has.
	InputRequests []InputRequest
}

// The values of Turn.State; empty while the turn runs.
const (
	TurnComplete  = "complete"
	TurnCancelled = "cancelled"
	TurnError     = "error"
)

// Turn is a message and what came of it. Turns share nothing that changes.
type Turn struct {
	ID            string
	StartedAt     Instant
	Duration      *int64 // ms; nil while it runs
	Message       Message
	ResponseParts []ResponsePart // never null on the wire
	Usage         *Usage
	State         string
}

// The values of MessageOrigin.Kind.
const (
	OriginUser   = "user"
	OriginAgent  = "agent"
	OriginTool   = "tool"
	OriginSystem = "systemNotification"
)

// Message is what a turn begins with.
type Message struct {
	Text        string          `json:"text"`
	Origin      MessageOrigin   `json:"origin"`
	Attachments []Attachment    `json:"attachments,omitempty"`
	Model       *ModelSelection `json:"model,omitempty"`
	Agent       *AgentSelection `json:"agent,omitempty"`
	Meta        json.RawMessage `json:"_meta,omitempty"`
}

// MessageOrigin says who wrote a message.
type MessageOrigin struct {
	Kind string `json:"kind"`
}

// ModelSelection names a model and what is set for it.
type ModelSelection struct {
	ID     string         `json:"id"`
	Config map[string]any `json:"config,omitempty"`
}

// AgentSelection names a custom agent.
type AgentSelection struct {
	URI URI `json:"uri"`
}

// The values of Attachment.Type.
const (
	AttachSimple   = "simple"
	AttachEmbedded = "embeddedResource"
	AttachResource = "resource"
	AttachChat     = "chat"
)

// Attachment is what a message carries beside its text.
type Attachment struct {
	Type                string          `json:"type"`
	Label               string          `json:"label"`
	ModelRepresentation string          `json:"modelRepresentation,omitempty"` // simple
	Data                string          `json:"data,omitempty"`                // embeddedResource, base64
	ContentType         string          `json:"contentType,omitempty"`         // embeddedResource
	URI                 URI             `json:"uri,omitempty"`                 // resource
	Resource            URI             `json:"resource,omitempty"`            // annotations, chat
	AnnotationIDs       []string        `json:"annotationIds,omitempty"`       // annotations
	EndTurn             string          `json:"endTurn,omitempty"`             // chat
	Range               json.RawMessage `json:"range,omitempty"`
	Selection           json.RawMessage `json:"selection,omitempty"`
	DisplayKind         string          `json:"displayKind,omitempty"`
	Meta                json.RawMessage `json:"_meta,omitempty"`
}

// PendingMessage waits: to be put into the running turn (steering), or to begin
// one of its own (queued).
type PendingMessage struct {
	ID      string  `json:"id"`
	Message Message `json:"message"`
}

// The values of ChatPendingMessageSet.Kind.
const (
	PendingSteering = "steering"
	PendingQueued   = "queued"
)

// Usage counts a turn's tokens.
type Usage struct {
	InputTokens     *int64          `json:"inputTokens,omitempty"`
	OutputTokens    *int64          `json:"outputTokens,omitempty"`
	Model           string          `json:"model,omitempty"`
	CacheReadTokens *int64          `json:"cacheReadTokens,omitempty"`
	Meta            json.RawMessage `json:"_meta,omitempty"`
}

// The values of BackgroundWork.Kind.
const (
	WorkShell    = "shell"
	WorkSubagent = "subagent"
)

// BackgroundWork goes on beside the turns.
type BackgroundWork struct {
	ID        string          `json:"id"`
	Label     string          `json:"label"`
	StartedAt Instant         `json:"startedAt"`
	Kind      string          `json:"kind"`
	Command   string          `json:"command,omitempty"`  // shell
	Terminal  URI             `json:"terminal,omitempty"` // shell
	Chat      URI             `json:"chat,omitempty"`     // subagent
	Meta      json.RawMessage `json:"_meta,omitempty"`
}

// The values of ResponsePart.Kind.
const (
	PartMarkdown           = "markdown"
	PartReasoning          = "reasoning"
	PartToolCall           = "toolCall"
	PartContentRef         = "contentRef"
	PartSystemNotification = "systemNotification"
	PartInputRequest       = "inputRequest"
	PartError              = "error"
)

// ResponsePart is a piece of a turn's answer, one of several kinds. One of an
// unknown kind keeps its text in Raw.
type ResponsePart struct {
	Kind     string
	ID       string        // markdown, reasoning
	Content  string        // markdown, reasoning
	ToolCall *ToolCall     // toolCall
	Request  *InputRequest // inputRequest
	Response string        // inputRequest: accept, decline, cancel; empty while open
	Note     *Prose        // systemNotification
	Error    *ErrorInfo    // error
	// Resumable says that the turn that ended with this error can go on.
	Resumable bool
	Meta      json.RawMessage
	Raw       json.RawMessage // contentRef and unknown kinds, whole
}

// Prose is a text that is plain or Markdown; which of them is kept.
type Prose struct {
	Text     string
	Markdown bool
}

// Plain is a plain text.
func Plain(s string) *Prose { return &Prose{Text: s} }

// MarshalJSON writes a string, or an object for Markdown.
func (p Prose) MarshalJSON() ([]byte, error) {
	if !p.Markdown {
		return marshal(p.Text)
	}
	return marshal(struct {
		Markdown string `json:"markdown"`
	}{p.Text})
}

// UnmarshalJSON accepts both forms.
func (p *Prose) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*p = Prose{Text: s}
		return nil
	}
	var m struct {
		Markdown string `json:"markdown"`
	}
	if err := Unmarshal(b, &m); err != nil {
		return err
	}
	*p = Prose{Text: m.Markdown, Markdown: true}
	return nil
}

// InputRequest asks a person questions, or to open a page.
type InputRequest struct {
	ID        string                     `json:"id"`
	Message   *Prose                     `json:"message,omitempty"`
	URL       string                     `json:"url,omitempty"`
	Questions []Question                 `json:"questions,omitempty"`
	Answers   map[string]json.RawMessage `json:"answers,omitempty"` // by question
	Meta      json.RawMessage            `json:"_meta,omitempty"`
}

// The values of ChatInputCompleted.Response.
const (
	InputAccept  = "accept"
	InputDecline = "decline"
	InputCancel  = "cancel"
)

// Question is one of an input request. What else it has stays in its JSON.
type Question struct {
	ID       string
	Kind     string // text, number, integer, boolean, single-select, multi-select
	Title    string
	Message  string
	Required bool
	Options  []QuestionOption
	raw      json.RawMessage // as it came; nil for one of our own
}

// QuestionOption is one of what a question offers.
type QuestionOption struct {
	ID          string `json:"id"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

type question struct {
	ID       string           `json:"id"`
	Kind     string           `json:"kind"`
	Title    string           `json:"title,omitempty"`
	Message  string           `json:"message"`
	Required bool             `json:"required,omitempty"`
	Options  []QuestionOption `json:"options,omitempty"`
}

// MarshalJSON writes a question as it came, if it came from somewhere.
func (q Question) MarshalJSON() ([]byte, error) {
	if q.raw != nil {
		return q.raw, nil
	}
	return marshal(question{q.ID, q.Kind, q.Title, q.Message, q.Required, q.Options})
}

// UnmarshalJSON reads what the host needs and keeps the rest.
func (q *Question) UnmarshalJSON(b []byte) error {
	var w struct {
		question
		Message Prose           `json:"message"`
		Options json.RawMessage `json:"options"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*q = Question{ID: w.ID, Kind: w.Kind, Title: w.Title, Message: w.Message.Text, Required: w.Required, raw: append(json.RawMessage(nil), b...)}
	Unmarshal(w.Options, &q.Options) //nolint:errcheck // other forms stay in raw
	return nil
}

// Answer is what was answered to a question so far.
type Answer struct {
	State string       `json:"state"` // draft, submitted, skipped
	Value *AnswerValue `json:"value,omitempty"`
}

// AnswerValue is an answer's value: a string, a number, true or false, an
// option, or several.
type AnswerValue struct {
	Kind           string          `json:"kind"`
	Value          json.RawMessage `json:"value"`
	FreeformValues []string        `json:"freeformValues,omitempty"`
}

// States of an Answer.
const (
	AnswerDraft     = "draft"
	AnswerSubmitted = "submitted"
	AnswerSkipped   = "skipped"
)
