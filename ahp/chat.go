package ahp

import (
	"bytes"
	"encoding/json"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

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
	InteractivityFull   = "full"
	InteractivityHidden = "hidden"
)

// ChatOrigin says where a chat comes from.
type ChatOrigin struct {
	Kind       string          `json:"kind"` // user, fork, sideChat, tool
	Chat       URI             `json:"chat,omitempty"`
	TurnID     string          `json:"turnId,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	Selection  json.RawMessage `json:"selection,omitempty"`
}

// ChatState is the state of a chat channel, the conversation (AHP, Chat Channel).
type ChatState struct {
	ChatSummary
	Changesets      []json.RawMessage `json:"changesets,omitzero"`
	BackgroundWork  []BackgroundWork  `json:"backgroundWork,omitempty"`
	Turns           List[Turn]        `json:"turns"`                     // finished turns, oldest first
	TurnsNextCursor string            `json:"turnsNextCursor,omitempty"` // for fetchTurns, if there are older turns
	ActiveTurn      *Turn             `json:"activeTurn,omitempty"`      // nil when none runs
	SteeringMessage *PendingMessage   `json:"steeringMessage,omitempty"`
	QueuedMessages  []PendingMessage  `json:"queuedMessages,omitempty"`
	Draft           *Message          `json:"draft,omitempty"`
	// InputRequests are the requests outside of a turn, which only 0.5 has.
	InputRequests []InputRequest  `json:"-"`
	Meta          json.RawMessage `json:"_meta,omitempty"`
}

// The values of Turn.State; empty while the turn runs.
const (
	TurnComplete  = "complete"
	TurnCancelled = "cancelled"
	TurnError     = "error"
)

// Turn is a message and the answer to it. Turns share no memory that is changed.
type Turn struct {
	ID            string             `json:"id"`
	StartedAt     Instant            `json:"startedAt,omitempty"`
	Duration      *int64             `json:"duration,omitempty"` // ms; nil while it runs
	Message       Message            `json:"message"`
	ResponseParts List[ResponsePart] `json:"responseParts"`
	Usage         *Usage             `json:"usage,omitempty"`
	State         string             `json:"state,omitempty"`
}

// OriginUser is the value of MessageOrigin.Kind for a message that a person wrote.
const OriginUser = "user"

// Message is the message that a turn begins with.
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
	Kind string `json:"kind"` // user, agent, tool, systemNotification
}

// ModelSelection names a model and the values that are set for it.
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
	AttachSimple      = "simple"
	AttachEmbedded    = "embeddedResource"
	AttachResource    = "resource"
	AttachAnnotations = "annotations"
)

// Attachment is something attached to a message.
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

// PendingMessage is a message that waits: to be put into the running turn (steering), or to begin a
// turn of its own (queued).
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

// WorkShell is the value of BackgroundWork.Kind for a command.
const WorkShell = "shell"

// BackgroundWork is work of the agent's that goes on beside the turns.
type BackgroundWork struct {
	ID        string          `json:"id"`
	Label     string          `json:"label"`
	StartedAt Instant         `json:"startedAt"`
	Kind      string          `json:"kind"`               // shell, subagent
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
	PartSystemNotification = "systemNotification"
	PartInputRequest       = "inputRequest"
	PartError              = "error"
)

// ResponsePart is one piece of a turn's answer. A part of an unknown kind is kept as JSON in Raw.
type ResponsePart struct {
	Kind     string        `json:"kind"`
	ID       string        `json:"id,omitempty"`       // markdown, reasoning
	Content  string        `json:"-"`                  // markdown, reasoning
	ToolCall *ToolCall     `json:"toolCall,omitempty"` // toolCall
	Request  *InputRequest `json:"request,omitempty"`  // inputRequest
	Response string        `json:"response,omitempty"` // inputRequest: accept, decline, cancel; empty while open
	Note     *Prose        `json:"-"`                  // systemNotification
	Error    *ErrorInfo    `json:"error,omitempty"`    // error
	// Resumable says that the turn, which ended with this error, can be resumed.
	Resumable bool            `json:"resumable,omitempty"`
	Meta      json.RawMessage `json:"_meta,omitempty"`
	Raw       json.RawMessage `json:"-"` // the JSON of unknown kinds, contentRef among them
}

type plainPart ResponsePart

// need allocates the member that the part's kind requires, and returns where its content is stored.
func (p *plainPart) need() (content any) {
	switch p.Kind {
	case PartMarkdown, PartReasoning:
		return &p.Content
	case PartSystemNotification:
		p.Note = orNew(p.Note)
		return p.Note
	case PartToolCall:
		p.ToolCall = orNew(p.ToolCall)
	case PartInputRequest:
		p.Request = orNew(p.Request)
	}
	return nil
}

// MarshalJSON writes the newest form, for encoding/json.
func (p ResponsePart) MarshalJSON() ([]byte, error) { return Encode(V1, p) }

// MarshalJSONTo writes the members of the part's kind.
func (p ResponsePart) MarshalJSONTo(e *jsontext.Encoder) error {
	if p.Raw != nil {
		return e.WriteValue(jsontext.Value(p.Raw))
	}
	w := struct {
		Kind    string  `json:"kind"`
		ID      *string `json:"id,omitempty"`
		Content any     `json:"content,omitempty"`
		*plainPart
	}{Kind: p.Kind, plainPart: (*plainPart)(&p)}
	if w.Content = w.need(); p.Kind == PartMarkdown || p.Kind == PartReasoning {
		w.ID = &p.ID
	} else if p.Kind == PartError {
		p.Error = orNew(p.Error)
	}
	return jsonv2.MarshalEncode(e, w)
}

// UnmarshalJSON reads a part by its kind and keeps an unknown one as JSON.
func (p *ResponsePart) UnmarshalJSON(b []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := Unmarshal(b, &head); err != nil {
		return err
	}
	if !slices.Contains([]string{PartMarkdown, PartReasoning, PartToolCall, PartSystemNotification, PartInputRequest, PartError}, head.Kind) {
		*p = ResponsePart{Kind: head.Kind, Raw: bytes.Clone(b)}
		return nil
	}
	var w struct {
		plainPart
		Content json.RawMessage `json:"content"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*p = ResponsePart(w.plainPart)
	if content := (*plainPart)(p).need(); content != nil && w.Content != nil {
		return json.Unmarshal(w.Content, content)
	}
	return nil
}

