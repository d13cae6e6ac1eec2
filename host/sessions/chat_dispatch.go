package sessions

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/commandline"
	"tandemux/host/agent/words"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// chatActions adds the actions that clients may dispatch to chats (AHP, Chat Channel). Others that AHP
// lets clients dispatch are refused with a reason.
func chatActions(all map[string]requests.Action) {
	add := adder(all, requests.Is[*Chat])
	add(ahp.ChatTurnStarted{}, beginTurn, "turnId", "message")
	add(ahp.ChatTurnCancelled{}, cancelTurn, "turnId")
	add(ahp.ChatTurnResume{}, resumeTurn, "turnId")
	add(ahp.ChatPendingMessageSet{}, setPending, "kind", "id", "message")
	add(ahp.ChatPendingMessageRemoved{}, removePending, "kind", "id")
	add(ahp.ChatQueuedMessagesReordered{}, reorderQueue, "order")
	add(ahp.ChatDraftChanged{}, changeDraft)
	add(ahp.ChatIsReadChanged{}, accept)
	add(ahp.ChatIsArchivedChanged{}, accept)
	add(ahp.ChatInputAnswerChanged{}, changeAnswer, "requestId", "questionId")
	add(ahp.ChatInputCompleted{}, completeInput, "requestId", "response")
	add(ahp.ChatTruncated{}, truncateChat)
	add(ahp.ChatToolCallConfirmed{}, confirmTool, "turnId", "toolCallId", "approved")
	add(ahp.ChatToolCallResultConfirmed{}, confirmResult, "turnId", "toolCallId", "approved")
	add(ahp.ChatToolCallComplete{}, completeTool, "turnId", "toolCallId", "result")
	add(ahp.ChatToolCallContentChanged{}, changeOwnTool, "turnId", "toolCallId", "content")
	add(ahp.ChatToolCallProgress{}, changeOwnTool, "turnId", "toolCallId", "elapsedMs")
	refuse(all, requests.Is[*Chat], "the directories of a chat are those that its session began with",
		ahp.ChatWorkingDirectorySet{}, ahp.ChatWorkingDirectoryRemoved{})
}

// accept applies an action that needs no check.
func accept(tx core.Tx, d *requests.Dispatch) string {
	d.Channel.Body.(*Chat).apply(tx, d.Action, d.By)
	return ""
}

// mayPrompt returns why no message can be sent to the chat, or "".
func (c *Chat) mayPrompt(m *ahp.Message) string {
	switch {
	case c.value.Interactivity != "" && c.value.Interactivity != ahp.InteractivityFull:
		return fmt.Sprintf("the chat is %s", c.value.Interactivity)
	case c.s.value.Lifecycle == ahp.LifecycleFailed:
		why := ""
		if e := c.s.value.CreationError; e != nil {
			why = ": " + e.Message
		}
		return "the session could not be created" + why
	case m != nil && m.Origin.Kind != ahp.OriginUser:
		return fmt.Sprintf("a client's message is a person's: its origin is %q, not %q", ahp.OriginUser, params.Clip(m.Origin.Kind))
	case m != nil && len(m.Attachments) > maxAttachments:
		return fmt.Sprintf("the message has more than %d attachments", maxAttachments)
	}
	return ""
}

// mayRun returns why a client may not run a message that is a command line, or "". If it may, that is
// audited.
func (c *Chat) mayRun(d *requests.Dispatch, m ahp.Message) string {
	line := commandline.Of(m)
	if line == "" {
		return ""
	}
	if s := c.all.Terminals.MayRun(d.By.Link.Principal, c.Session(), c.Owner()); s != "" {
		return "the message is a command line: " + s
	}
	c.all.Audit.Did(d.By.Link.Who(), "command", d.Channel.URI, "line", params.Clip(line))
	return ""
}

