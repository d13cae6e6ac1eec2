package host

import (
	"context"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/terminals"
)

// login is x-tandemux/login.
func (h *Host) login(ctx context.Context, c *requests.Conn, p ahp.LoginParams) (any, error) {
	provider, err := h.sessions.LoginProvider(p)
	if err != nil {
		return nil, err
	}
	return c.Aside(ctx, func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, h.cfg.Limits.AgentStart)
		defer cancel()
		return h.logIn(ctx, c, provider, p)
	})
}

func (h *Host) logIn(ctx context.Context, c *requests.Conn, provider agent.Provider, p ahp.LoginParams) (any, error) {
	info := provider.Info()
	var err error
	if len(info.Auth) == 0 {
		if info, err = agent.Probe(ctx, provider); err != nil {
			return nil, ahp.Errorf(ahp.CodeInternal, "log in: %s", words.Error(err).Message)
		}
	}
	m, err := loginMethod(info, p.Method)
	if err != nil {
		return nil, err
	}
	r := ahp.LoginResult{Method: m, Methods: words.AuthWays(info.Auth)}
	h.requests.Audit.Did(c.Who(), "log in", p.Terminal, "agent", params.Clip(info.ID), "method", params.Clip(m.ID))
	if m.Kind == agent.AuthAgent {
		if err := agent.Guarded(func() error { return provider.Authenticate(ctx, m.ID) }); err != nil {
			return nil, ahp.Errorf(ahp.CodeInternal, "log in: %s", words.Error(err).Message)
		}
		h.core.Do(func(tx core.Tx) { h.sessions.BeginAgain(tx, p.Session) })
		return r, nil
	}
	r.Terminal = p.Terminal
	return r, h.loginIn(ctx, c, p, m)
}

// loginMethod is the login method with the id. Without an id it is the first that is not
// set up by environment variables.
func loginMethod(info agent.Info, id string) (agent.AuthMethod, error) {
	for _, m := range info.Auth {
		switch {
		case id == "" && m.Kind == agent.AuthEnv || id != "" && m.ID != id:
			continue
		case m.Kind == agent.AuthEnv:
			return m, ahp.Conflict("log in: %s: set %q in the agent's env, in the configuration", m.Name, m.Variables)
		case m.Kind == agent.AuthTerminal && len(m.Command) == 0:
			return m, ahp.Conflict("log in: %s: the agent names no command", m.Name)
		}
		return m, nil
	}
	if len(info.Auth) == 0 {
		return agent.AuthMethod{}, ahp.NotFound("log in: the agent %s offers no way to log in", info.ID)
	}
	var ids []string
	for _, m := range info.Auth {
		ids = append(ids, m.ID)
	}
	return agent.AuthMethod{}, ahp.NotFound("log in: the agent %s has no such way to log in; it has %q", info.ID, ids)
}

// loginIn runs the agent's login command in a new terminal that the client holds.
func (h *Host) loginIn(ctx context.Context, c *requests.Conn, p ahp.LoginParams, m agent.AuthMethod) error {
	_, err := h.terminals.CreateTerminal(ctx, c, ahp.CreateTerminalParams{
		Channel: p.Terminal, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: c.Client.ID},
		Name: params.CleanTitle(params.ClipTo("Log in: "+m.Name, words.MaxNamed)), Cols: p.Cols, Rows: p.Rows,
		Meta: &ahp.CreateMeta{Command: m.Command, Env: m.Env},
	})
	if err != nil {
		return err
	}
	h.core.Do(func(tx core.Tx) {
		t, ok := terminals.At(tx, p.Terminal)
		if !ok {
			return
		}
		end := &loginEnd{h, p.Session}
		if life := t.Value.Lifecycle; life.Exited() {
			end.Follow(tx, ahp.TerminalExited{ExitCode: life.ExitCode})
			return
		}
		t.Watch(tx, end)
	})
	return nil
}

// loginEnd calls BeginAgain for the session when the login command exits with 0.
type loginEnd struct {
	h       *Host
	session ahp.URI
}

func (e *loginEnd) Told(core.Tx, ahp.Action) {}
func (e *loginEnd) Gone(core.Tx)             {}
func (e *loginEnd) Follow(tx core.Tx, a ahp.Action) {
	if x, ok := a.(ahp.TerminalExited); ok && x.ExitCode != nil && *x.ExitCode == 0 {
		e.h.sessions.BeginAgain(tx, e.session)
	}
}
