package task

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/task/question"
	"tandemux/host/task/store"
	"tandemux/host/task/turns"
)

// The types of a Part (U48).
const (
	PartStart          = "start"
	PartStartStep      = "start-step"
	PartTextStart      = "text-start"
	PartTextDelta      = "text-delta"
	PartTextEnd        = "text-end"
	PartReasoningStart = "reasoning-start"
	PartReasoningDelta = "reasoning-delta"
	PartReasoningEnd   = "reasoning-end"
	PartInputStart     = "tool-input-start"
	PartInputDelta     = "tool-input-delta"
	PartInputEnd       = "tool-input-end"
	PartToolCall       = "tool-call"
	PartToolResult     = "tool-result"
	PartFinishStep     = "finish-step"
	PartFinish         = "finish"
	PartError          = "error"
	PartQuestion       = "question"
	PartQuestionEnd    = "question-end"
)

// The values of Part.FinishReason (U52).
const (
	FinishStop   = "stop"
	FinishLength = "length"
	FinishFilter = "content-filter"
	FinishError  = "error"
	FinishOther  = "other" // cancelled
)

// Part is an event of a task's stream (U48–U53), named as in the AI SDK that the requirements refer
// to.
type Part struct {
	Type string `json:"type"`
	// ID is a text or reasoning block's, a tool call's in tool-input-*, or a question's.
	ID string `json:"id,omitempty"`
	// Text is a piece of text or reasoning, Delta a piece of a tool's input.
	Text  string `json:"text,omitempty"`
	Delta string `json:"delta,omitempty"`

	ToolCallID string          `json:"toolCallId,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`

	FinishReason string      `json:"finishReason,omitempty"`
	TotalUsage   *TokenUsage `json:"totalUsage,omitempty"`

	Error      string          `json:"error,omitempty"`
	RawContent json.RawMessage `json:"rawContent,omitempty"`

	// Question is the agent's question; its id is also in ID. Answer is how the question ended: the
	// option's label, or "" if the question is no longer asked.
	Question *question.Question `json:"question,omitempty"`
	Answer   string             `json:"answer,omitempty"`

	Metadata *PartMeta `json:"metadata,omitempty"`
}

// TokenUsage counts a turn's tokens.
type TokenUsage struct {
	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
	TotalTokens  int64 `json:"totalTokens,omitempty"`
}

// PartMeta is the metadata of a Part.
type PartMeta struct {
	ParentToolUseID string  `json:"parentToolUseId,omitempty"`
	Title           string  `json:"title,omitempty"` // a tool call's title for people
	EventID         string  `json:"eventId,omitempty"`
	Cost            float64 `json:"cost,omitempty"`
	DurationMs      int64   `json:"durationMs,omitempty"`
	Cancelled       bool    `json:"cancelled,omitempty"`
	// Outcome is how the turn ended, as in the task's last_turn; Reason says why.
	Outcome store.Outcome `json:"outcome,omitempty"`
	Reason  string        `json:"reason,omitempty"`
}

// told is how much of a turn is in the stream. It is derived from the stream itself. What is to be
// written next is the difference between it and the turn.
type told struct {
	turn  string // the event's id; empty if no turn is open
	steps bool   // a step is open
	again bool   // a result was written: what the agent says next begins a step

	open string // the type that began the open block, or empty
	id   string // of the open block
	size int    // bytes of the block's text that were written

	last  string // the id of the newest block or call
	calls map[string]*toldCall
	live  []string // ids of the calls without a result, in order
	asked []asked  // the open questions, in order
}

// asked is a question in the stream: its id, and the tool call where its answer will be.
type asked struct{ id, call string }

type toldCall struct {
	input  int // bytes of its input that were written
	ended  bool
	called bool
	over   bool
}

// note takes account of the next part of the stream.
func (s *told) note(p Part) {
	switch p.Type {
	case PartStart:
		*s = told{calls: map[string]*toldCall{}}
		if p.Metadata != nil {
			s.turn = p.Metadata.EventID
		}
	case PartStartStep:
		s.steps, s.again = true, false
	case PartFinishStep:
		s.steps = false
	case PartTextStart, PartReasoningStart:
		s.open, s.id, s.size, s.last = p.Type, p.ID, 0, p.ID
	case PartTextDelta, PartReasoningDelta:
		s.size += len(p.Text)
	case PartTextEnd, PartReasoningEnd:
		s.open, s.id, s.size = "", "", 0
	case PartInputStart:
		if s.calls != nil {
			s.calls[p.ID] = &toldCall{}
			s.live, s.last = append(s.live, p.ID), p.ID
		}
	case PartInputDelta, PartInputEnd, PartToolCall, PartToolResult:
		s.noteCall(p)
	case PartQuestion:
		if p.Question != nil {
			s.asked = append(slices.Clip(s.asked), asked{p.ID, p.Question.ToolCallID})
		}
	case PartQuestionEnd:
		s.asked = slices.DeleteFunc(slices.Clone(s.asked), func(q asked) bool { return q.id == p.ID })
	case PartFinish:
		*s = told{}
	}
}

