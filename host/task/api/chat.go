package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/question"
	"tandemux/host/task/store"
)

// chatLimit bounds a request of a chat, which has all messages that the chat shows, in bytes.
const chatLimit = 8 << 20

// ChatRequest is what the AI SDK's DefaultChatTransport sends.
type ChatRequest struct {
	ID        string            `json:"id,omitempty" doc:"The chat's; not looked at"`
	Messages  []json.RawMessage `json:"messages" doc:"The SDK's messages, of which the last counts: the user's is sent to the task, the assistant's has answers to approvals"`
	Trigger   string            `json:"trigger,omitempty" enum:"submit-message,regenerate-message"`
	MessageID string            `json:"messageId,omitempty" doc:"Not looked at"`
}

// chatMessage has the members of one of the AI SDK's messages that are used here.
type chatMessage struct {
	Role  string `json:"role"`
	Parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		State    string `json:"state"`
		Approval struct {
			ID       string `json:"id"`
			Approved bool   `json:"approved"`
		} `json:"approval"`
	} `json:"parts"`
}

// chat does what the last message says, and streams the result.
func chat(r *Request, in ChatRequest) (none, error) {
	invalid := func(format string, args ...any) (none, error) {
		return none{}, Errorf(http.StatusUnprocessableEntity, format, args...)
	}
	t, err := r.task(access.Read)
	if err != nil {
		return none{}, err
	}
	if in.Trigger == "regenerate-message" {
		return invalid("trigger: a task's turn can't be taken back: what it did is done; send another message")
	}
	var m chatMessage
	if len(in.Messages) == 0 {
		return invalid("messages: there is none")
	}
	if err := json.Unmarshal(in.Messages[len(in.Messages)-1], &m); err != nil {
		return invalid("messages: the last one is none of the AI SDK's: it has role and parts")
	}
	d := newReader(r, t.ID)
	d.at = r.Tasks.Store.StreamEnd(t.ID) // only what is told from now on
	d.ui = newUI()
	switch m.Role {
	case "user":
		d.ui.event, err = r.say(t, m)
	case "assistant":
		err = r.answerAll(t, m)
		d.ui.begun = true // the stream goes on with the turn
	default:
		return invalid("messages: the last one is neither the user's nor the assistant's")
	}
	if err != nil {
		return none{}, err
	}
	d.stream()
	return none{}, nil
}

// say sends the text of a user's message to the task, and returns the event's id.
func (r *Request) say(t store.Task, m chatMessage) (event string, err error) {
	var text []string
	for _, p := range m.Parts {
		switch p.Type {
		case "text":
			text = append(text, p.Text)
		case "file":
			return "", Errorf(http.StatusUnprocessableEntity, "messages: a task takes no files here: put them into its workspace")
		}
	}
	if strings.TrimSpace(strings.Join(text, "")) == "" {
		return "", Errorf(http.StatusUnprocessableEntity, "messages: the last one has no text")
	}
	e, err := r.Tasks.Send(r.Context(), r.Who, t.ID, "", []store.Part{store.TextPart(strings.Join(text, "\n"))})
	return e.ID, err
}

// answerAll gives the answers in an assistant's message to questions that are still open.
func (r *Request) answerAll(t store.Task, m chatMessage) error {
	asked := map[string]bool{}
	for _, q := range r.Tasks.Present(t).Questions {
		asked[q.ID] = true
	}
	var failed error
	given := 0
	for _, p := range m.Parts {
		if p.State != "approval-responded" || !asked[p.Approval.ID] {
			continue
		}
		word := "no"
		if p.Approval.Approved {
			word = "yes"
		}
		if _, err := r.Tasks.Answer(r.Context(), r.Who, t.ID, question.Answer{QuestionID: p.Approval.ID, Answer: word}); err != nil {
			failed = err
			continue
		}
		given++
	}
	if failed == nil && given == 0 {
		return Errorf(http.StatusConflict, "the task %s asks nothing that is answered here: it was answered, or its turn has ended", clip(t.Name))
	}
	return failed
}

// resume streams the running turn from its start, or answers 204 if none runs.
func resume(r *Request, _ none) (none, error) {
	t, err := r.task(access.Read)
	if err != nil {
		return none{}, err
	}
	d := newReader(r, t.ID)
	first, err := d.beginTurn(r.Context())
	if err != nil {
		return none{}, err
	}
	last, err := r.Tasks.Store.LastOf(r.Context(), t.ID, task.PartFinish)
	if err != nil {
		return none{}, err
	}
	if last >= first { // no turn has begun since
		r.W.WriteHeader(http.StatusNoContent)
		return none{}, nil
	}
	d.stream()
	return none{}, nil
}

// beginTurn makes the reader begin with the first event of the newest turn, and returns that event's
// number, or 0 if there is none.
func (d *reader) beginTurn(ctx context.Context) (first int64, err error) {
	first, err = d.r.Tasks.Store.LastOf(ctx, d.task, task.PartStart)
	d.at, d.ui = max(first-1, 0), newUI()
	return first, err
}

