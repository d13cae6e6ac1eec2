package ahp

import (
	"encoding/json"
	"slices"
)

// ReduceChat returns the chat's state after a (AHP, Chat Channel). It has no clock: an action
// without a time leaves ModifiedAt unchanged.
func ReduceChat(s ChatState, a Action) ChatState { return reduceChat(s, a, "") }

// reduceChat is ReduceChat. For tests of 0.5, whose actions have no times, now is the time of a, or
// "".
func reduceChat(s ChatState, a Action, now Instant) ChatState {
	if call, is := a.(interface{ about() toolRef }); is {
		return reduceToolCall(s, a, call.about())
	}
	switch a := a.(type) {
	case ChatTurnStarted:
		if s.ActiveTurn == nil || s.ActiveTurn.ID != a.TurnID { // or else it has begun already
			return startTurn(s, a, now)
		}
	case ChatResponsePart:
		return s.inTurn(a.TurnID, func(t *Turn) {
			if a.Part.Kind != PartError {
				t.ResponseParts = append(slices.Clip(t.ResponseParts), a.Part)
			}
		})
	case ChatDelta:
		return s.appendText(a.TurnID, PartMarkdown, a.PartID, a.Content)
	case ChatReasoning:
		return s.appendText(a.TurnID, PartReasoning, a.PartID, a.Content)
	case ChatUsage:
		return s.inTurn(a.TurnID, func(t *Turn) { t.Usage = &a.Usage })
	case ChatTurnComplete:
		return s.endTurn(a.TurnID, TurnComplete, a.Duration, now)
	case ChatTurnCancelled:
		return s.endTurn(a.TurnID, TurnCancelled, a.Duration, now)
	case ChatError:
		return s.endTurn(a.TurnID, TurnError, a.Duration, now, a.Part)
	case ChatTurnResume:
		return resumeTurn(s, a)
	case ChatTruncated:
		return truncate(s, a, now)
	case ChatTurnsLoaded:
		return loadTurns(s, a)
	case ChatInputRequested, ChatInputAnswerChanged, ChatInputCompleted:
		return reduceInput(s, a, now)
	case ChatPendingMessageSet, ChatPendingMessageRemoved, ChatQueuedMessagesReordered:
		return reducePending(s, a)
	}
	reduceChatMembers(&s, a)
	return s
}

// reduceChatMembers applies the actions that set a single member.
func reduceChatMembers(s *ChatState, a Action) {
	switch a := a.(type) {
	case ChatDraftChanged:
		s.Draft = a.Draft
	case ChatIsReadChanged:
		s.Status = s.Status.WithFlag(FlagRead, a.IsRead)
	case ChatIsArchivedChanged:
		s.Status = s.Status.WithFlag(FlagArchived, a.IsArchived)
	case ChatActivityChanged:
		s.Activity = a.Activity
	case ChatMovableChanged:
		s.Movable = a.Movable
	case ChatChangesetsChanged:
		s.Changesets = a.Changesets
	case ChatBackgroundWorkSet:
		s.BackgroundWork = upsert(s.BackgroundWork, a.Work, func(w BackgroundWork) bool { return w.ID == a.Work.ID })
	case ChatBackgroundWorkRemoved:
		s.BackgroundWork = without(s.BackgroundWork, func(w BackgroundWork) bool { return w.ID == a.ID })
	case ChatWorkingDirectorySet:
		s.WorkingDirectories = upsert(s.WorkingDirectories, a.Directory, func(d URI) bool { return d == a.Directory })
	case ChatWorkingDirectoryRemoved:
		s.WorkingDirectories = without(s.WorkingDirectories, func(d URI) bool { return d == a.Directory })
	}
}

func startTurn(s ChatState, a ChatTurnStarted, now Instant) ChatState {
	s.ActiveTurn = &Turn{ID: a.TurnID, StartedAt: a.StartedAt, Message: a.Message, ResponseParts: []ResponsePart{}}
	if a.QueuedMessageID != "" {
		if s.SteeringMessage != nil && s.SteeringMessage.ID == a.QueuedMessageID {
			s.SteeringMessage = nil
		}
		s.QueuedMessages = without(s.QueuedMessages, func(m PendingMessage) bool { return m.ID == a.QueuedMessageID })
	}
	s.Status = s.currentStatus().WithFlag(FlagRead, false)
	s.modified(a.StartedAt, now)
	return s
}

// modified sets ModifiedAt to the first of times that is known.
func (s *ChatState) modified(times ...Instant) {
	for _, at := range times {
		if at != "" {
			s.ModifiedAt = at
			return
		}
	}
}

// inTurn calls change with a copy of the active turn, if its id is id.
func (s ChatState) inTurn(id string, change func(t *Turn)) ChatState {
	if s.ActiveTurn == nil || s.ActiveTurn.ID != id {
		return s
	}
	t := *s.ActiveTurn
	change(&t)
	s.ActiveTurn = &t
	return s
}

