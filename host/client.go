package host

import (
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/auth"
)

// client is what the host remembers of a clientId, beyond any one connection.
type client struct {
	id        string
	principal string // bound for good (threat model)
	version   string // negotiated; reconnect carries none
	profile   ahp.Profile
	window    *window         // of the last initialize
	guest     *auth.Principal // of the last initialize too, when it is an agent's
	since     int64           // a number taken at the last initialize: the window's name
	conns     map[*conn]struct{}
	links     int64 // how many connections it had: the last one's conn.id
	seen      time.Time
	colors    emulator.Colors // of its screen, zero while it has not said
}

// bindClient gives the record of a clientId, made on first use, if it is the
// principal's.
func (h *Host) bindClient(tx Tx, id string, p *auth.Principal) (*client, error) {
	if h.belongsToOther(tx, id, p) {
		return nil, ahp.PermissionDenied("the clientId %q belongs to somebody else: choose another", id)
	}
	if cl, ok := h.clients[id]; ok && cl.principal == p.ID {
		return cl, nil
	}
	if err := h.clientIDs.Bind(id, p.ID); err != nil {
		h.log.Warn("note whose client it is", "client", id, "err", err)
	}
	if len(h.clients) >= h.limits.Clients {
		h.forgetClients()
	}
	cl := &client{id: id, principal: p.ID, conns: map[*conn]struct{}{}}
	h.clients[id] = cl
	return cl, nil
}

// belongsToOther reports whether a clientId is bound to another principal, now
// or in an earlier life of the host. That of a token that is no more is free:
// its client may have got a new one.
func (h *Host) belongsToOther(tx Tx, id string, p *auth.Principal) bool {
	owner := h.clientIDs.Owner(id)
	if cl, ok := h.clients[id]; ok {
		owner = cl.principal
		if len(cl.conns) > 0 && owner != p.ID {
			return true
		}
	}
	if token, ok := auth.TokenOf(owner); ok && !h.tokens.Valid(token) {
		return false
	}
	return owner != "" && owner != p.ID
}

// forgetClients makes room: a quarter of the limit, of those gone longest.
func (h *Host) forgetClients() {
	var gone []*client
	for _, cl := range h.clients {
		if len(cl.conns) == 0 {
			gone = append(gone, cl)
		}
	}
	slices.SortFunc(gone, func(a, b *client) int { return a.seen.Compare(b.seen) })
	for _, cl := range gone[:min(len(gone), max(1, h.limits.Clients/4))] {
		delete(h.clients, cl.id)
	}
}