// ui converts a task's parts into chunks of the AI SDK's UI message stream (version v1), of one
// message: a turn, or the rest of one.
type ui struct {
	event  string          // the id of the turn to convert; "" means the first one
	begun  bool            // the turn's start was seen
	over   bool            // the turn's end was seen
	blocks map[string]bool // the text and reasoning blocks that have a start chunk
	asks   map[string]bool // open questions
	steps  bool            // a step is open
}

func newUI() *ui { return &ui{blocks: map[string]bool{}, asks: map[string]bool{}} }

// chunk is a chunk of a UI message stream.
type chunk map[string]any

func (u *ui) chunks(p task.Part) []chunk {
	if p.Type == task.PartStart && !u.begun {
		u.begun = u.event == "" || p.Metadata != nil && p.Metadata.EventID == u.event
	}
	if !u.begun || u.over {
		return nil
	}
	switch p.Type {
	case task.PartStart:
		return []chunk{{"type": "start", "messageId": p.ID}}
	case task.PartStartStep, task.PartFinishStep:
		u.steps = p.Type == task.PartStartStep
		return []chunk{{"type": p.Type}}
	case task.PartTextStart, task.PartReasoningStart:
		u.blocks[p.ID] = true
		return []chunk{{"type": p.Type, "id": p.ID}}
	case task.PartTextDelta, task.PartReasoningDelta:
		delta := chunk{"type": p.Type, "id": p.ID, "delta": p.Text}
		if !u.blocks[p.ID] { // it began before this message
			u.blocks[p.ID] = true
			return []chunk{{"type": strings.TrimSuffix(p.Type, "delta") + "start", "id": p.ID}, delta}
		}
		return []chunk{delta}
	case task.PartTextEnd, task.PartReasoningEnd:
		if !u.blocks[p.ID] {
			return nil
		}
		return []chunk{{"type": p.Type, "id": p.ID}}
	case task.PartInputStart:
		return []chunk{u.call("tool-input-start", p.ID, p)}
	case task.PartInputDelta:
		return []chunk{{"type": p.Type, "toolCallId": p.ID, "inputTextDelta": p.Delta}}
	case task.PartToolCall:
		c := u.call("tool-input-available", p.ToolCallID, p)
		c["input"] = p.Input
		return []chunk{c}
	case task.PartToolResult:
		return []chunk{u.result(p)}
	case task.PartQuestion:
		return u.question(p)
	case task.PartQuestionEnd:
		delete(u.asks, p.ID)
		return []chunk{{"type": "data-question-end", "id": p.ID, "data": chunk{"answer": p.Answer}, "transient": true}}
	case task.PartError:
		return []chunk{{"type": "error", "errorText": p.Error}}
	case task.PartFinish:
		u.over = true
		return []chunk{{"type": "finish", "finishReason": p.FinishReason, "messageMetadata": chunk{"totalUsage": p.TotalUsage, "tandemux": p.Metadata}}}
	}
	return nil
}

// call returns a chunk about a tool call that the agent runs.
func (u *ui) call(kind, id string, p task.Part) chunk {
	c := chunk{"type": kind, "toolCallId": id, "toolName": p.ToolName, "dynamic": true, "providerExecuted": true}
	if p.Metadata != nil && p.Metadata.Title != "" {
		c["title"] = p.Metadata.Title
	}
	return c
}

// result returns the chunk with a tool call's result.
func (u *ui) result(p task.Part) chunk {
	var said struct {
		Error string `json:"error"`
	}
	c := chunk{"type": "tool-output-available", "toolCallId": p.ToolCallID, "output": p.Output, "dynamic": true, "providerExecuted": true}
	if json.Unmarshal(p.Output, &said) == nil && said.Error != "" {
		c["type"], c["errorText"] = "tool-output-error", said.Error
		delete(c, "output")
	}
	return c
}

// question returns the chunks for a question: the whole question, and an approval of the SDK if yes
// and no are answers.
func (u *ui) question(p task.Part) []chunk {
	u.asks[p.ID] = true
	all := []chunk{{"type": "data-question", "id": p.ID, "data": p.Question}}
	if q := p.Question; q != nil && q.Kind == question.AsksPermission && q.ToolCallID != "" {
		all = append(all, chunk{"type": "tool-approval-request", "approvalId": p.ID, "toolCallId": q.ToolCallID, "reason": q.Title})
	}
	return all
}

// waits returns the chunks that end the message when the turn waits for a person. The SDK sends the
// answer in another request, whose stream goes on with the message.
func (u *ui) waits() []chunk {
	end := []chunk{{"type": "finish", "finishReason": "tool-calls"}}
	if u.steps {
		end = append([]chunk{{"type": "finish-step"}}, end...)
	}
	return end
}

// append appends the chunks of a stored part to text.
func (u *ui) append(text []byte, e store.StreamEvent) ([]byte, error) {
	var p task.Part
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return text, fmt.Errorf("read a part of a stream: %w", err)
	}
	return appendChunks(text, u.chunks(p))
}

func appendChunks(text []byte, all []chunk) ([]byte, error) {
	for _, c := range all {
		b, err := json.Marshal(c)
		if err != nil {
			return text, fmt.Errorf("write a part of a stream: %w", err)
		}
		text = append(append(append(text, "data: "...), b...), "\n\n"...)
	}
	return text, nil
}
