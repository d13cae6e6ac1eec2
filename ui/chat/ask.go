package chat

import (
	"encoding/json"
	"reflect"
	"time"

	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/ui/words"
)

type asking struct {
	id    string    // of the tool call that asks, "" if none does
	since time.Time // when it was first drawn
	sent  string    // the question that was answered here, as questionOf returns it
	input *string   // the edited input of the tool; nil if it was not edited
	read  *approval.Reading
}

// armTime is how long a question must have shown before keys answer it: the person may be in the
// middle of a word.
const armTime = 500 * time.Millisecond

// Confirmation returns the action that answers a tool call's question with an option. input, if
// not nil, replaces the tool's input.
func Confirmation(turn string, t *ahp.ToolCall, o ahp.ToolOption, input *string) ahp.Action {
	yes := o.Kind == ahp.OptionApprove
	if t.Status == ahp.ToolPendingResult {
		return ahp.ChatToolCallResultConfirmed{TurnID: turn, ToolCallID: t.ToolCallID, Approved: yes}
	}
	a := ahp.ChatToolCallConfirmed{TurnID: turn, ToolCallID: t.ToolCallID, SelectedOptionID: o.ID}
	if yes {
		a.Approved, a.Confirmed, a.EditedToolInput = true, ahp.ConfirmedUserAction, input
	} else {
		a.Reason = ahp.ReasonDenied
	}
	return a
}

// consider updates the question and the form that show.
func (c *Chat) consider() {
	t, q := c.Waiting(), c.request()
	switch {
	case t == nil:
		c.ask = asking{} // the same call may ask again
	case c.questionOf(t) == c.ask.sent:
		t = nil // it was answered here, which the host has not confirmed
		c.ask = asking{sent: c.ask.sent}
	case t.ToolCallID != c.ask.id:
		c.ask = asking{id: t.ToolCallID, sent: c.ask.sent}
		c.reread(t)
	default:
		c.reread(t)
	}
	switch {
	case q == nil || t != nil:
		c.form = form{}
	case q.ID != c.form.id:
		c.form = newForm(*q)
	default:
		c.form.learn(*q)
	}
	panel := c.ask.id != "" || c.form.id != ""
	switch {
	case panel && c.where == inPrompt && c.edit.Empty():
		c.where = inPanel
	case !panel && c.where == inPanel:
		c.where = inPrompt
	}
}

// questionOf identifies a question. A call may ask before it runs and again about its result, and
// an agent may reuse a call's id in another turn.
func (c *Chat) questionOf(t *ahp.ToolCall) string {
	turn := ""
	if c.state.ActiveTurn != nil {
		turn = c.state.ActiveTurn.ID
	}
	return turn + " " + t.ToolCallID + " " + string(t.Status)
}

// reread starts to show the question from its beginning if it has changed.
func (c *Chat) reread(t *ahp.ToolCall) {
	v := approval.Of(t, c.ask.input)
	if c.ask.read == nil || !reflect.DeepEqual(v, c.ask.read.View) {
		c.ask.read, c.ask.since = approval.NewReading(v), time.Time{}
	}
}

// asked returns the tool call whose question shows, nil for none.
func (c *Chat) asked() *ahp.ToolCall {
	if c.ask.id == "" || c.state.ActiveTurn == nil {
		return nil
	}
	return c.state.ToolCall(c.state.ActiveTurn.ID, c.ask.id)
}

// armed reports whether keys answer the question or form.
func (c *Chat) armed() bool {
	since := c.ask.since
	if c.form.id != "" {
		since = c.form.since
	}
	return c.where == inPanel && !since.IsZero() && c.now.Sub(since) >= armTime
}

func (c *Chat) answer(o approval.Option) {
	t := c.asked()
	if t == nil {
		return
	}
	if why := c.ask.read.Can(o); why != "" {
		c.do.Say(false, why)
		return
	}
	if !c.do.Dispatch(Confirmation(c.state.ActiveTurn.ID, t, o.ToolOption, c.ask.input)) {
		c.do.Say(true, "not answered: the host does not answer")
		return
	}
	c.Sent(t.ToolCallID)
}

// answered reports that another client has answered the question.
func (c *Chat) answered(a ahp.ChatToolCallConfirmed) {
	if a.ToolCallID != c.ask.id { // also if it was answered here
		return
	}
	t := c.asked()
	if t == nil || t.Status != ahp.ToolPending {
		return
	}
	how := "rejected"
	if a.Approved {
		how = "approved"
	}
	for _, o := range t.Options {
		if o.ID == a.SelectedOptionID && a.SelectedOptionID != "" {
			how = "answered with \"" + words.Line(o.Label) + "\""
		}
	}
	c.do.Say(false, how+" by another client")
}

// Sent notes that this client has answered a tool call's question, here or in a list. "" means
// that the answer was refused.
func (c *Chat) Sent(toolCall string) {
	c.ask.sent, c.dirty = "", true
	if t := c.asked(); t != nil && t.ToolCallID == toolCall {
		c.ask.sent = c.questionOf(t)
	}
	c.consider()
}

// editInput has the tool's input edited before the call is allowed.
func (c *Chat) editInput() {
	t := c.asked()
	if t == nil || t.Editable == nil || !*t.Editable {
		c.do.Say(false, "what this tool is called with can't be edited")
		return
	}
	text, ok := ahp.InputText(t.ToolInput)
	if !ok {
		return
	}
	if c.ask.input != nil {
		text = *c.ask.input
	}
	// If the input is an object, the call's _meta may name the one member to edit.
	var m struct {
		Member string `json:"tandemux/editable"`
	}
	json.Unmarshal(t.Meta, &m) //nolint:errcheck // then the input is edited as it is
	var members map[string]json.RawMessage
	if m.Member != "" && (json.Unmarshal([]byte(text), &members) != nil || json.Unmarshal(members[m.Member], &text) != nil) {
		m.Member = ""
	}
	id := t.ToolCallID
	c.do.Edit(text, func(edited string) {
		if c.ask.id != id {
			return
		}
		if m.Member != "" {
			members[m.Member], _ = json.Marshal(edited)
			whole, _ := json.Marshal(members) // parsed JSON can be encoded
			edited = string(whole)
		}
		c.ask.input, c.dirty, c.where = &edited, true, inPanel
		if t := c.asked(); t != nil {
			since := c.ask.since
			c.reread(t)
			c.ask.since = since // the change is the person's own
		}
	})
}
