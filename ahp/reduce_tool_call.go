package ahp

import (
	"cmp"
	"encoding/json"
	"slices"
)

// toolRef identifies a tool call.
type toolRef struct{ turn, call string }

func (a ChatToolCallStart) about() toolRef           { return toolRef{a.TurnID, a.ToolCallID} }
func (a ChatToolCallDelta) about() toolRef           { return toolRef{a.TurnID, a.ToolCallID} }
func (a ChatToolCallReady) about() toolRef           { return toolRef{a.TurnID, a.ToolCallID} }
func (a ChatToolCallConfirmed) about() toolRef       { return toolRef{a.TurnID, a.ToolCallID} }
func (a ChatToolCallContentChanged) about() toolRef  { return toolRef{a.TurnID, a.ToolCallID} }
func (a ChatToolCallProgress) about() toolRef        { return toolRef{a.TurnID, a.ToolCallID} }
func (a ChatToolCallComplete) about() toolRef        { return toolRef{a.TurnID, a.ToolCallID} }
func (a ChatToolCallResultConfirmed) about() toolRef { return toolRef{a.TurnID, a.ToolCallID} }
func (a ChatToolCallAuthRequired) about() toolRef    { return toolRef{a.TurnID, a.ToolCallID} }
func (a ChatToolCallAuthResolved) about() toolRef    { return toolRef{a.TurnID, a.ToolCallID} }

// reduceToolCall applies an action to the tool call ref.
func reduceToolCall(s ChatState, a Action, ref toolRef) ChatState {
	if start, ok := a.(ChatToolCallStart); ok {
		return s.inTurn(start.TurnID, func(t *Turn) {
			t.ResponseParts = append(slices.Clip(t.ResponseParts), ResponsePart{Kind: PartToolCall, ToolCall: &ToolCall{
				Status: ToolStreaming, ToolCallID: start.ToolCallID, ToolName: start.ToolName, DisplayName: start.DisplayName,
				Intention: start.Intention, Contributor: start.Contributor, Meta: start.Meta,
			}})
		})
	}
	had := s.ToolCall(ref.turn, ref.call)
	if had == nil {
		return s
	}
	next, ok := had.after(a)
	if !ok {
		return s
	}
	s = s.inTurn(ref.turn, func(t *Turn) {
		t.ResponseParts = slices.Clone(t.ResponseParts)
		for i, p := range t.ResponseParts {
			if p.ToolCall == had {
				t.ResponseParts[i].ToolCall = &next
			}
		}
	})
	s.Status = s.currentStatus()
	return s
}

// ToolCall returns a tool call of the active turn, or nil if there is none. The caller must not
// change it.
func (s ChatState) ToolCall(turnID, toolCallID string) *ToolCall {
	if s.ActiveTurn == nil || s.ActiveTurn.ID != turnID {
		return nil
	}
	for _, p := range s.ActiveTurn.ResponseParts {
		if p.ToolCall != nil && p.ToolCall.ToolCallID == toolCallID {
			return p.ToolCall
		}
	}
	return nil
}

// invoked returns the call in a new status, with the members that every status has.
func (t ToolCall) invoked(status string) ToolCall {
	return ToolCall{
		Status: status, ToolCallID: t.ToolCallID, ToolName: t.ToolName, DisplayName: t.DisplayName,
		Intention: t.Intention, Contributor: t.Contributor, Meta: t.Meta,
		InvocationMessage: cmp.Or(t.InvocationMessage, Plain("")), ToolInput: t.ToolInput,
	}
}

// skipped returns the call as cancelled because its turn ended first.
func (t ToolCall) skipped() ToolCall {
	n := t.invoked(ToolCancelled)
	if t.Status == ToolStreaming {
		n.ToolInput = nil
	}
	n.Reason = ReasonSkipped
	return n
}

