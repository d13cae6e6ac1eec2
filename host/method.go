package host

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// of is a request that a host answers.
func of[P any](h *Host, do func(ctx context.Context, h *Host, c *requests.Conn, p P) (any, error)) requests.Handler {
	return requests.Of(func(ctx context.Context, c *requests.Conn, p P) (any, error) { return do(ctx, h, c, p) })
}

// methods is what can be asked, besides what package requests answers itself. What is
// not there is -32601.
func (h *Host) methods() map[string]requests.Method {
	all := h.sessions.Methods()
	maps.Copy(all, map[string]requests.Method{
		ahp.MethodCreateTerminal:  {Do: sized(of(h, createTerminal)), Reach: requests.Inside},
		ahp.MethodDisposeTerminal: {Do: of(h, disposeTerminal), Reach: requests.Own},

		"resourceList":    {Do: of(h, resourceList), Large: true},
		"resourceRead":    {Do: of(h, resourceRead), Large: true},
		"resourceResolve": {Do: of(h, resourceResolve)},
		"resourceRequest": {Do: of(h, resourceRequest)},

		ahp.MethodRead:     {Do: of(h, read), Scope: auth.ScopeRead, Reach: requests.Own, Large: true},
		ahp.MethodCommand:  {Do: of(h, readCommand), Scope: auth.ScopeRead, Reach: requests.Own, Large: true},
		ahp.MethodCommands: {Do: of(h, listCommands), Scope: auth.ScopeRead, Reach: requests.Own, Large: true},
		ahp.MethodWait:     {Do: of(h, waitFor), Scope: auth.ScopeRead, Reach: requests.Own},
		ahp.MethodMark:     {Do: of(h, mark), Scope: auth.ScopeRead, Reach: requests.Own},
		ahp.MethodRun:      {Do: of(h, run), Scope: auth.ScopeInput, Reach: requests.Own},
		ahp.MethodFeed:     {Do: of(h, feed), Scope: auth.ScopeRead, Reach: requests.Own}, // only what it was given to feed
		ahp.MethodAgent:    {Do: of(h, findAgent)},
		ahp.MethodLogin:    {Do: of(h, login), Drives: true},
		ahp.MethodPromote:  {Do: of(h, promote), Scope: auth.ScopeClaim, Reach: requests.Inside},
		ahp.MethodAsk:      {Do: of(h, askFor), Scope: auth.ScopeClaim, Reach: requests.Inside},
		ahp.MethodAnswer:   {Do: of(h, answerAsk), Scope: auth.ScopeClaim},
		ahp.MethodStop:     {Do: of(h, stop)},
		ahp.MethodYield:    {Do: of(h, yield)},
		ahp.MethodHost:     {Do: of(h, describeHost), Scope: auth.ScopeRead, Reach: requests.Anywhere}, // tells a bound token less
	})
	// What would change files, or watch them, is refused (docs/protocol.md, What is served).
	for _, name := range []string{
		"resourceWrite", "resourceCopy", "resourceDelete", "resourceMove", "resourceMkdir", "createResourceWatch",
	} {
		all[name] = requests.Method{Do: func(context.Context, *requests.Conn, json.RawMessage) (any, error) { return nil, readOnly(name) }}
	}
	return all
}

// channels implements requests.Channels.
type channels struct{ h *Host }

func (channels) Reaches(tx core.Tx, p *auth.Principal, uri ahp.URI) bool { return reaches(tx, p, uri) }

func (channels) ShownState(tx core.Tx, p *auth.Principal, state any) any {
	return shownState(tx, p, state)
}

func (channels) ShownAction(tx core.Tx, p *auth.Principal, a ahp.Action) ahp.Action {
	return shownAction(tx, p, a)
}

func (cs channels) Open(tx core.Tx, p *auth.Principal, uri ahp.URI) (*core.Channel, error) {
	switch scheme, _, _ := strings.Cut(uri, ":"); {
	case scheme+":" == ahp.LayoutScheme && len(uri) <= params.MaxURI:
		return cs.h.openLayout(tx, p, uri)
	case scheme+":" == ahp.SessionScheme, scheme+":" == ahp.ChatScheme:
		return nil, ahp.SessionNotFound("subscribe to %q: there is no such session", uri)
	}
	return nil, ahp.NotFound("subscribe to %q: there is no such channel", uri)
}

func (channels) StateWithin(tx core.Tx, ch *core.Channel, most int) (state any, ok bool) {
	t, ok := ch.Body.(*term)
	if !ok {
		return nil, false
	}
	return t.stateWithin(tx, most), true
}

func (cs channels) Watched(tx core.Tx, l *core.Link, ch *core.Channel) {
	if t, ok := ch.Body.(*term); ok {
		t.follower.arrived(l.Client.ID)
	}
	cs.h.recount(tx, ch)
}

func (cs channels) Unwatched(tx core.Tx, l *core.Link, ch *core.Channel) {
	cs.h.sessions.ClientLooksAway(tx, l, ch)
	looksAway(tx, l, ch, false)
	cs.h.recount(tx, ch)
}

func (cs channels) Opened(tx core.Tx, l *core.Link, resumed bool) {
	cs.h.sessions.ClientBack(tx, l, resumed)
}

func (cs channels) Came(tx core.Tx, cl *core.Client) { cs.h.comesOrGoes(tx, cl) }

func (cs channels) Ended(tx core.Tx, c *requests.Conn, watched []*core.Channel, last bool) {
	h := cs.h
	for _, ch := range watched {
		looksAway(tx, c.Link, ch, true)
	}
	for _, l := range h.layouts {
		h.recount(tx, l.ch)
	}
	for _, t := range h.terms {
		t.letConnGo(tx, c)
	}
	if c.Client != nil {
		h.sessions.ClientGone(tx, c.Client.ID)
	}
	if last {
		h.returnLoans(tx, c.Client, c.Principal)
		h.comesOrGoes(tx, c.Client)
	}
}

func (channels) Process(tx core.Tx, uri ahp.URI) (id string, ok bool) {
	t, ok := termAt(tx, uri)
	if !ok {
		return "", false
	}
	return t.proc, true
}

func (cs channels) Refused(c *requests.Conn, method string, params json.RawMessage, err error) {
	cs.h.refusedGuest(c, method, params, err)
}