func (s *told) noteCall(p Part) {
	id := cmp.Or(p.ID, p.ToolCallID)
	c := s.calls[id]
	if c == nil {
		return
	}
	switch p.Type {
	case PartInputDelta:
		c.input += len(p.Delta)
	case PartInputEnd:
		c.ended = true
	case PartToolCall:
		c.called = true
	case PartToolResult:
		c.over, s.again = true, true
		s.live = slices.DeleteFunc(slices.Clone(s.live), func(l string) bool { return l == id })
	}
}

// teller makes the parts that the stream lacks of a turn.
type teller struct {
	*told
	out []Part
}

func (t *teller) say(p Part) {
	t.out = append(t.out, p)
	t.note(p)
}

// tell returns the parts that the stream lacks of a turn, and notes them as told. over says that the
// turn has ended.
func (s *told) tell(turn *ahp.Turn, over bool) []Part {
	t := &teller{told: s}
	if s.turn != turn.ID {
		t.say(Part{Type: PartStart, ID: turn.ID, Metadata: &PartMeta{EventID: turn.ID}})
		t.say(Part{Type: PartStartStep})
	}
	parts := turn.ResponseParts
	from := len(parts) - 1
	for from > 0 && (s.last == "" || partKey(&parts[from]) != s.last) {
		from-- // only the open block may have grown; parts before it are told
	}
	from = max(from, 0)
	questions := question.Of(turn)
	if over {
		questions = nil
	}
	t.answered(turn, questions)
	for _, id := range slices.Clone(s.live) {
		for i := range parts {
			if c := parts[i].ToolCall; c != nil && c.ToolCallID == id {
				t.call(c)
			}
		}
	}
	for i := from; i < len(parts); i++ {
		t.part(&parts[i], i == len(parts)-1 && !over)
	}
	for i := range questions {
		if !slices.ContainsFunc(s.asked, func(q asked) bool { return q.id == questions[i].ID }) {
			t.say(Part{Type: PartQuestion, ID: questions[i].ID, Question: &questions[i]})
		}
	}
	if over {
		t.finish(turn)
	}
	return t.out
}

// answered ends the questions that are no longer asked.
func (t *teller) answered(turn *ahp.Turn, now []question.Question) {
	for _, q := range slices.Clone(t.asked) {
		if slices.ContainsFunc(now, func(n question.Question) bool { return n.ID == q.id }) {
			continue
		}
		end := Part{Type: PartQuestionEnd, ID: q.id}
		for i := range turn.ResponseParts {
			if c := turn.ResponseParts[i].ToolCall; c != nil && q.call != "" && c.ToolCallID == q.call && !c.Waits() {
				end.Answer = answerOf(c)
			}
		}
		t.say(end)
	}
}

// answerOf returns how the question of a tool call was answered.
func answerOf(c *ahp.ToolCall) string {
	switch {
	case c.SelectedOption != nil:
		return question.OneLine(c.SelectedOption.Label)
	case c.Reason == ahp.ReasonDenied:
		return "no"
	case c.Confirmed != "":
		return "yes"
	}
	return ""
}

func partKey(p *ahp.ResponsePart) string {
	switch {
	case p.ToolCall != nil:
		return p.ToolCall.ToolCallID
	case p.Kind == ahp.PartMarkdown || p.Kind == ahp.PartReasoning:
		return p.ID
	}
	return ""
}

// part adds a part of a turn; last says that it may still grow.
func (t *teller) part(p *ahp.ResponsePart, last bool) {
	switch {
	case p.Kind == ahp.PartMarkdown:
		t.block(p, PartTextStart, PartTextDelta, last)
	case p.Kind == ahp.PartReasoning:
		t.block(p, PartReasoningStart, PartReasoningDelta, last)
	case p.ToolCall != nil:
		t.close()
		if t.calls[p.ToolCall.ToolCallID] == nil {
			t.step()
			t.say(Part{Type: PartInputStart, ID: p.ToolCall.ToolCallID, ToolName: p.ToolCall.ToolName, Metadata: callMeta(p.ToolCall)})
			t.call(p.ToolCall)
		}
	}
}

// block adds text or reasoning.
func (t *teller) block(p *ahp.ResponsePart, start, delta string, last bool) {
	if p.ID != t.id {
		if p.ID == t.last { // it was told and closed
			return
		}
		t.close()
		t.step()
		t.say(Part{Type: start, ID: p.ID})
	}
	if more := p.Content[min(t.size, len(p.Content)):]; more != "" {
		t.say(Part{Type: delta, ID: p.ID, Text: more})
	}
	if !last {
		t.close()
	}
}

func (t *teller) close() {
	if t.open != "" {
		t.say(Part{Type: strings.TrimSuffix(t.open, "start") + "end", ID: t.id})
	}
}

