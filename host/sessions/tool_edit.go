package sessions

import (
	"encoding/json"
	"fmt"
	"reflect"

	"tandemux/ahp"
	"tandemux/host/agent/words"
)

// Edit before approve: AHP has the whole input of a tool call edited as one text.
// What agents run is theirs, so only what the provider says it can replace may
// differ: one member, a text.

// refusesEdit says why a tool call can't run with an input.
func (c *Chat) refusesEdit(t ahp.ToolCall, edited string) string {
	name := ""
	if c.now != nil && c.now.calls[t.ToolCallID] != nil {
		name = c.now.calls[t.ToolCallID].editable
	}
	was, isText := ahp.InputText(t.ToolInput)
	if name == "" || !isText {
		return "the input of this tool call can't be edited"
	}
	if _, ok := words.Member(edited, name); !ok || len(edited) > words.MaxText {
		return fmt.Sprintf("the edited input: want the same object with another text as its %q", name)
	}
	var before, after map[string]any
	if json.Unmarshal([]byte(was), &before) != nil || json.Unmarshal([]byte(edited), &after) != nil {
		return "the edited input is no object"
	}
	delete(before, name)
	delete(after, name)
	if !reflect.DeepEqual(before, after) {
		return fmt.Sprintf("the edited input: of this tool call only %q can be edited", name)
	}
	return ""
}
