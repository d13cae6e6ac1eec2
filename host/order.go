package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/palette"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// orderTime is how long an interface may take to answer.
const orderTime = 15 * time.Second

// clients lists the caller's interfaces (x-tandemux/clients): clients of the same principal
// that show a layout. A person's are nobody else's to know, or to move.
func (h *Host) clients(_ context.Context, c *requests.Conn, _ ahp.SubscribeParams) (any, error) {
	tx := h.core.Lock()
	defer tx.Unlock()
	all := palette.Clients{Items: []palette.Client{}}
	for _, l := range h.layouts.list {
		for link := range showing(l) {
			if link.Client.Owner == c.Principal.ID {
				all.Items = append(all.Items, palette.Client{ClientID: link.Client.ID, Layout: l.ch.URI})
			}
		}
	}
	slices.SortFunc(all.Items, func(a, b palette.Client) int {
		return cmp.Or(cmp.Compare(a.Layout, b.Layout), cmp.Compare(a.ClientID, b.ClientID))
	})
	return all, nil
}

// order sends a command to one of the caller's interfaces and returns its result.
func (h *Host) order(ctx context.Context, c *requests.Conn, p palette.Params) (any, error) {
	to := h.showingFor(c, p)
	if to == nil {
		return nil, ahp.NotFound("do: no interface %s of yours shows %s; %s lists those that there are", params.Clip(p.Interface), params.Clip(p.Channel), palette.MethodClients)
	}
	h.requests.Audit.Did(c.Who(), "order", p.Interface, "command", params.Clip(p.Command))
	ctx, cancel := context.WithTimeout(ctx, orderTime)
	defer cancel()
	p.Interface = ""
	var done palette.Result
	err := to.Out.RPC.Call(ctx, palette.MethodOrder, p, &done)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = ahp.Conflict("do: the interface has not answered for %v; it may do it yet", orderTime)
	case ahp.CodeOf(err) == ahp.CodeMethodNotFound:
		err = ahp.Conflict("do: that interface takes no commands: it is a browser's, or an older one")
	case err != nil && ahp.CodeOf(err) == 0:
		err = ahp.Conflict("do: the interface is gone: %v", err)
	}
	return done, err
}

// showingFor finds the connection of an interface.
func (h *Host) showingFor(c *requests.Conn, p palette.Params) *core.Link {
	tx := h.core.Lock()
	defer tx.Unlock()
	for _, l := range h.layouts.list {
		if l.ch.URI != params.Canonical(p.Channel) {
			continue
		}
		for link := range showing(l) {
			if link.Client.ID == p.Interface && link.Client.Owner == c.Principal.ID && link != c.Link {
				return link
			}
		}
	}
	return nil
}