// step begins a new step if all calls have results that were told since the last step began: the model
// has seen them before it says what follows.
func (t *teller) step() {
	if t.again && len(t.live) == 0 {
		t.say(Part{Type: PartFinishStep})
		t.say(Part{Type: PartStartStep})
	}
}

// call adds what is new in a tool call.
func (t *teller) call(c *ahp.ToolCall) {
	s := t.calls[c.ToolCallID]
	if s == nil || s.over {
		return
	}
	if text := c.PartialInput; len(text) > s.input && !s.ended {
		t.say(Part{Type: PartInputDelta, ID: c.ToolCallID, Delta: text[s.input:]})
	}
	if c.Status == ahp.ToolStreaming {
		return
	}
	if !s.called {
		input := toolInput(c.ToolInput)
		if s.input == 0 {
			t.say(Part{Type: PartInputDelta, ID: c.ToolCallID, Delta: string(input)})
		}
		t.say(Part{Type: PartInputEnd, ID: c.ToolCallID})
		t.say(Part{Type: PartToolCall, ToolCallID: c.ToolCallID, ToolName: c.ToolName, Input: input, Metadata: callMeta(c)})
	}
	if c.Over() {
		t.say(Part{Type: PartToolResult, ToolCallID: c.ToolCallID, ToolName: c.ToolName, Output: toolOutput(c), Metadata: callMeta(c)})
	}
}

func callMeta(c *ahp.ToolCall) *PartMeta {
	var meta struct {
		Parent string `json:"tandemux/parent"`
	}
	json.Unmarshal(c.Meta, &meta) //nolint:errcheck // then it has no parent
	m := &PartMeta{ParentToolUseID: meta.Parent, Title: c.DisplayName}
	if p := c.InvocationMessage; p != nil {
		m.Title = cmp.Or(p.Text, m.Title)
	}
	return m
}

// toolInput returns a tool's input as a JSON object.
func toolInput(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return raw // a reference
	}
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed)
	}
	return mustJSON(map[string]string{"input": text})
}

func toolOutput(c *ahp.ToolCall) json.RawMessage {
	out := map[string]any{}
	switch {
	case c.Status == ahp.ToolCancelled:
		out["cancelled"] = true
		if c.Reason != "" {
			out["error"] = c.Reason
		}
		if c.ReasonMessage != nil {
			out["error"] = c.ReasonMessage.Text
		}
	case c.Error != nil:
		out["error"] = c.Error.Message
	case c.Success != nil && !*c.Success:
		out["error"] = "failed"
	}
	if len(c.StructuredContent) > 0 {
		out["structuredContent"] = c.StructuredContent
	}
	if len(c.Content) > 0 {
		out["content"] = c.Content
	}
	return mustJSON(out)
}

// finish adds the end of a turn.
func (t *teller) finish(turn *ahp.Turn) {
	t.close()
	for _, id := range slices.Clone(t.live) { // calls without a result, in a turn that was cut off
		if s := t.calls[id]; !s.called {
			t.say(Part{Type: PartInputEnd, ID: id})
		}
	}
	reason := FinishStop
	for i := range turn.ResponseParts {
		p := &turn.ResponseParts[i]
		if p.Kind == ahp.PartError && p.Error != nil {
			t.say(Part{Type: PartError, Error: p.Error.Message, RawContent: mustJSON(p.Error)})
			if reason = FinishError; p.Error.ErrorType == "refusal" {
				reason = FinishFilter
			}
		}
		var told struct {
			Stop string `json:"tandemux/stop"`
		}
		if p.Kind == ahp.PartSystemNotification && json.Unmarshal(p.Meta, &told) == nil && told.Stop == "limit" {
			reason = FinishLength
		}
	}
	meta := &PartMeta{EventID: turn.ID}
	_, meta.Outcome, meta.Reason = turns.Ending(turn)
	switch turn.State {
	case ahp.TurnCancelled:
		reason, meta.Cancelled = FinishOther, true
	case ahp.TurnError:
		if reason == FinishStop {
			reason = FinishError
		}
	}
	if turn.Duration != nil {
		meta.DurationMs = *turn.Duration
	}
	if t.steps {
		t.say(Part{Type: PartFinishStep})
	}
	t.say(Part{Type: PartFinish, FinishReason: reason, TotalUsage: usageOf(turn.Usage, meta), Metadata: meta})
}

func usageOf(u *ahp.Usage, meta *PartMeta) *TokenUsage {
	t := &TokenUsage{}
	if u == nil {
		return t
	}
	if u.InputTokens != nil {
		t.InputTokens = *u.InputTokens
	}
	if u.OutputTokens != nil {
		t.OutputTokens = *u.OutputTokens
	}
	t.TotalTokens = t.InputTokens + t.OutputTokens
	var more struct {
		Cost float64 `json:"tandemux/cost"`
	}
	json.Unmarshal(u.Meta, &more) //nolint:errcheck // then it is not known
	meta.Cost = more.Cost
	return t
}

// mustJSON encodes a value that can always be encoded.
func mustJSON(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}