// appendText appends to the part with the id partID, if it has the given kind.
func (s ChatState) appendText(turnID, kind, partID, text string) ChatState {
	return s.inTurn(turnID, func(t *Turn) {
		i := slices.IndexFunc(t.ResponseParts, func(p ResponsePart) bool { return p.id() == partID })
		if i >= 0 && t.ResponseParts[i].Kind == kind {
			t.ResponseParts = slices.Clone(t.ResponseParts)
			t.ResponseParts[i].Content += text
		}
	})
}

func (p ResponsePart) id() string {
	if p.ToolCall != nil {
		return p.ToolCall.ToolCallID
	}
	return p.ID
}

// endTurn moves the active turn to the finished ones, with failure as its last parts. Tool calls
// that have not ended are cancelled as skipped.
func (s ChatState) endTurn(id, state string, duration *int64, now Instant, failure ...ResponsePart) ChatState {
	if s.ActiveTurn == nil || s.ActiveTurn.ID != id {
		return s
	}
	t := *s.ActiveTurn
	t.State = state
	t.ResponseParts = make([]ResponsePart, 0, len(s.ActiveTurn.ResponseParts)+1)
	for _, p := range s.ActiveTurn.ResponseParts {
		if p.ToolCall != nil && !p.ToolCall.Over() {
			p.ToolCall = new(p.ToolCall.skipped())
		}
		t.ResponseParts = append(t.ResponseParts, p)
	}
	t.ResponseParts = append(t.ResponseParts, failure...)
	ended := Instant("")
	if duration != nil {
		d := max(0, *duration)
		t.Duration = &d
		if t.StartedAt != "" {
			ended = t.StartedAt.add(d)
		}
	}
	s.Turns = append(slices.Clip(s.Turns), t)
	s.ActiveTurn, s.InputRequests = nil, nil
	s.Status = s.currentStatus()
	if state == TurnError {
		s.Status = s.Status.WithActivity(ActivityError)
	}
	s.modified(ended, now)
	return s
}

// currentStatus returns the status with the activity that follows from the turn and the open
// requests.
func (s ChatState) currentStatus() Status {
	if len(s.InputRequests) > 0 {
		return s.Status.WithActivity(ActivityInputNeeded)
	}
	if s.ActiveTurn == nil {
		return s.Status.WithActivity(ActivityIdle)
	}
	for _, p := range s.ActiveTurn.ResponseParts {
		if p.Kind == PartInputRequest && p.Response == "" || p.ToolCall != nil && p.ToolCall.Waits() {
			return s.Status.WithActivity(ActivityInputNeeded)
		}
	}
	return s.Status.WithActivity(ActivityInProgress)
}

func resumeTurn(s ChatState, a ChatTurnResume) ChatState {
	if !s.Resumable(a.TurnID) {
		return s
	}
	t := s.Turns[len(s.Turns)-1]
	t.State, t.Duration = "", nil
	t.ResponseParts = t.ResponseParts[:len(t.ResponseParts)-1]
	s.Turns = s.Turns[:len(s.Turns)-1]
	s.ActiveTurn = &t
	s.Status = s.currentStatus().WithFlag(FlagRead, false)
	return s
}

// Resumable reports whether the turn is the last one, ended in a resumable error, and no other is
// active.
func (s ChatState) Resumable(turnID string) bool {
	if s.ActiveTurn != nil || len(s.Turns) == 0 {
		return false
	}
	t := s.Turns[len(s.Turns)-1]
	n := len(t.ResponseParts)
	return t.ID == turnID && t.State == TurnError && n > 0 &&
		t.ResponseParts[n-1].Kind == PartError && t.ResponseParts[n-1].Resumable
}

func truncate(s ChatState, a ChatTruncated, now Instant) ChatState {
	keep := 0
	if a.TurnID != "" {
		i := slices.IndexFunc(s.Turns, func(t Turn) bool { return t.ID == a.TurnID })
		if i < 0 {
			return s
		}
		keep = i + 1
	} else {
		s.TurnsNextCursor = ""
	}
	s.Turns = s.Turns[:keep:keep]
	s.ActiveTurn, s.InputRequests = nil, nil
	s.Status = s.currentStatus()
	s.modified(now)
	return s
}

func loadTurns(s ChatState, a ChatTurnsLoaded) ChatState {
	have := map[string]bool{}
	for _, t := range s.Turns {
		have[t.ID] = true
	}
	s.Turns = append(slices.DeleteFunc(slices.Clone(a.Turns), func(t Turn) bool { return have[t.ID] }), s.Turns...)
	s.TurnsNextCursor = a.TurnsNextCursor
	return s
}

func reducePending(s ChatState, a Action) ChatState {
	switch a := a.(type) {
	case ChatPendingMessageSet:
		m := PendingMessage{ID: a.ID, Message: a.Message}
		if a.Kind == PendingSteering {
			s.SteeringMessage = &m
		} else {
			s.QueuedMessages = upsert(s.QueuedMessages, m, func(q PendingMessage) bool { return q.ID == a.ID })
		}
	case ChatPendingMessageRemoved:
		switch {
		case a.Kind != PendingSteering:
			s.QueuedMessages = without(s.QueuedMessages, func(q PendingMessage) bool { return q.ID == a.ID })
		case s.SteeringMessage != nil && s.SteeringMessage.ID == a.ID:
			s.SteeringMessage = nil
		}
	case ChatQueuedMessagesReordered:
		s.QueuedMessages = reorder(s.QueuedMessages, a.Order)
	}
	return s
}

