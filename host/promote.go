package host

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/auth"
)

// personID is the client that a terminal is given to while nobody is there; the
// person's next client takes it over (docs/decisions.md §2).
const personID = "user"

// promote gives a session's terminal to the person (T17, T18, docs/decisions.md
// §2). For the agent that is final: it no longer holds it.
func promote(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.PromoteParams
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	h := c.h
	tx := h.lock()
	defer tx.unlock()
	t, ok := h.termAt(tx, p.Channel)
	switch {
	case !ok || !h.reaches(tx, c.principal, p.Channel):
		return nil, ahp.NotFound("promote: there is no terminal %q", clip(p.Channel))
	case t.value.Claim.Kind == ahp.ClaimClient:
		return t.value.Claim, nil
	case !t.holds(c.principal) && !c.principal.Operates():
		return nil, ahp.PermissionDenied("promote: the terminal is held by %s: only its holder may give it away", t.holderText())
	}
	t.flush(tx)
	to := ahp.Claim{Kind: ahp.ClaimClient, ClientID: t.personFor(tx)}
	h.audit.Did(c.by(), "promote", p.Channel, "from", claimText(t.value.Claim), "to", claimText(to))
	t.claim(tx, to, nil, auth.Operator)
	return to, nil
}

// personFor is the person's client that a terminal goes to: one that watches it,
// else the one that was there last, else whoever comes.
func (t *term) personFor(tx Tx) string {
	best, score := personID, 0
	var seen *client
	for _, cl := range t.h.clients {
		if cl.principal != auth.Operator.ID || len(cl.conns) == 0 {
			continue
		}
		n := 0
		for c := range cl.conns {
			switch {
			case c.subs[t.ch.uri] != nil:
				n = 3
			case c.shows(tx):
				n = max(n, 2)
			}
		}
		if n > score || n == score && n > 0 && cl.seen.After(seen.seen) {
			best, score, seen = cl.id, n, cl
		}
	}
	return best
}

// shows reports whether a connection is an interface: it follows a layout.
func (c *conn) shows(tx Tx) bool {
	for _, ch := range c.subs {
		if isLayout(ch.body) {
			return true
		}
	}
	return false
}
