package ahp

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The forms of 0.5, in which claims have no chat, terminals no lifecycle, sessions a nested summary
// with times as numbers, and chats input requests and errors outside of the parts of a turn. down05
// writes them, the UnmarshalJSON methods below read them.

type (
	plainSession SessionState
	plainChat    ChatState
	plainTurn    Turn
)

// down marshals a T as what shape makes of it.
func down[T any](shape func(T) any) *jsonv2.Marshalers {
	return jsonv2.MarshalToFunc(func(e *jsontext.Encoder, v T) error { return jsonv2.MarshalEncode(e, shape(v)) })
}

// less marshals a T after clear has removed what 0.5 does not have.
func less[T any](clear func(*T)) *jsonv2.Marshalers {
	return jsonv2.MarshalToFunc(func(e *jsontext.Encoder, v T) error {
		was := v
		if clear(&v); reflect.DeepEqual(was, v) {
			return errors.ErrUnsupported
		}
		return jsonv2.MarshalEncode(e, v)
	})
}

// Older is a value of another package that has another form in 0.5.
type Older interface{ As05() any }

var down05 = jsonv2.JoinMarshalers(
	down(Older.As05),
	down(func(c Claim) any {
		c.Chat = ""
		return c.wire()
	}),
	down(func(t TerminalInfo) any {
		w := t.wire()
		w.Lifecycle = nil
		return w
	}),
	down(func(s TerminalState) any {
		w := s.wire()
		w.Lifecycle, w.IsPty, w.Meta = nil, nil, StateMeta{}
		return w
	}),
	down(func(s SessionSummary) any { return summaryOf(s) }),
	down(func(s SessionState) any {
		w := wireSession{plainSession: plainSession(s)}
		w.Summary, w.InputNeeded = summaryOf(s.Summary()), nil
		w.SessionInfo, w.WorkingDirectory = w.Summary.SessionInfo, w.Summary.WorkingDirectory
		if w.Lifecycle == LifecycleFailed {
			w.Lifecycle = failed05
		}
		return w
	}),
	jsonv2.MarshalFunc(func(c SessionChanges) ([]byte, error) {
		b, err := c.encode(V05)
		if err != nil {
			return nil, err
		}
		return Encode(V05, changes05(b))
	}),
	down(func(s ChatState) any {
		s.BackgroundWork = nil
		return wireChat{plainChat(s), s.OpenRequests(), &s.ChatSummary}
	}),
	down(func(a SessionChatUpdated) any {
		return map[string]any{"type": a.ActionType(), "chat": a.Chat, "changes": changes05(a.Changes)}
	}),
	down(func(t Turn) any {
		w := wireTurn{plainTurn: plainTurn(t)}
		w.ResponseParts = nil
		for _, p := range t.ResponseParts {
			switch p.Kind {
			case PartError:
				w.Error = p.Error
			case PartInputRequest:
			default:
				w.ResponseParts = append(w.ResponseParts, p)
			}
		}
		return w
	}),
	down(func(a ChatError) any {
		return struct {
			Type     string     `json:"type"`
			TurnID   string     `json:"turnId"`
			Duration *int64     `json:"duration,omitempty"`
			Error    *ErrorInfo `json:"error"`
		}{a.ActionType(), a.TurnID, a.Duration, orNew(a.Part.Error)}
	}),
	down(func(r FetchTurnsResult) any { return map[string]any{"turns": r.Turns, "hasMore": r.HasMore} }),
	less(func(t *ToolCall) { t.ToolRun = ToolRun{Auth: t.Auth} }),
	less(func(a *ChatToolCallReady) { a.StartedAt = "" }),
	less(func(a *ChatToolCallConfirmed) { a.StartedAt = "" }),
	less(func(a *ChatToolCallComplete) { a.Duration = nil }),
	jsonv2.MarshalToFunc(func(e *jsontext.Encoder, r ReconnectResult) error {
		r.Actions = slices.DeleteFunc(slices.Clone(r.Actions), func(e Envelope) bool {
			return e.Action != nil && !Speaks(V05, e.Action.ActionType())
		})
		return r.MarshalJSONTo(e)
	}),
)

// OpenRequests returns the unanswered input requests, as 0.5 lists them.
func (s ChatState) OpenRequests() []InputRequest {
	open := s.InputRequests[:len(s.InputRequests):len(s.InputRequests)]
	if s.ActiveTurn == nil {
		return open
	}
	for _, p := range s.ActiveTurn.ResponseParts {
		if p.Kind == PartInputRequest && p.Response == "" && p.Request != nil {
			open = append(open, *p.Request)
		}
	}
	return open
}

// failed05 is what 0.5 calls LifecycleFailed.
const failed05 = "creationFailed"

