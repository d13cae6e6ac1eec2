package acp

import (
	"encoding/json"
	"slices"

	"tandemux/host/agent"
)

// Panes is how an agent is told to run its commands by a tool of the host's
// (agent.Server.Commands) in place of a shell of its own, so that each is a terminal.
type Panes struct {
	Args  []string        // after its command
	Env   []agent.Var     // under what is configured for it
	Meta  json.RawMessage // _meta of session/new
	Files []string        // directories of the host's that Args and Env name
}

// panes is how the session's agent is told so: not at all where it gets no such tool.
func (s *session) panes() Panes {
	if s.p.c.Panes == nil || s.ownShell || !slices.ContainsFunc(s.spec.Servers, func(m agent.Server) bool { return m.Commands }) {
		return Panes{}
	}
	return *s.p.c.Panes
}

// environ is what is put over the environment that the agent is started with.
func (s *session) environ() []agent.Var {
	if s.spec.Confine != nil {
		return slices.Concat(s.panes().Env, s.p.c.Env)
	}
	return slices.Concat(s.panes().Env, s.p.c.Env, s.spec.Env)
}