// beginTurn handles chat/turnStarted.
func beginTurn(tx core.Tx, d *requests.Dispatch) string {
	c, a := d.Channel.Body.(*Chat), d.Action.(ahp.ChatTurnStarted)
	if s := c.mayPrompt(&a.Message); s != "" {
		return s
	}
	known := func(t ahp.Turn) bool { return t.ID == a.TurnID }
	switch now := c.value.ActiveTurn; {
	case now != nil && known(*now) && c.now != nil && reflect.DeepEqual(c.now.sent, a.Message):
		a.StartedAt, a.Message = now.StartedAt, now.Message
		tx.Answer(d.Channel.URI, a, d.By, "")
		return ""
	case now != nil:
		return fmt.Sprintf("TurnInProgress: the turn %s has not ended: queue the message, or cancel the turn", params.Clip(now.ID))
	case a.TurnID == "" || len(a.TurnID) > params.MaxURI:
		return fmt.Sprintf("turnId: it must have 1 to %d bytes", params.MaxURI)
	case slices.ContainsFunc(c.value.Turns, known) || slices.ContainsFunc(c.facts.Older, known):
		return fmt.Sprintf("there was a turn %s already", params.Clip(a.TurnID))
	}
	if s := c.mayRun(d, a.Message); s != "" {
		return s
	}
	c.all.Audit.Did(d.By.Link.Who(), "prompt", d.Channel.URI, "turn", params.Clip(a.TurnID))
	c.startTurn(tx, a, d.By)
	return ""
}

// cancelTurn handles chat/turnCancelled. The turn ends at once for clients, and the agent is told.
func cancelTurn(tx core.Tx, d *requests.Dispatch) string {
	c, a := d.Channel.Body.(*Chat), d.Action.(ahp.ChatTurnCancelled)
	switch t := c.value.ActiveTurn; {
	case t == nil:
		return "no turn runs"
	case t.ID != a.TurnID:
		return fmt.Sprintf("the turn that runs is %s", params.Clip(t.ID))
	}
	c.all.Audit.Did(d.By.Link.Who(), "cancel", d.Channel.URI, "turn", params.Clip(a.TurnID))
	if r := c.now; r != nil && r.id == a.TurnID {
		a.Duration = r.took()
		r.end(tx, a, d.By)
		return ""
	}
	c.apply(tx, a, d.By)
	return ""
}

// setPending handles chat/pendingMessageSet.
func setPending(tx core.Tx, d *requests.Dispatch) string {
	c, a := d.Channel.Body.(*Chat), d.Action.(ahp.ChatPendingMessageSet)
	if s := c.mayPrompt(&a.Message); s != "" {
		return s
	}
	known := slices.ContainsFunc(c.value.QueuedMessages, func(m ahp.PendingMessage) bool { return m.ID == a.ID })
	switch {
	case a.ID == "" || len(a.ID) > params.MaxURI:
		return fmt.Sprintf("id: it must have 1 to %d bytes", params.MaxURI)
	case a.Kind != ahp.PendingSteering && a.Kind != ahp.PendingQueued:
		return fmt.Sprintf("kind: it is %q or %q", ahp.PendingSteering, ahp.PendingQueued)
	case a.Kind == ahp.PendingQueued && !known && len(c.value.QueuedMessages) >= maxQueued:
		return fmt.Sprintf("%d messages are queued already, the most there can be", maxQueued)
	}
	if s := c.mayRun(d, a.Message); s != "" {
		return s
	}
	c.apply(tx, a, d.By)
	if a.Kind == ahp.PendingQueued {
		if c.value.ActiveTurn == nil {
			c.drain(tx)
		}
		return ""
	}
	c.steer(tx)
	return ""
}

// steer sends the steering message to the agent in the running turn, if the agent accepts any.
// Otherwise the message waits for the end of the turn.
func (c *Chat) steer(tx core.Tx) {
	r, m := c.now, c.value.SteeringMessage
	if r == nil || r.over || !r.begun || m == nil || commandline.Of(m.Message) != "" {
		return
	}
	able, ok := c.agent.(agent.Steerer)
	if !ok || !able.Steers() {
		return
	}
	c.apply(tx, ahp.ChatPendingMessageRemoved{Kind: ahp.PendingSteering, ID: m.ID}, nil)
	said := c.all.Annotations.Attach(tx, c.Session(), m.Message)
	c.all.Annotations.Given(tx, c.Session(), said, r.id)
	r.note(tx, "Said meanwhile: "+m.Message.Text+words.With(said)) // so that the history has it
	c.all.work.Go(func() {
		err := able.Steer(r.ctx, c.words(m.ID, said))
		c.all.Core.Do(func(tx core.Tx) {
			if err != nil && !c.Dead(tx) && len(c.value.QueuedMessages) < maxQueued {
				c.apply(tx, ahp.ChatPendingMessageSet{Kind: ahp.PendingQueued, ID: m.ID, Message: said}, nil)
				c.drain(tx)
			}
		})
	})
}