// wireSummary is a SessionSummary as 0.5 writes it.
type wireSummary struct {
	Resource URI `json:"resource"`
	SessionInfo
	WorkingDirectory URI             `json:"workingDirectory,omitempty"`
	CreatedAt        instant05       `json:"createdAt"`
	ModifiedAt       instant05       `json:"modifiedAt"`
	Changes          json.RawMessage `json:"changes,omitempty"`
	Model            json.RawMessage `json:"model,omitempty"`
	Agent            json.RawMessage `json:"agent,omitempty"`
	Meta             json.RawMessage `json:"_meta,omitempty"`
}

func summaryOf(s SessionSummary) wireSummary {
	dir := append(s.WorkingDirectories, "")[0]
	s.WorkingDirectories = nil
	return wireSummary{
		s.Resource, s.SessionInfo, dir, instant05{s.CreatedAt}, instant05{s.ModifiedAt}, s.Changes, s.Model, s.CurrentAgent, s.Meta,
	}
}

// instant05 is an Instant that is written as Unix milliseconds.
type instant05 struct{ Instant }

func (i instant05) MarshalJSON() ([]byte, error) {
	ms, _ := i.Ms()
	return Encode(V05, ms)
}

// UnmarshalJSON accepts every profile's form.
func (s *SessionSummary) UnmarshalJSON(b []byte) error {
	type plain SessionSummary
	var w struct {
		plain
		WorkingDirectory URI             `json:"workingDirectory"`
		Model            json.RawMessage `json:"model"`
		Agent            json.RawMessage `json:"agent"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*s = SessionSummary(w.plain)
	s.Model, s.CurrentAgent = w.Model, w.Agent
	if s.WorkingDirectories == nil && w.WorkingDirectory != "" {
		s.WorkingDirectories = []URI{w.WorkingDirectory}
	}
	return nil
}

// wireSession has the summary nested, as in the source code of 0.5, and flat, as in its release
// (docs/protocol.md, Versions).
type wireSession struct {
	Summary wireSummary `json:"summary"`
	SessionInfo
	WorkingDirectory URI `json:"workingDirectory,omitempty"`
	plainSession
}

// UnmarshalJSON accepts every profile's form: with a nested summary, or flat.
func (s *SessionState) UnmarshalJSON(b []byte) error {
	var nested struct {
		Summary *SessionSummary `json:"summary"`
	}
	var sum SessionSummary
	var state plainSession
	if err := errors.Join(Unmarshal(b, &state), Unmarshal(b, &nested), Unmarshal(b, &sum)); err != nil {
		return err
	}
	*s = SessionState(state)
	if nested.Summary != nil {
		sum = *nested.Summary
	}
	s.SessionInfo = sum.SessionInfo
	s.SessionRow = SessionRow{sum.Resource, sum.CreatedAt, sum.ModifiedAt, sum.Changes, sum.Model, sum.CurrentAgent}
	if s.Lifecycle == failed05 {
		s.Lifecycle = LifecycleFailed
	}
	return nil
}

// wireChat has the chat's summary nested, too.
type wireChat struct {
	plainChat
	InputRequests []InputRequest `json:"inputRequests,omitempty"`
	Summary       *ChatSummary   `json:"summary,omitempty"`
}

// changes05 returns changes in the form of 0.5, which has "" instead of null for an activity that
// is gone.
func changes05(changes json.RawMessage) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	if json.Unmarshal(changes, &members) == nil && string(members["activity"]) == "null" {
		members["activity"] = json.RawMessage(`""`)
	}
	return members
}

// UnmarshalJSON accepts every profile's form.
func (s *ChatState) UnmarshalJSON(b []byte) error {
	var w wireChat
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*s = ChatState(w.plainChat)
	if s.ActiveTurn == nil {
		s.InputRequests = w.InputRequests
		return nil
	}
	for _, r := range w.InputRequests {
		s.ActiveTurn.ResponseParts = append(s.ActiveTurn.ResponseParts, ResponsePart{Kind: PartInputRequest, Request: &r})
	}
	return nil
}

type wireTurn struct {
	plainTurn
	Error *ErrorInfo `json:"error,omitempty"`
}

// UnmarshalJSON accepts every profile's form. An error of the turn itself, as in 0.5, becomes its
// last part.
func (t *Turn) UnmarshalJSON(b []byte) error {
	var w wireTurn
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*t = Turn(w.plainTurn)
	t.ResponseParts = nonNil(t.ResponseParts)
	if w.Error != nil {
		t.ResponseParts = append(t.ResponseParts, ResponsePart{Kind: PartError, Error: w.Error})
	}
	return nil
}

// readError05 reads a ChatError of any profile. In 0.5 it has an error instead of a part.
var readError05 = jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, a *ChatError) error {
	type plain ChatError
	var w struct {
		plain
		Part  *ResponsePart `json:"part"`
		Error *ErrorInfo    `json:"error"`
	}
	if err := jsonv2.UnmarshalDecode(d, &w); err != nil {
		return err
	}
	*a = ChatError(w.plain)
	a.Part = ResponsePart{Kind: PartError, Error: w.Error}
	if w.Part != nil {
		a.Part = *w.Part
	}
	return nil
})
