package host_test

import (
	"strings"
	"testing"

	"tandemux/ahp"
)

func (c *conversation) steer(text string) {
	c.t.Helper()
	c.do(c.chat, ahp.ChatPendingMessageSet{Kind: ahp.PendingSteering, ID: "s-" + text, Message: ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}})
}

// A message for a turn that runs goes into it where the agent says that it takes
// one: both prompts are one turn, which says what was said, and is cancelled as one.
func TestSteeringAnAgent(t *testing.T) {
	c := talkTo(t, `caps {"_meta":{"claudeCode":{"promptQueueing":true}}}
prompt
say working
await prompt
say handed over
prompt
say $PROMPT
prompt
say again
await prompt
prompt
say deaf to it
await cancel
`)
	c.prompt("go")
	c.saying("working")
	c.steer("faster")
	turn := c.ended()
	text, notes := said(turn), ""
	for _, p := range turn.ResponseParts {
		if p.Kind == ahp.PartSystemNotification {
			notes += p.Note.Text
		}
	}
	if turn.State != ahp.TurnComplete || !strings.Contains(text, "text:faster") || !strings.Contains(text, "handed over") || notes != "Said meanwhile: faster" || c.state.SteeringMessage != nil {
		t.Errorf("the turn is %s, the agent said %q, noted is %q", turn.State, text, notes)
	}
	c.prompt("once more")
	c.saying("again")
	c.steer("stop that")
	c.saying("deaf to it")
	c.do(c.chat, ahp.ChatTurnCancelled{TurnID: c.turn})
	if turn := c.ended(); turn.State != ahp.TurnCancelled {
		t.Errorf("the turn is %s", turn.State)
	}
}

// One that takes none gets it as its next turn, before the queue, and at once when
// the turn is cancelled.
func TestSteeringByCancelling(t *testing.T) {
	c := talkTo(t, `prompt
say working
await cancel
prompt
say $PROMPT
`)
	c.prompt("go")
	c.saying("working")
	c.steer("other")
	c.do(c.chat, ahp.ChatTurnCancelled{TurnID: c.turn})
	c.until("the next turn", func() bool { return len(c.state.Turns) == 2 })
	if next := c.state.Turns[1]; next.Message.Text != "other" || said(next) != "text:other" || c.state.Turns[0].State != ahp.TurnCancelled {
		t.Errorf("next came %q, and the agent said %q", next.Message.Text, said(next))
	}
}
