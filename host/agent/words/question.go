package words

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/host/agent"
)

// Evidence adds to a question what else the call says of itself: the changes of files
// as such, texts as "tandemux/text", and "tandemux/partial" where something was too large to
// be sent, so that nobody allows what they can't see.
func Evidence(a *ahp.ChatToolCallReady, t agent.ToolCall) {
	partial := t.Partial || len(t.Title) > MaxError || len(t.Content) > MaxContents || len(t.Input) > MaxText
	var edits []map[string]json.RawMessage
	var texts []string
	for i, c := range Contents(t.Content) {
		switch c.Type {
		case ahp.ContentFileEdit:
			edit := map[string]json.RawMessage{"after": c.After}
			if c.Before != nil {
				edit["before"] = c.Before
			}
			edits = append(edits, edit)
		case ahp.ContentText:
			texts = append(texts, c.Text)
			partial = partial || t.Content[i].Terminal == nil && len(t.Content[i].Text) > MaxText
		}
	}
	if len(edits) > 0 {
		if b, err := json.Marshal(map[string]any{"items": edits}); err == nil {
			a.Edits = b
		}
	}
	if len(texts) > 0 {
		a.Meta = WithMember(a.Meta, "tandemux/text", strings.Join(texts, "\n"))
	}
	if partial {
		a.Meta = WithMember(a.Meta, "tandemux/partial", true)
	}
}

// Denies reports whether a choice is to say no.
func Denies(o agent.Choice) bool {
	return o.Group == agent.ConfirmRejectOnce || o.Group == agent.ConfirmRejectAlways
}

// Editable is the member of a call's input that may be edited, if the clients are
// told the input.
func Editable(q agent.Confirmation, told json.RawMessage) string {
	text, ok := ahp.InputText(told)
	if !ok || q.Editable == "" {
		return ""
	}
	if _, ok := Member(text, q.Editable); !ok {
		return ""
	}
	return q.Editable
}

// Member is a member of an object that is a text, and not an empty one.
func Member(object, name string) (string, bool) {
	var all map[string]json.RawMessage
	var text string
	ok := json.Unmarshal([]byte(object), &all) == nil && json.Unmarshal(all[name], &text) == nil && text != ""
	return text, ok
}

// WithMember is an object with one member more, or with nil as its value without it.
func WithMember(object json.RawMessage, name string, value any) json.RawMessage {
	all := map[string]any{}
	if len(object) > 0 && json.Unmarshal(object, &all) != nil {
		return object
	}
	if all[name] = value; value == nil {
		delete(all, name)
	}
	b, err := json.Marshal(all)
	if err != nil {
		return object
	}
	return b
}

// errDenied is Confirm's answer when a person says no and the agent has no option
// for that.
var errDenied = errors.New("the tool call was denied")

// Chosen is the agent's option for an answer.
func Chosen(options []agent.Choice, a ahp.ChatToolCallConfirmed) (string, error) {
	if a.SelectedOptionID != "" {
		return a.SelectedOptionID, nil
	}
	groups := []string{agent.ConfirmAllowOnce, agent.ConfirmAllowAlways}
	if !a.Approved {
		groups = []string{agent.ConfirmRejectOnce, agent.ConfirmRejectAlways}
	}
	id, ok := agent.OptionOf(options, groups...)
	if !ok {
		return "", errDenied
	}
	return id, nil
}

// Answered says who was faster.
func Answered(t ahp.ToolCall) string {
	switch {
	case t.Confirmed == ahp.ConfirmedUserAction && t.SelectedOption != nil:
		return fmt.Sprintf(": somebody has chosen %q already", t.SelectedOption.Label)
	case t.Confirmed == ahp.ConfirmedUserAction:
		return ": somebody has approved it already"
	case t.Reason == ahp.ReasonDenied:
		return ": somebody has denied it already"
	}
	return ""
}
