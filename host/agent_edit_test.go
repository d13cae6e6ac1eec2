package host_test

import (
	"strings"
	"testing"

	"tandemux/ahp"
)

const asksToRun = `update {"sessionUpdate":"tool_call","toolCallId":"%ID","title":"run it","kind":"execute","name":"shell","status":"pending","rawInput":{"command":"echo asked","why":"x"}}
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"%ID"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}
`

func asksFor(id string) string { return strings.ReplaceAll(asksToRun, "%ID", id) }

func (c *conversation) question(id string) *ahp.ToolCall {
	c.t.Helper()
	c.until("the question "+id, func() bool {
		call := c.state.ToolCall(c.turn, id)
		return call != nil && call.Status == ahp.ToolPending
	})
	return c.state.ToolCall(c.turn, id)
}

// Edit before approve: a command that comes to terminal/create is replaced by the
// one that the person made of it, the agent reads so, and all see it. It is
// offered once the agent's tool is known to work that way, and for no other.
func TestEditBeforeApprove(t *testing.T) {
	c := talkTo(t, "prompt\n"+asksFor("c1")+creates("echo asked")+waits+outputs+releases+`update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}
`+asksFor("c2")+creates("echo asked")+waits+outputs+releases+`update {"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"completed"}
`+asksFor("c3")+`update {"sessionUpdate":"tool_call_update","toolCallId":"c3","status":"completed"}
`)
	c.prompt("go")
	if q := c.question("c1"); q.Editable != nil {
		t.Error("a tool can be edited of which nothing is known")
	}
	c.do(c.chat, ahp.ChatToolCallConfirmed{TurnID: c.turn, ToolCallID: "c1", Approved: true})
	q := c.question("c2")
	if q.Editable == nil || !*q.Editable || !strings.Contains(string(q.Meta), `"tandemux/editable":"command"`) {
		t.Fatalf("the call can't be edited: %s", q.Meta)
	}
	changed := `{"command":"echo changed","why":"x"}`
	c.do(c.chat, ahp.ChatToolCallConfirmed{TurnID: c.turn, ToolCallID: "c2", Approved: true, EditedToolInput: &changed})
	// An agent that does not run it by us: the person is told.
	c.question("c3")
	c.do(c.chat, ahp.ChatToolCallConfirmed{TurnID: c.turn, ToolCallID: "c3", Approved: true, EditedToolInput: &changed})
	turn := c.ended()
	text := said(turn)
	if strings.Count(text, `"output":"asked\n"`) != 1 || !strings.Contains(text, `[A person changed this command before it ran. What ran is: echo changed]\nchanged\n`) {
		t.Errorf("the agent got %s", text)
	}
	note := ""
	for _, p := range turn.ResponseParts {
		if p.ToolCall != nil && p.ToolCall.ToolCallID == "c2" {
			if in, _ := ahp.InputText(p.ToolCall.ToolInput); in != changed {
				t.Errorf("the clients see %s", in)
			}
		}
		if p.Kind == ahp.PartSystemNotification {
			note += p.Note.Text
		}
	}
	if !strings.Contains(note, "without the command that you had changed") {
		t.Errorf("the notes are %q", note)
	}
}
