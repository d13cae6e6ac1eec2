package chat

import (
	"tandemux/ahp"
	"tandemux/ui/words"
)

// copyAnswer copies the agent's texts in the focused turn, or else in the last one.
func (c *Chat) copyAnswer() {
	at := c.Chosen()
	if at < 0 {
		c.do.Say(false, "there is nothing to copy yet")
	} else if text := c.View.Answer(at); text == "" {
		c.do.Say(false, "there is no answer to copy")
	} else {
		c.do.Copy(text, "the answer")
	}
}

// copyHere copies the selection, or the focused piece; from the prompt it copies the last answer.
func (c *Chat) copyHere() {
	if text := c.Selected(); text != "" {
		c.do.Copy(text, "the selection")
		return
	}
	if c.where == inReading && c.Focused() {
		if text, what := c.Copied(); text != "" {
			c.do.Copy(text, what)
		}
		return
	}
	c.copyAnswer()
}

// copyCode copies the last code block.
func (c *Chat) copyCode() {
	if text := c.Code(); text != "" {
		c.do.Copy(text, "the code")
		return
	}
	c.do.Say(false, "there is no code here")
}

// openTerminal shows the terminal of the focused tool call, or else of the last one.
func (c *Chat) openTerminal() {
	if uri := c.Terminal(); uri != "" {
		c.do.Open(uri)
		return
	}
	c.do.Say(false, "no tool call here has a terminal")
}

// fork forks the chat after the focused turn.
func (c *Chat) fork() {
	at := c.Chosen()
	switch {
	case !c.session.Fork:
		c.do.Say(false, "this agent can't begin a chat from another one")
	case at < 0 || at >= len(c.state.Turns):
		c.do.Say(false, "there is no finished turn to fork from")
	default:
		c.do.Fork(c.state.Turns[at].ID)
	}
}

// rewind removes the focused turn and all later ones, and puts its message into the prompt.
func (c *Chat) rewind() {
	at := c.Chosen()
	if at < 0 {
		c.do.Say(false, "there is no turn to go back to")
		return
	}
	if c.state.ActiveTurn != nil {
		c.do.Say(false, "a turn runs: cancel it first")
		return
	}
	a := ahp.ChatTruncated{}
	if at > 0 {
		a.TurnID = c.state.Turns[at-1].ID
	} else if c.state.TurnsNextCursor != "" {
		c.do.Say(false, "load older messages first")
		return
	}
	m := c.state.Turns[at].Message
	if !c.do.Dispatch(a) {
		return
	}
	c.edit.Set(m.Text)
	c.attach = append(c.attach, m.Attachments...)
	c.where = inPrompt
	c.edited()
	c.Bottom()
}

// retry continues a turn that failed or was cancelled: it resumes the turn if the host can, else
// sends its message again.
func (c *Chat) retry() {
	n := len(c.state.Turns)
	if n == 0 || c.state.ActiveTurn != nil || c.state.Turns[n-1].State == ahp.TurnComplete {
		c.do.Say(false, "the last turn did not fail")
		return
	}
	t := c.state.Turns[n-1]
	if c.state.Resumable(t.ID) {
		c.do.Dispatch(ahp.ChatTurnResume{TurnID: t.ID})
		return
	}
	m := t.Message
	m.Origin = ahp.MessageOrigin{Kind: ahp.OriginUser}
	if c.do.Dispatch(ahp.ChatTurnStarted{TurnID: c.do.NewID("turn"), Message: m}) {
		c.Bottom()
	}
}

// login lets the person choose a way to log in that the last error names.
func (c *Chat) login() {
	ways := c.Ways()
	if len(ways) == 0 {
		c.do.Say(false, "the agent asks for no login")
		return
	}
	if len(ways) == 1 {
		c.do.Login(ways[0])
		return
	}
	var rows []string
	for _, w := range ways {
		rows = append(rows, words.Line(w.Name))
	}
	c.do.Choose("Log in", rows, 0, func(i int) { c.do.Login(ways[i]) })
}
