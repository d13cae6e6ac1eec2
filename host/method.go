package host

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/changeset"
	"tandemux/ahp/guest"
	"tandemux/ahp/palette"
	"tandemux/ahp/resource"
	"tandemux/host/agent"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/questions"
	"tandemux/host/requests"
	"tandemux/host/resources"
	"tandemux/host/sessions"
	"tandemux/host/shell"
	"tandemux/host/terminals"
)

// methods is what can be asked, besides what package requests answers itself. What is
// not there is -32601.
func (h *Host) methods(trail *audit.Log, asked *questions.Questions) map[string]requests.Method {
	all := h.sessions.Methods()
	maps.Copy(all, h.terminals.Methods())
	maps.Copy(all, h.commands.Methods())
	maps.Copy(all, asked.Methods())
	maps.Copy(all, map[string]requests.Method{
		ahp.MethodAgent: {Do: requests.Of(h.findAgent)},
		ahp.MethodLogin: {Do: requests.Of(h.login), Drives: true},
		"authenticate":  {Do: requests.Of(h.authenticate), Drives: true},
		ahp.MethodStop:  {Do: requests.Of(h.stop)},
		ahp.MethodYield: {Do: requests.Of(h.yield)},
		ahp.MethodShow: {
			Do:    requests.Of(func(_ context.Context, c *requests.Conn, p ahp.ShowParams) (any, error) { return h.show(c, p, trail) }),
			Scope: auth.ScopeClaim, Reach: requests.Inside,
		},
		palette.Method:          {Do: requests.Of(h.do), Scope: auth.ScopeAdmin},
		palette.MethodInterface: {Do: requests.Of(h.tellInterface), Scope: auth.ScopeRead, Reach: requests.Anywhere},
		palette.MethodClients:   {Do: requests.Of(h.clients), Scope: auth.ScopeAdmin},
		ahp.MethodHost:          {Do: requests.Of(h.describeHost), Scope: auth.ScopeRead, Reach: requests.Anywhere}, // tells a bound token less
	})
	maps.Copy(all, resources.Options{
		Core: h.core, Audit: trail, Limits: h.cfg.Limits.resourceLimits,
		Files: h.changes.Files,
	}.Methods())
	maps.Copy(all, h.changes.Methods(all[resource.MethodRead]))
	return all
}

// channels implements requests.Channels.
type channels struct {
	h     *Host
	asked *questions.Questions
}

func (channels) Reaches(tx core.Tx, p *auth.Principal, uri ahp.URI) bool {
	return terminals.Reaches(tx, p, uri)
}

func (channels) ShownState(tx core.Tx, p *auth.Principal, state any) any {
	return shownState(tx, p, state)
}

func (cs channels) Open(tx core.Tx, p *auth.Principal, uri ahp.URI) (*core.Channel, error) {
	switch scheme, _, _ := strings.Cut(uri, ":"); {
	case scheme+":" == ahp.LayoutScheme && len(uri) <= params.MaxURI:
		return cs.h.layouts.open(tx, p, uri)
	case scheme+":" == ahp.SessionScheme, scheme+":" == ahp.ChatScheme:
		return nil, ahp.SessionNotFound("subscribe to %q: there is no such session", uri)
	case scheme+":" == changeset.Scheme:
		return cs.h.changes.Open(tx, uri)
	}
	return nil, ahp.NotFound("subscribe to %q: there is no such channel", uri)
}

func (channels) StateWithin(tx core.Tx, ch *core.Channel, most int) (state any, ok bool) {
	t, ok := ch.Body.(*terminals.Terminal)
	if !ok {
		return nil, false
	}
	return t.StateWithin(tx, most), true
}

func (cs channels) Watched(tx core.Tx, l *core.Link, ch *core.Channel) {
	cs.looks(tx, l)
	if t, ok := ch.Body.(*terminals.Terminal); ok {
		t.Watched(tx, l)
	}
	cs.h.changes.Watched(tx, ch)
	cs.h.layouts.recount(tx, ch)
}

func (cs channels) Unwatched(tx core.Tx, l *core.Link, ch *core.Channel) {
	cs.looks(tx, l)
	cs.h.sessions.ClientLooksAway(tx, l, ch)
	terminals.LooksAway(tx, l, ch, false)
	resources.Unwatched(tx, ch)
	cs.h.changes.Unwatched(tx, ch)
	cs.h.layouts.recount(tx, ch)
}

func (cs channels) Opened(tx core.Tx, l *core.Link, resumed bool) {
	cs.h.sessions.ClientBack(tx, l, resumed)
}

func (cs channels) Came(tx core.Tx, cl *core.Client) { cs.h.terminals.ComesOrGoes(tx, cl) }