// after returns the call after an action. ok is false if the action does not apply in its status.
func (t ToolCall) after(a Action) (n ToolCall, ok bool) {
	var meta json.RawMessage
	switch a := a.(type) {
	case ChatToolCallDelta:
		n, ok, meta = t, t.Status == ToolStreaming, a.Meta
		n.PartialInput += a.Content
		if a.InvocationMessage != nil {
			n.InvocationMessage = a.InvocationMessage
		}
	case ChatToolCallReady:
		n, ok = t.ready(a)
		meta = a.Meta
	case ChatToolCallConfirmed:
		n, ok, meta = t.confirmed(a), t.Status == ToolPending, a.Meta
	case ChatToolCallContentChanged:
		n, ok, meta = t, t.Status == ToolRunning, a.Meta
		n.Content = a.Content
	case ChatToolCallProgress:
		n, ok, meta = t, t.Status == ToolRunning, a.Meta
		n.Progress = &a.ToolProgress
	case ChatToolCallComplete:
		n, ok = t.complete(a)
		meta = a.Meta
	case ChatToolCallResultConfirmed:
		n, ok, meta = t.resultConfirmed(a.Approved), t.Status == ToolPendingResult, a.Meta
	case ChatToolCallAuthRequired:
		n, ok, meta = t, t.Status == ToolRunning && t.Contributor != nil && t.Contributor.Kind == "mcp", a.Meta
		n.Status, n.Auth, n.Progress = ToolAuthRequired, a.Auth, nil
	case ChatToolCallAuthResolved:
		n, ok, meta = t, t.Status == ToolAuthRequired, a.Meta
		n.Status, n.Auth = ToolRunning, nil
	}
	if !isAbsent(meta) {
		n.Meta = meta
	}
	return n, ok
}

func (t ToolCall) ready(a ChatToolCallReady) (n ToolCall, ok bool) {
	if t.Status != ToolStreaming && t.Status != ToolRunning && t.Status != ToolPending {
		return t, false
	}
	t.Contributor, t.Intention = cmp.Or(a.Contributor, t.Contributor), cmp.Or(a.Intention, t.Intention)
	t.InvocationMessage = a.InvocationMessage
	if !isAbsent(a.ToolInput) || t.Status == ToolStreaming {
		t.ToolInput = a.ToolInput
	}
	if a.Confirmed != "" {
		n = t.invoked(ToolRunning)
		n.Confirmed, n.StartedAt = a.Confirmed, a.StartedAt
		return n, true
	}
	if a.Options == nil { // what the action does not mention stays
		a.Options = t.Options
	}
	if isAbsent(a.RiskAssessment) {
		a.RiskAssessment = t.RiskAssessment
	}
	if isAbsent(a.Edits) {
		a.Edits = t.Edits
	}
	n = t.invoked(ToolPending)
	n.ConfirmationTitle, n.Editable = cmp.Or(a.ConfirmationTitle, t.ConfirmationTitle), cmp.Or(a.Editable, t.Editable)
	n.RiskAssessment, n.Edits, n.Options = a.RiskAssessment, a.Edits, a.Options
	return n, true
}

func (t ToolCall) confirmed(a ChatToolCallConfirmed) ToolCall {
	var selected *ToolOption
	if i := slices.IndexFunc(t.Options, func(o ToolOption) bool { return o.ID == a.SelectedOptionID }); i >= 0 {
		selected = new(t.Options[i])
	}
	if !a.Approved {
		n := t.invoked(ToolCancelled)
		n.Reason, n.ReasonMessage, n.UserSuggestion, n.SelectedOption = a.Reason, a.ReasonMessage, a.UserSuggestion, selected
		return n
	}
	n := t.invoked(ToolRunning)
	n.Confirmed, n.SelectedOption, n.StartedAt = a.Confirmed, selected, a.StartedAt
	if a.EditedToolInput != nil {
		if _, text := InputText(t.ToolInput); text || isAbsent(t.ToolInput) {
			n.ToolInput = TextInput(*a.EditedToolInput)
		}
	}
	return n
}

func (t ToolCall) complete(a ChatToolCallComplete) (n ToolCall, ok bool) {
	given := t.Status == ToolAuthRequired && !a.Result.Success // the call was given up without logging in
	if t.Status != ToolRunning && t.Status != ToolPending && !given {
		return t, false
	}
	n = t.invoked(ToolCompleted)
	if a.RequiresResultConfirmation && !given {
		n.Status = ToolPendingResult
	}
	n.Confirmed, n.Duration = ConfirmedNotNeeded, a.Duration
	if t.Status != ToolPending {
		n.Confirmed, n.SelectedOption, n.StartedAt = t.Confirmed, t.SelectedOption, t.StartedAt
	}
	r := a.Result
	n.Success, n.PastTenseMessage, n.Content = &r.Success, r.PastTenseMessage, r.Content
	n.StructuredContent, n.Error = r.StructuredContent, r.Error
	return n, true
}

func (t ToolCall) resultConfirmed(approved bool) ToolCall {
	if approved {
		t.Status = ToolCompleted
		return t
	}
	n := t.invoked(ToolCancelled)
	n.Reason, n.SelectedOption = ReasonResultDenied, t.SelectedOption
	return n
}
