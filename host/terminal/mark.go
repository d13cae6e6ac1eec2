package terminal

import (
	"tandemux/host/shell"
)

// Declined tells the holder that Enter was typed and a prompt shows again, but
// no command began. It is not for the wire.
type Declined struct{}

// ActionType implements ahp.Action.
func (Declined) ActionType() string { return "host/declined" }

// Ready tells the holder that the shell waits for a command, after Submit had
// to refuse because it did not. It is not for the wire.
type Ready struct{}

// ActionType implements ahp.Action.
func (Ready) ActionType() string { return "host/ready" }

// marked deals with the body of one mark at this place.
func (t *Terminal) marked(body []byte) {
	m, ours := shell.Parse(body, t.cfg.Nonce)
	if !ours {
		return
	}
	t.learnt.Store(true)
	c := &t.cmds
	if t.cfg.Command != "" && m.Kind != shell.Directory && m.Kind != shell.Remote {
		return // All of it is one command.
	}
	again := !c.tellsInput
	for _, e := range c.tracker.Mark(m) {
		t.event(e)
		again = again || e.Kind == shell.PromptStart
	}
	// Of prompts that have no end the tracker tells the first only.
	if m.Kind == shell.Prompt && !c.tracker.Running && (m.Trusted || t.cfg.Nonce == "") {
		if again && t.entered.set(false) {
			t.push(Declined{})
		}
		c.prompt.shows = true
		t.line.set(false)
	}
	if c.wanted && c.ready() {
		c.wanted = false
		t.push(Ready{})
	}
}
