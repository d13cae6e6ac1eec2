package acp

import (
	"encoding/json"

	"tandemux/host/agent"
)

// The protocol has no way to tell an agent that a person has changed what it
// wants to run. But a command that comes to terminal/create is the host's to
// start, so there the changed one is started in its place, and the agent reads at
// the beginning of the output what was done. Which of an agent's tools do that is
// known of one, and learned of others when their first command comes.

// commandMember is the member of a tool's input that holds a command.
const commandMember = "command"

// terminalTools are the tools that are known to use terminal/create.
var terminalTools = map[string]bool{"mcp__acp__Bash": true}

// command is what a tool call is to run; "" when it does not say.
func command(input json.RawMessage) string {
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	return in.Command
}

// editable is agent.Confirmation's, of a call.
func (s *session) editable(c *call) string {
	if c.Kind != "execute" || command(c.Input) == "" || s.spec.Terminals == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !terminalTools[c.Name] && !s.through[c.Name] {
		return ""
	}
	return commandMember
}

// takeEdit is what to start in place of a command, and whether that is another
// one. It learns which tool the command is of.
func (s *session) takeEdit(t *turn, line string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.calls {
		if c.Status.Over() || c.Kind != "execute" || command(c.Input) != line {
			continue
		}
		s.mu.Lock()
		if s.through == nil {
			s.through = map[string]bool{}
		}
		if len(s.through) < maxTools {
			s.through[c.Name] = true
		}
		s.mu.Unlock()
		if to, ok := t.edits[c.ID]; ok {
			delete(t.edits, c.ID)
			return to, true
		}
	}
	return line, false
}

// maxTools bounds the names of tools that are remembered.
const maxTools = 100

// editedTerm is a terminal that runs a changed command.
type editedTerm struct {
	agent.Terminal
	note string
}

// Output begins with the note.
func (e editedTerm) Output() (string, bool, *agent.Exit) {
	text, truncated, exit := e.Terminal.Output()
	return e.note + text, truncated, exit
}
