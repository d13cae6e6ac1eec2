package agentterm

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/activity"
	"tandemux/host/agent"
	"tandemux/host/audit"
	"tandemux/host/confine"
	"tandemux/host/core"
	"tandemux/host/sessions"
	"tandemux/host/terminals"
)

// Options is what Agents needs of the host.
type Options struct {
	Core      *core.Core
	Log       *slog.Logger
	Audit     *audit.Log
	Activity  *activity.Activity
	Terminals *terminals.Terminals
	// Servers, if not nil, returns the MCP servers that every agent gets.
	Servers func(provider string, session, chat ahp.URI) []agent.Server
}

// Agents gives sessions' agents terminals, files and servers. It implements sessions.Terminals, and
// has no state.
type Agents struct{ Options }

func (as *Agents) Supply(tx core.Tx, c *sessions.Chat, spec *agent.Spec) {
	roots, err := agent.NewRoots(spec.Roots)
	if err != nil {
		as.Log.Warn("an agent gets neither terminals nor files", "session", c.Session(), "err", err)
		return
	}
	k, _ := c.Sandbox().(*confine.Sandbox)
	mine := &workplace{as, c, k, roots}
	spec.Terminals, spec.Files = mine, mine
	if as.Servers != nil {
		servers := as.Servers(c.Provider(), c.Session(), c.URI())
		if k != nil {
			servers = k.Servers(servers)
		}
		spec.Servers = append(spec.Servers, servers...)
	}
}

// where returns the terminals with a session's claim that meant selects.
func (as *Agents) where(tx core.Tx, meant func(claim ahp.Claim) bool) (list []*terminals.Terminal) {
	for _, t := range as.Terminals.All(tx) {
		if claim := t.Value.Claim; claim.Kind == ahp.ClaimSession && meant(claim) {
			list = append(list, t)
		}
	}
	return list
}

// CallEnded implements sessions.Terminals. The terminals of what has ended are now held by the session
// in the background (G41).
func (as *Agents) CallEnded(tx core.Tx, c *sessions.Chat, turn, call string) {
	as.Terminals.Belt.Forget(c.Session(), allowedBy(c, call))
	for _, t := range as.where(tx, func(claim ahp.Claim) bool {
		return claim.Chat == c.URI() && claim.TurnID+claim.ToolCallID != "" &&
			(turn == "" || claim.TurnID == turn) && (call == "" || claim.ToolCallID == call)
	}) {
		claim := t.Value.Claim
		claim.TurnID, claim.ToolCallID = "", ""
		t.ClaimOwn(tx, claim)
	}
}

// ChatEnded implements sessions.Terminals (G42, G46).
func (as *Agents) ChatEnded(tx core.Tx, c *sessions.Chat) {
	as.ended(tx, func(claim ahp.Claim) bool { return claim.Chat == c.URI() })
}

func (as *Agents) SessionEnded(tx core.Tx, session ahp.URI) {
	as.ended(tx, func(claim ahp.Claim) bool { return claim.Session == session })
}

// ended ends the terminals that a chat or session holds. Terminals that people took from it are kept,
// and can't be given back any more.
func (as *Agents) ended(tx core.Tx, its func(claim ahp.Claim) bool) {
	for _, t := range as.where(tx, its) {
		t.Dispose(tx)
	}
	for _, t := range as.Terminals.All(tx) {
		if back := t.Meta.HandBack; back != nil && its(*back) {
			t.ForgetHandBack(tx)
		}
	}
}

func (as *Agents) State(tx core.Tx, uri ahp.URI) (ahp.TerminalState, bool) {
	if t, ok := terminals.At(tx, uri); ok {
		return t.Value, true
	}
	return ahp.TerminalState{}, false
}

func (as *Agents) Bind(tx core.Tx, c *sessions.Chat, uri ahp.URI, turn, call string) {
	if t, ok := terminals.At(tx, uri); ok {
		claim := t.Value.Claim
		claim.TurnID, claim.ToolCallID = turn, call
		t.ClaimOwn(tx, claim)
		as.forgetOld(tx, c)
	}
}

func (as *Agents) HeldFor(tx core.Tx, c *sessions.Chat, call string) (list []ahp.URI) {
	for _, t := range as.where(tx, func(claim ahp.Claim) bool { return claim.Chat == c.URI() && claim.ToolCallID == call }) {
		list = append(list, t.URI())
	}
	return list
}

// forgetOld removes a chat's oldest terminals whose command has ended, so that a long conversation
// does not fill the host.
func (as *Agents) forgetOld(tx core.Tx, c *sessions.Chat) {
	over := slices.DeleteFunc(as.where(tx, func(claim ahp.Claim) bool { return claim.Chat == c.URI() && claim.TurnID == "" }), func(t *terminals.Terminal) bool {
		return !t.Value.Lifecycle.Exited() || t.InLayout(tx)
	})
	for len(over) > keptAgentTerms {
		over[0].Dispose(tx)
		over = over[1:]
	}
}

// refuse shows people what a chat's agent was not allowed, and writes it to the audit log.
func (as *Agents) refuse(c *sessions.Chat, kind, what string, err error) {
	as.Audit.RefusedAgent(c.URI(), c.Session(), kind, what, err.Error())
	as.Core.Do(func(tx core.Tx) {
		if !c.Dead(tx) {
			as.Activity.Refuse(tx, ahp.AgentRefusal{Agent: c.Provider(), Session: c.Session(), What: what, Why: err.Error()})
		}
	})
}

func (w *workplace) Read(ctx context.Context, path string, line, limit int) (text string, err error) {
	return text, w.do("read", path, func(at string) error {
		text, err = w.roots.Read(ctx, at, line, limit)
		return err
	})
}

func (w *workplace) Write(ctx context.Context, path, content string) error {
	return w.do("write", path, func(at string) error { return w.roots.Write(ctx, at, content) })
}

func (w *workplace) do(doing, path string, do func(at string) error) (err error) {
	at := path
	if w.k != nil {
		at, err = w.k.Outside(path, doing == "write")
	}
	if err == nil {
		err = asSeen(do(at), at, path)
	}
	if errors.Is(err, agent.ErrFileOutside) {
		w.as.refuse(w.c, "file", doing+" "+path, err)
	}
	return err
}

// asSeen replaces the host's path in an error by the agent's, because the agent must not learn where
// the file is.
func asSeen(err error, outside, inside string) error {
	switch {
	case err == nil, outside == inside, errors.Is(err, fs.ErrNotExist):
		return err // the error has the agent's own path
	case strings.Contains(err.Error(), outside):
		return &agent.Refusal{Text: strings.ReplaceAll(err.Error(), outside, inside)}
	case strings.Contains(err.Error(), filepath.Dir(outside)):
		return &agent.Refusal{Text: inside + ": it can't be read or written"}
	}
	return err
}