// removePending handles chat/pendingMessageRemoved.
func removePending(tx core.Tx, d *requests.Dispatch) string {
	c, a := d.Channel.Body.(*Chat), d.Action.(ahp.ChatPendingMessageRemoved)
	known := a.Kind == ahp.PendingQueued && slices.ContainsFunc(c.value.QueuedMessages, func(m ahp.PendingMessage) bool { return m.ID == a.ID }) ||
		a.Kind == ahp.PendingSteering && c.value.SteeringMessage != nil && c.value.SteeringMessage.ID == a.ID
	if !known {
		return "no such message waits: it may have been sent already"
	}
	c.apply(tx, a, d.By)
	return ""
}

// reorderQueue handles chat/queuedMessagesReordered.
func reorderQueue(tx core.Tx, d *requests.Dispatch) string {
	if n := len(d.Action.(ahp.ChatQueuedMessagesReordered).Order); n > maxQueued {
		return fmt.Sprintf("order: it names %d messages, more than there can be", n)
	}
	return accept(tx, d)
}

// changeDraft handles chat/draftChanged.
func changeDraft(tx core.Tx, d *requests.Dispatch) string {
	a := d.Action.(ahp.ChatDraftChanged)
	if s := d.Channel.Body.(*Chat).mayPrompt(a.Draft); s != "" {
		return s
	}
	return accept(tx, d)
}

// truncateChat handles chat/truncated. An agent can't forget a part of its session, so the next turn
// begins a new one.
func truncateChat(tx core.Tx, d *requests.Dispatch) string {
	c, a := d.Channel.Body.(*Chat), d.Action.(ahp.ChatTruncated)
	if s := c.mayPrompt(nil); s != "" {
		return s
	}
	if a.TurnID != "" && !slices.ContainsFunc(c.value.Turns, func(t ahp.Turn) bool { return t.ID == a.TurnID }) {
		i := slices.IndexFunc(c.facts.Older, func(t ahp.Turn) bool { return t.ID == a.TurnID })
		if i < 0 {
			return fmt.Sprintf("there is no turn %s", params.Clip(a.TurnID))
		}
		c.load(tx, len(c.facts.Older))
	}
	if r := c.now; r != nil && !r.over {
		r.flush(tx)
		r.stop(tx, nil)
	}
	c.all.Audit.Did(d.By.Link.Who(), "truncate", d.Channel.URI, "turn", params.Clip(a.TurnID))
	if a.TurnID == "" {
		c.facts.Older = nil
	}
	c.forsake(tx)
	c.facts.Resume, c.dirty = "", true
	c.apply(tx, a, d.By)
	c.facts.Forgot = len(c.value.Turns) > 0
	return ""
}

// confirmResult handles chat/toolCallResultConfirmed.
func confirmResult(tx core.Tx, d *requests.Dispatch) string {
	a := d.Action.(ahp.ChatToolCallResultConfirmed)
	t := d.Channel.Body.(*Chat).value.ToolCall(a.TurnID, a.ToolCallID)
	switch {
	case t == nil:
		return "there is no such tool call in the turn that runs"
	case t.Status != ahp.ToolPendingResult:
		return fmt.Sprintf("the tool call's result does not wait for confirmation: it is %s", t.Status)
	}
	return accept(tx, d)
}

// changeAnswer handles chat/inputAnswerChanged.
func changeAnswer(tx core.Tx, d *requests.Dispatch) string {
	c, a := d.Channel.Body.(*Chat), d.Action.(ahp.ChatInputAnswerChanged)
	q := c.value.OpenRequest(a.RequestID)
	if q == nil {
		return "there is no such question, or it was answered already"
	}
	if s := words.CheckAnswers(*q, map[string]json.RawMessage{a.QuestionID: a.Answer}); s != "" {
		return s
	}
	return accept(tx, d)
}

// completeInput handles chat/inputCompleted. The first answer counts, as with tool calls.
func completeInput(tx core.Tx, d *requests.Dispatch) string {
	c, a := d.Channel.Body.(*Chat), d.Action.(ahp.ChatInputCompleted)
	q := c.value.OpenRequest(a.RequestID)
	if q == nil {
		return "there is no such question, or it was answered already"
	}
	if !slices.Contains([]string{ahp.InputAccept, ahp.InputDecline, ahp.InputCancel}, a.Response) {
		return fmt.Sprintf("response: it is %q, %q or %q", ahp.InputAccept, ahp.InputDecline, ahp.InputCancel)
	}
	if s := words.CheckAnswers(*q, a.Answers); s != "" {
		return s
	}
	if s := words.LacksAnswer(*q, a); s != "" {
		return s
	}
	c.apply(tx, a, d.By)
	if r := c.now; r != nil {
		r.completeAsk(tx, a, q.Answers)
	}
	return ""
}
