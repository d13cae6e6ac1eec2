package host

import (
	"context"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/shell"
	"tandemux/host/terminals"
)

// findAgent makes an agent available (x-tandemux/agent).
func (h *Host) findAgent(_ context.Context, c *requests.Conn, p ahp.AgentParams) (any, error) {
	need := auth.ScopeSession
	if len(p.Command) > 0 {
		need = auth.ScopeAdmin
		if _, err := terminals.CheckCommand(p.Command, ""); err != nil {
			return nil, ahp.InvalidParams("find agent: command: empty, or too long")
		}
	}
	switch {
	case (p.Provider == "") == (len(p.Command) == 0):
		return nil, ahp.InvalidParams("find agent: provider and command: give one of them")
	case c.Principal.Lacks(need) != "":
		return nil, params.Allowed("find agent", c.Principal.Lacks(need))
	}
	tx := h.core.Lock()
	_, unknown := h.sessions.Provider(tx, p.Provider)
	tx.Unlock()
	if p.Provider != "" && unknown == nil {
		return ahp.AgentResult{Provider: p.Provider}, nil
	}
	if h.cfg.Agent == nil {
		return nil, ahp.Errorf(ahp.CodeProviderNotFound, "find agent: this host runs no other agents than those it has")
	}
	found, err := h.cfg.Agent(p.Provider, p.Command)
	if err != nil {
		return nil, ahp.Errorf(ahp.CodeProviderNotFound, "find agent: %v", err)
	}
	id := found.Info().ID
	h.core.Do(func(tx core.Tx) {
		if _, unknown := h.sessions.Provider(tx, id); unknown != nil {
			err = h.sessions.AddProvider(tx, found)
		}
	})
	if err != nil {
		return nil, err
	}
	h.requests.Audit.Did(c.Who(), "agent", id, "command", params.Clip(shell.Quote(p.Command, "")))
	return ahp.AgentResult{Provider: id}, nil
}
