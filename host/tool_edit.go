package host

import (
	"encoding/json"
	"reflect"

	"tandemux/ahp"
	"tandemux/host/agent"
)

// Edit before approve: AHP has the whole input of a tool call edited as one text.
// What agents run is theirs, so only what the provider says it can replace may
// differ: one member, a text.

// editable is the member of a call's input that may be edited, if the clients are
// told the input.
func editable(q agent.Confirmation, told json.RawMessage) string {
	text, ok := ahp.InputText(told)
	if !ok || q.Editable == "" {
		return ""
	}
	if _, ok := member(text, q.Editable); !ok {
		return ""
	}
	return q.Editable
}

// member is a member of an object that is a text, and not an empty one.
func member(object, name string) (string, bool) {
	var all map[string]json.RawMessage
	var text string
	ok := json.Unmarshal([]byte(object), &all) == nil && json.Unmarshal(all[name], &text) == nil && text != ""
	return text, ok
}

// refusesEdit says why a tool call can't run with an input.
func (c *chat) refusesEdit(t ahp.ToolCall, edited string) string {
	name := ""
	if c.now != nil && c.now.calls[t.ToolCallID] != nil {
		name = c.now.calls[t.ToolCallID].editable
	}
	was, isText := ahp.InputText(t.ToolInput)
	if name == "" || !isText {
		return "the input of this tool call can't be edited"
	}
	if _, ok := member(edited, name); !ok || len(edited) > maxToolText {
		return because("the edited input: want the same object with another text as its %q", name)
	}
	var before, after map[string]any
	if json.Unmarshal([]byte(was), &before) != nil || json.Unmarshal([]byte(edited), &after) != nil {
		return "the edited input is no object"
	}
	delete(before, name)
	delete(after, name)
	if !reflect.DeepEqual(before, after) {
		return because("the edited input: of this tool call only %q can be edited", name)
	}
	return ""
}

// withMember is an object with one member more.
func withMember(object json.RawMessage, name string, value any) json.RawMessage {
	all := map[string]any{}
	if len(object) > 0 && json.Unmarshal(object, &all) != nil {
		return object
	}
	all[name] = value
	b, err := json.Marshal(all)
	if err != nil {
		return object
	}
	return b
}
