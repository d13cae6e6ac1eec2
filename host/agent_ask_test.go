package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tandemux/ahp"
)

// Questions of an agent's (elicitation/create) are asked of the clients; the answers
// go back in the agent's words, drafts and defaults with them. A question is given up
// when its turn is cancelled (AHP, Chat Channel).
func TestAgentAsksAPerson(t *testing.T) {
	c := talkTo(t, `prompt
call e elicitation/create {"sessionId":"$SESSION","mode":"form","message":"Which?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Name","description":"Your name"},"n":{"type":"integer","default":3},"yes":{"type":"boolean"},"one":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]},"many":{"type":"array","items":{"type":"string","enum":["x","y"]}}},"required":["name"]}}
show e
call u elicitation/create {"sessionId":"$SESSION","mode":"url","message":"Sign in","url":"https://example.org/x","elicitationId":"1"}
show u
call w elicitation/create {"sessionId":"$SESSION","mode":"telepathy","message":"?"}
show w
go z elicitation/create {"sessionId":"$SESSION","mode":"form","message":"Still there?","requestedSchema":{"type":"object","properties":{}}}
await cancel
join z
`)
	c.prompt("go")
	request := func(text string) *ahp.InputRequest {
		var found *ahp.InputRequest
		c.until("the question "+text, func() bool {
			if c.state.ActiveTurn == nil {
				return false
			}
			for _, p := range c.state.ActiveTurn.ResponseParts {
				if p.Kind == ahp.PartInputRequest && p.Request.Message.Text == text {
					found = p.Request
				}
			}
			return found != nil
		})
		return found
	}
	q := request("Which?")
	var kinds []string
	for _, k := range q.Questions {
		kinds = append(kinds, k.ID+" "+k.Kind)
	}
	if got := strings.Join(kinds, ", "); got != "name text, n integer, yes boolean, one single-select, many multi-select" || !q.Questions[0].Required || q.Questions[0].Message != "Your name" || q.Questions[3].Options[1].Label != "B" || q.Answers["n"] == nil {
		t.Errorf("asked: %s, %+v", got, q)
	}
	answer := func(kind, value string) json.RawMessage {
		return json.RawMessage(`{"state":"submitted","value":{"kind":"` + kind + `","value":` + value + `}}`)
	}
	c.do(c.chat, ahp.ChatInputAnswerChanged{RequestID: q.ID, QuestionID: "one", Answer: answer("selected", `"b"`)})
	c.do(c.chat, ahp.ChatInputCompleted{RequestID: q.ID, Response: ahp.InputAccept, Answers: map[string]json.RawMessage{
		"name": answer("text", `"Ada"`), "yes": answer("boolean", "true"), "many": answer("selected-many", `["x"]`),
	}})
	u := request("Sign in")
	if u.URL != "https://example.org/x" || len(u.Questions) != 0 {
		t.Errorf("asked: %+v", u)
	}
	c.do(c.chat, ahp.ChatInputCompleted{RequestID: u.ID, Response: ahp.InputDecline})
	request("Still there?")
	text := said(*c.state.ActiveTurn)
	c.do(c.chat, ahp.ChatTurnCancelled{TurnID: c.turn})
	c.ended()
	for _, want := range []string{
		`{"action":"accept","content":{"many":["x"],"n":3,"name":"Ada","one":"b","yes":true}}`, `{"action":"decline"}`, `telepathy`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if c.state.Status.NeedsInput() {
		t.Error("the chat still waits")
	}
}
