package acp

import (
	"cmp"
	"encoding/json"
	"slices"

	"tandemux/host/agent"
	"tandemux/host/shell"
)

// Panes is how an agent is told to run its commands by a tool of the host's
// (agent.Server.Commands) in place of a shell of its own, or is given a shell that has the
// host run them, so that each is a terminal.
type Panes struct {
	Args  []string        // after its command
	Env   []agent.Var     // under what is configured for it
	Meta  json.RawMessage // _meta of session/new
	Files []string        // directories of the host's that Args and Env name
	// Shell is the program that is its $SHELL; "": as is.
	Shell string
}

// panes is how the session's agent is told so: not at all where it gets no such tool.
func (s *session) panes() Panes {
	if s.p.c.Panes == nil || s.ownShell || s.p.c.Panes.Shell != "" && s.spec.Confine != nil || !slices.ContainsFunc(s.spec.Servers, func(m agent.Server) bool { return m.Commands != "" }) {
		return Panes{}
	}
	return *s.p.c.Panes
}

// environ is what is put over the environment that the agent is started with.
func (s *session) environ() []agent.Var {
	w := s.panes()
	if s.spec.Confine != nil {
		return slices.Concat(w.Env, s.p.c.Env)
	}
	if w.Shell != "" {
		w.Env = slices.Concat(w.Env, []agent.Var{{Name: "SHELL", Value: w.Shell}, {Name: agent.SessionEnv, Value: s.spec.Session}, {Name: agent.ChatEnv, Value: s.spec.Chat}})
	}
	return slices.Concat(w.Env, s.p.c.Env, s.spec.Env)
}

// host is what is known of a call of the host's tool for commands; nil: it is another's.
type host struct {
	tool    string
	command string
	input   json.RawMessage // {"command": …}, as those of agents' own shells
}

// hostArgs are the arguments of that tool, of agents' own shells, or what has them in it.
type hostArgs struct {
	Line       string          `json:"line"`
	Command    json.RawMessage `json:"command"`
	Cwd        string          `json:"cwd"`
	TerminalID string          `json:"terminalId"`
	Arguments  *hostArgs       `json:"arguments"`
}

// hostCommand has a call of the host's tool told as the command that it runs: agents have
// many names for such tools.
func (s *session) hostCommand(c *call) {
	for _, m := range s.spec.Servers {
		names := []string{
			"mcp__" + m.Name + "__" + m.Commands, "mcp_" + m.Name + "_" + m.Commands, m.Name + "_" + m.Commands,
			m.Commands + " (" + m.Name + " MCP Server)", "Tool: " + m.Name + "/" + m.Commands,
		}
		if c.host == nil && m.Commands != "" && (slices.Contains(names, c.Name) || slices.Contains(names, c.Title)) {
			c.host = &host{tool: m.Commands}
		}
	}
	if c.host == nil {
		return
	}
	c.host.read(c.Input)
	for _, i := range c.items { // Some ask with the arguments as a text.
		if i.Content != nil && c.host.input == nil {
			c.host.read(json.RawMessage(i.Content.Text))
		}
	}
	if c.host.input != nil && !c.Status.Over() {
		c.items = nil // Nothing but the same in other words.
	}
	c.Name, c.Kind, c.Title, c.Input = c.host.tool, "execute", clip(cmp.Or(c.host.command, c.host.tool), maxTitle), c.host.input
}

// read takes the arguments, if they are there.
func (h *host) read(raw json.RawMessage) {
	var in hostArgs
	if json.Unmarshal(raw, &in) != nil {
		return
	}
	if in.Arguments != nil {
		in = *in.Arguments
	}
	command := in.Line
	var argv []string
	if json.Unmarshal(in.Command, &argv) == nil && command == "" {
		command = shell.Quote(argv, "") // As what is allowed is compared with it.
	} else if command == "" {
		json.Unmarshal(in.Command, &command) //nolint:errcheck // then there is none
	}
	if command == "" {
		return
	}
	all := map[string]string{"command": command}
	for name, value := range map[string]string{"cwd": in.Cwd, "terminalId": in.TerminalID} {
		if value != "" {
			all[name] = value
		}
	}
	h.command = command
	h.input, _ = json.Marshal(all)
}