// orNew returns p, or a new zero value if p is nil.
func orNew[T any](p *T) *T {
	if p == nil {
		p = new(T)
	}
	return p
}

// Prose is a text that is either plain or Markdown.
type Prose struct {
	Text     string
	Markdown bool
}

func Plain(s string) *Prose { return &Prose{Text: s} }

// MarshalJSON writes a string, or an object for Markdown.
func (p Prose) MarshalJSON() ([]byte, error) {
	if !p.Markdown {
		return Encode(V1, p.Text)
	}
	return Encode(V1, map[string]string{"markdown": p.Text})
}

// UnmarshalJSON accepts a string, and an object with the member markdown.
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

// InputRequest asks a person to answer questions or to open a page.
type InputRequest struct {
	ID        string                     `json:"id"`
	Message   *Prose                     `json:"message,omitempty"`
	URL       string                     `json:"url,omitempty"`
	Questions []Question                 `json:"questions,omitempty"`
	Answers   map[string]json.RawMessage `json:"answers,omitempty"` // by the question's id
	Meta      json.RawMessage            `json:"_meta,omitempty"`
}

// The values of ChatInputCompleted.Response.
const (
	InputAccept  = "accept"
	InputDecline = "decline"
	InputCancel  = "cancel"
)

// Question is one question of an InputRequest. Members that have no field here stay in its JSON.
type Question struct {
	ID       string           `json:"id"`
	Kind     string           `json:"kind"` // text, number, integer, boolean, single-select, multi-select
	Title    string           `json:"title,omitempty"`
	Message  string           `json:"message"`
	Required bool             `json:"required,omitempty"`
	Options  []QuestionOption `json:"options,omitempty"`
	raw      json.RawMessage  // the JSON it was read from; nil if made here
}

// QuestionOption is one of a question's choices.
type QuestionOption struct {
	ID          string `json:"id"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// MarshalJSON writes the JSON that the question was read from, if there is any.
func (q Question) MarshalJSON() ([]byte, error) {
	if q.raw != nil {
		return q.raw, nil
	}
	type plain Question
	return Encode(V1, plain(q))
}

// UnmarshalJSON reads the members that the host needs, and keeps the JSON.
func (q *Question) UnmarshalJSON(b []byte) error {
	type plain Question
	var w struct {
		plain
		Message Prose           `json:"message"`
		Options json.RawMessage `json:"options"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*q = Question(w.plain)
	q.Message, q.raw = w.Message.Text, bytes.Clone(b)
	Unmarshal(w.Options, &q.Options) //nolint:errcheck // other forms stay in raw
	return nil
}

// Answer is the answer to a question so far.
type Answer struct {
	State string       `json:"state"` // draft, submitted, skipped
	Value *AnswerValue `json:"value,omitempty"`
}

// AnswerValue is an answer's value: text, a number, a boolean, one option or several. Kind is one
// of AnswerKinds' values.
type AnswerValue struct {
	Kind           string          `json:"kind"`
	Value          json.RawMessage `json:"value"`
	FreeformValues []string        `json:"freeformValues,omitempty"`
}

// AnswerKinds maps each Question.Kind to the AnswerValue.Kind that answers it.
var AnswerKinds = map[string]string{
	"text": "text", "number": "number", "integer": "number", "boolean": "boolean",
	"single-select": "selected", "multi-select": "selected-many",
}

// The values of Answer.State.
const (
	AnswerDraft     = "draft"
	AnswerSubmitted = "submitted"
	AnswerSkipped   = "skipped"
)
