package host

import (
	"context"
	"slices"

	"tandemux/ahp"
	"tandemux/ahp/palette"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/requests"
	"tandemux/host/terminals"
	"tandemux/internal/jsonrpc"
)

// Place puts a terminal into a layout, in a pane beside one that shows another one or a
// chat; the focus stays. shown says that there is such a pane, or that the layout shows the
// terminal already, in which case next is as l is; size gives those of terminals.
type Place func(l ahp.LayoutState, terminal, beside ahp.URI, size func(ahp.URI) (cols, rows int)) (next ahp.LayoutState, at ahp.ShowResult, shown bool, err error)

// show shows a session's terminal beside another of the session's (x-tandemux/show). A
// program of the owner's may say which terminal it runs in itself.
func (h *Host) show(c *requests.Conn, p ahp.ShowParams, trail *audit.Log) (any, error) {
	tx := h.core.Lock()
	defer tx.Unlock()
	t, err := terminals.Find(tx, c.Principal, p.Channel, "show")
	operates := c.Principal.Operates()
	switch {
	case err != nil:
		return nil, err
	case h.cfg.Place == nil:
		return nil, ahp.MethodNotFound(ahp.MethodShow)
	case !operates && !t.Held().Holds(c.Principal):
		return nil, ahp.PermissionDenied("show: the terminal is held by %s: only its holder may show it", t.Held().HeldBy())
	}
	beside := h.ofSession(tx, t)
	if p.Beside != "" {
		mine := slices.Contains(beside, p.Beside) || c.Principal.Token == "" && terminals.Reaches(tx, c.Principal, p.Beside)
		if !operates && !mine {
			return nil, ahp.PermissionDenied("show: beside: %s is not of the session that holds the terminal", p.Beside)
		}
		beside = []ahp.URI{p.Beside}
	}
	size := func(uri ahp.URI) (cols, rows int) {
		if t, ok := terminals.At(tx, uri); ok {
			return t.Value.Cols, t.Value.Rows
		}
		return 0, 0
	}
	for _, l := range h.layouts.seenFirst() {
		for _, b := range beside {
			next, at, shown, err := h.cfg.Place(l.value, p.Channel, b, size)
			switch {
			case err != nil:
				return nil, ahp.Errorf(ahp.CodeConflict, "show: %v", err)
			case !shown:
				continue
			case next.Rev != l.value.Rev:
				if refusal := h.layouts.replace(tx, l, ahp.LayoutChanged(next), nil); refusal != "" {
					return nil, ahp.Errorf(ahp.CodeConflict, "show: %s", refusal)
				}
				trail.Did(c.Who(), "show", p.Channel, "layout", l.ch.URI, "beside", b)
			}
			at.Layout = l.ch.URI
			return at, nil
		}
	}
	return nil, ahp.NotFound("show: no layout shows a pane that this could come beside")
}

// ofSession are the chat and the terminals of the session that holds one.
func (h *Host) ofSession(tx core.Tx, t *terminals.Terminal) (all []ahp.URI) {
	claim := t.Value.Claim
	if claim.Session == "" {
		return nil
	}
	if claim.Chat != "" {
		all = append(all, claim.Chat)
	}
	for _, other := range h.terminals.All(tx) {
		if other != t && other.Value.Claim.Session == claim.Session {
			all = append(all, other.URI())
		}
	}
	return all
}

// Dial opens a connection to the host within this process.
type Dial func(context.Context) (jsonrpc.Transport, error)

// do runs a command of the palette (x-tandemux/do): on a connection of the caller's, by
// which the host decides about each thing that it does as for any client.
func (h *Host) do(ctx context.Context, c *requests.Conn, p palette.Params) (any, error) {
	if p.Interface != "" {
		return h.order(ctx, c, p)
	}
	if h.cfg.Do == nil {
		return nil, ahp.MethodNotFound(palette.Method)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return h.cfg.Do(ctx, h.front.As(ctx, c.Principal), p)
}

// tellInterface tells how the owner has the interface (x-tandemux/interface).
func (h *Host) tellInterface(_ context.Context, c *requests.Conn, _ ahp.SubscribeParams) (any, error) {
	if h.cfg.Interface == nil {
		return nil, ahp.MethodNotFound(palette.MethodInterface)
	}
	return h.cfg.Interface(c.Principal.Lacks(auth.ScopeAdmin) == "")
}