// reorder returns the queue with the named messages first, in the given order.
func reorder(queue []PendingMessage, order []string) []PendingMessage {
	at := func(m PendingMessage) int {
		if i := slices.Index(order, m.ID); i >= 0 {
			return i
		}
		return len(order)
	}
	sorted := slices.Clone(queue)
	slices.SortStableFunc(sorted, func(a, b PendingMessage) int { return at(a) - at(b) })
	return sorted
}

func reduceInput(s ChatState, a Action, now Instant) ChatState {
	switch a := a.(type) {
	case ChatInputRequested:
		if s.ActiveTurn == nil && now == "" {
			break // Only 0.5 has requests outside of a turn.
		}
		s = s.request(a.Request)
		s.Status = s.currentStatus().WithFlag(FlagRead, false)
		s.modified(now)
	case ChatInputAnswerChanged:
		s = s.withRequest(a.RequestID, now, func(r *InputRequest) (done string) {
			r.Answers = changed(r.Answers, map[string]json.RawMessage{a.QuestionID: a.Answer}, false)
			if isAbsent(a.Answer) {
				delete(r.Answers, a.QuestionID)
			}
			if len(r.Answers) == 0 {
				r.Answers = nil
			}
			return ""
		})
	case ChatInputCompleted:
		s = s.withRequest(a.RequestID, now, func(r *InputRequest) (done string) {
			if len(a.Answers) > 0 {
				r.Answers = changed(r.Answers, a.Answers, false)
			}
			return a.Response
		})
	}
	return s
}

// request adds an input request, or replaces the one with its id, keeping the answers unless r has
// some. Without an active turn it is a request of 0.5.
func (s ChatState) request(r InputRequest) ChatState {
	keep := func(had InputRequest) InputRequest {
		if r.Answers == nil {
			r.Answers = had.Answers
		}
		return r
	}
	if s.ActiveTurn == nil {
		if i := slices.IndexFunc(s.InputRequests, func(q InputRequest) bool { return q.ID == r.ID }); i >= 0 {
			r = keep(s.InputRequests[i])
		}
		s.InputRequests = upsert(s.InputRequests, r, func(q InputRequest) bool { return q.ID == r.ID })
		return s
	}
	return s.inTurn(s.ActiveTurn.ID, func(t *Turn) {
		part := ResponsePart{Kind: PartInputRequest, Request: &r}
		if i := t.openRequest(r.ID); i >= 0 {
			r = keep(*t.ResponseParts[i].Request)
			t.ResponseParts = slices.Clone(t.ResponseParts)
			t.ResponseParts[i] = part
			return
		}
		t.ResponseParts = append(slices.Clip(t.ResponseParts), part)
	})
}

// openRequest returns the index of the part with the unanswered request id, or -1.
func (t *Turn) openRequest(id string) int {
	return slices.IndexFunc(t.ResponseParts, func(p ResponsePart) bool {
		return p.Kind == PartInputRequest && p.Response == "" && p.Request != nil && p.Request.ID == id
	})
}

// OpenRequest returns the active turn's unanswered input request with the id, or nil.
func (s ChatState) OpenRequest(id string) *InputRequest {
	if s.ActiveTurn != nil {
		if i := s.ActiveTurn.openRequest(id); i >= 0 {
			return s.ActiveTurn.ResponseParts[i].Request
		}
	}
	return nil
}

// withRequest calls change with a copy of an open request. change returns the response that closes
// the request, or "".
func (s ChatState) withRequest(id string, now Instant, change func(r *InputRequest) string) ChatState {
	if i := slices.IndexFunc(s.InputRequests, func(q InputRequest) bool { return q.ID == id }); i >= 0 {
		s.InputRequests = slices.Clone(s.InputRequests)
		if change(&s.InputRequests[i]) != "" {
			s.InputRequests = slices.Delete(s.InputRequests, i, i+1)
		}
	} else if s.OpenRequest(id) != nil {
		s = s.inTurn(s.ActiveTurn.ID, func(t *Turn) {
			i := t.openRequest(id)
			t.ResponseParts = slices.Clone(t.ResponseParts)
			p := &t.ResponseParts[i]
			r := *p.Request
			p.Response = change(&r)
			p.Request = &r
		})
	} else {
		return s
	}
	s.Status = s.currentStatus()
	s.modified(now)
	return s
}

// upsert returns a copy of list in which v replaces the first element that matches, or is appended.
func upsert[T any](list []T, v T, match func(T) bool) []T {
	i := slices.IndexFunc(list, match)
	if i < 0 {
		return append(slices.Clip(list), v)
	}
	list = slices.Clone(list)
	list[i] = v
	return list
}

// without returns list without the elements that match, or nil if none is left.
func without[T any](list []T, match func(T) bool) []T {
	if !slices.ContainsFunc(list, match) {
		return list
	}
	rest := slices.DeleteFunc(slices.Clone(list), match)
	if len(rest) == 0 {
		return nil
	}
	return rest
}
