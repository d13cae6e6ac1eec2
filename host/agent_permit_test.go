package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/ahp"
)

// dangerous is the question of the seat belt that waits in the chat.
func (c *conversation) dangerous() *ahp.ToolCall {
	var asked *ahp.ToolCall
	c.until("the question about a command", func() bool {
		if c.state.ActiveTurn == nil {
			return false
		}
		for _, p := range c.state.ActiveTurn.ResponseParts {
			if p.ToolCall != nil && p.ToolCall.Status == ahp.ToolPending && strings.HasPrefix(p.ToolCall.ToolCallID, "may-") {
				asked = p.ToolCall
			}
		}
		return asked != nil
	})
	return asked
}

// A dangerous command that nobody was asked about is put before people in the chat, whole;
// their yes counts, once, and their no is told.
func TestDangerousCommandIsAsked(t *testing.T) {
	t.Parallel()
	c := talkTo(t, "prompt\n"+creates("rm $WORK/file; echo gone")+`call w terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
show w
`+strings.ReplaceAll(creates("rm $WORK/file; echo gone"), "call t", "call u")+"show u\n"+
		strings.ReplaceAll(creates("chmod +x $WORK/other && test -n \"$(ls $WORK)\""), "call t", "call v")+`call x terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$v.terminalId"}
show x
`)
	for _, name := range []string{"file", "other"} {
		if err := os.WriteFile(filepath.Join(c.work, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.prompt("go")
	call := c.dangerous()
	if in, _ := ahp.InputText(call.ToolInput); !strings.Contains(in, "rm "+c.work+"/file; echo gone") || !strings.Contains(call.DisplayName, "rm") {
		t.Errorf("asked: %q with %q", call.DisplayName, in)
	}
	c.do(c.chat, ahp.ChatToolCallConfirmed{TurnID: c.turn, ToolCallID: call.ToolCallID, Approved: true, SelectedOptionID: "allow"})
	first := call.ToolCallID
	c.until("the next question", func() bool { return c.dangerous().ToolCallID != first })
	if _, err := os.Stat(filepath.Join(c.work, "file")); err == nil {
		t.Error("what was allowed has not run")
	}
	c.do(c.chat, ahp.ChatToolCallConfirmed{TurnID: c.turn, ToolCallID: c.dangerous().ToolCallID, SelectedOptionID: "reject"})
	text := said(c.ended())
	for _, want := range []string{`{"exitCode":0,"signal":null}`, "Blocked dangerous command: rm (the person refused it"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if n := strings.Count(text, `"exitCode":0`); n != 2 {
		t.Errorf("of what needs no question %d ran: %s", n-1, text)
	}
}

// What a person allowed as a tool call is neither refused nor asked about again.
func TestWhatWasAllowedRuns(t *testing.T) {
	t.Parallel()
	c := talkTo(t, `prompt
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c1","title":"rm","kind":"execute","rawInput":{"command":"rm $WORK/file"}},"options":[{"optionId":"ok","name":"Once","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}
`+creates("rm $WORK/file")+`call w terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
show w
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}
`)
	if err := os.WriteFile(filepath.Join(c.work, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.prompt("go")
	c.question("c1")
	c.do(c.chat, ahp.ChatToolCallConfirmed{TurnID: c.turn, ToolCallID: "c1", Approved: true, SelectedOptionID: "ok"})
	if text := said(c.ended()); !strings.Contains(text, `{"exitCode":0,"signal":null}`) {
		t.Errorf("the agent was told %s", text)
	}
}