func (cs channels) Ended(tx core.Tx, c *requests.Conn, watched []*core.Channel, last bool) {
	h := cs.h
	cs.looks(tx, c.Link)
	h.layouts.recount(tx, tx.Channel(ahp.ActivityURI))
	h.commands.Ended(tx, c)
	cs.asked.Ended(tx, c)
	if c.Client != nil {
		h.sessions.ClientGone(tx, c.Client.ID)
	}
	h.terminals.Ended(tx, c, watched, last)
	resources.Ended(tx, c.Link, watched)
	h.changes.Unwatched(tx, watched...)
}

func (channels) Process(tx core.Tx, uri ahp.URI) (id string, ok bool) {
	t, ok := terminals.At(tx, uri)
	if ok {
		id, _ = t.Process()
	}
	return id, ok
}

func (cs channels) Refused(c *requests.Conn, method string, params json.RawMessage, err error) {
	cs.h.refusedGuest(c, method, params, err)
}

// watched has what agents do told to those who show what they change.
type watched struct {
	sessions.Terminals
	h *Host
}

func (w watched) CallEnded(tx core.Tx, c *sessions.Chat, turn, call string) {
	w.Terminals.CallEnded(tx, c, turn, call)
	w.h.changes.Worked(tx, c.Session(), call == "")
}

func (w watched) SessionEnded(tx core.Tx, session ahp.URI) {
	w.Terminals.SessionEnded(tx, session)
	w.h.changes.Ended(tx, session)
}

// beside implements terminals.Host.
type beside struct{ h *Host }

func (b beside) Layouts(tx core.Tx) (map[ahp.URI][]ahp.URI, *ahp.RootMeta) {
	return b.h.layouts.shownIn(tx)
}
func (b beside) TokenName(id string) string { return b.h.requests.Tokens.Name(id) }
func (b beside) FollowWork(tx core.Tx, state ahp.TerminalState, w ahp.BackgroundWork) {
	b.h.sessions.FollowWork(tx, state, w)
}

// Shares are the guests' tokens for a terminal, each with the clients that look at it.
func (b beside) Shares(ch *core.Channel, process string) (own []guest.Share) {
	for _, t := range b.h.requests.Tokens.Shares() {
		if t.Terminal != ch.URI || t.Process != process {
			continue
		}
		share := guest.Share{
			Token: t.ID, Name: t.Name, Expires: t.Expires, Opened: t.LastUsed != 0,
			ReadOnly: !slices.Contains(t.Scopes, auth.ScopeClaim),
		}
		for _, l := range ch.Links() {
			if l.Principal.Token == t.ID && l.Client != nil {
				share.Clients = append(share.Clients, l.Client.Title)
			}
		}
		own = append(own, share)
	}
	return own
}

// looks lists anew who looks at a terminal, when a guest has come to it or has gone.
func (cs channels) looks(tx core.Tx, l *core.Link) {
	if l.Principal.Terminal != "" {
		cs.h.terminals.ListSoon(tx)
	}
}

func (b beside) SessionOwner(tx core.Tx, session ahp.URI) string {
	return b.h.sessions.SessionOwner(tx, session)
}

func (b beside) ChatSession(tx core.Tx, chat ahp.URI) ahp.URI {
	if c, ok := core.At[*sessions.Chat](tx, chat); ok {
		return c.Session()
	}
	return ""
}

func (b beside) Confined(tx core.Tx, session ahp.URI) (agent.Confinement, []string) {
	k, roots := b.h.sessions.Confined(tx, session)
	if k == nil {
		return nil, nil
	}
	return k, roots
}

// actions are those that clients may dispatch.
func (h *Host) actions() map[string]requests.Action {
	all := sessions.Actions()
	maps.Copy(all, h.sessions.Annotations.Actions())
	maps.Copy(all, h.terminals.Actions())
	maps.Copy(all, h.changes.Actions())
	maps.Copy(all, map[string]requests.Action{
		ahp.LayoutChanged{}.ActionType(): {
			Scope: auth.ScopeAdmin, Needs: []string{"rev"}, Fits: requests.Is[*layout], Do: h.layouts.change,
		},
		ahp.RootConfigChanged{}.ActionType(): {
			Scope: auth.ScopeAdmin, Fits: requests.Is[*root], Refusal: "this host has no configuration that clients can change",
		},
	})
	return all
}

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
	case p.Provider != "" && len(p.Command) > 0:
		return nil, ahp.InvalidParams("find agent: provider and command: give one of them")
	case c.Principal.Lacks(need) != "":
		return nil, params.Allowed("find agent", c.Principal.Lacks(need))
	}
	tx := h.core.Lock()
	had, unknown := h.sessions.Provider(tx, p.Provider)
	tx.Unlock()
	if len(p.Command) == 0 && unknown == nil {
		return ahp.AgentResult{Provider: had.Info().ID}, nil
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
