package terminals

import (
	"context"
	"strings"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/claims"
	"tandemux/host/core"
	"tandemux/host/requests"
)

// personID is the client that a terminal is given to while nobody is there; the
// person's next client takes it over (docs/contributing/decisions.md §2).
const personID = "user"

// promote gives a session's terminal to the person (T17, T18, docs/contributing/decisions.md
// §2). For the agent that is final: it no longer holds it.
func (ts *Terminals) promote(_ context.Context, c *requests.Conn, p ahp.PromoteParams) (any, error) {
	tx := ts.Core.Lock()
	defer tx.Unlock()
	t, err := Find(tx, c.Principal, p.Channel, "promote")
	switch {
	case err != nil:
		return nil, err
	case t.Value.Claim.Kind == ahp.ClaimClient:
		return t.Value.Claim, nil
	case !t.held().Holds(c.Principal) && !c.Principal.Operates():
		return nil, ahp.PermissionDenied("promote: the terminal is held by %s: only its holder may give it away", t.held().HeldBy())
	}
	t.Flush(tx)
	to := ahp.Claim{Kind: ahp.ClaimClient, ClientID: t.personFor(tx)}
	ts.Audit.Did(c.Who(), "promote", p.Channel, "from", claims.Text(t.Value.Claim), "to", claims.Text(to))
	t.Claim(tx, to, nil, auth.Operator)
	return to, nil
}

// personFor is the person's client that a terminal goes to: one that watches it,
// else the one that was there last, else whoever comes.
func (t *Terminal) personFor(tx core.Tx) string {
	best, score := personID, 0
	var seen *core.Client
	for cl := range tx.Clients() {
		if cl.Owner != auth.Operator.ID || !cl.Here() {
			continue
		}
		n := 0
		for l := range cl.Links() {
			switch {
			case l.Watches(t.ch.URI):
				n = 3
			case isInterface(l):
				n = max(n, 2)
			}
		}
		if n > score || n == score && n > 0 && cl.Seen.After(seen.Seen) {
			best, score, seen = cl.ID, n, cl
		}
	}
	return best
}

// isInterface reports whether a connection is an interface's: it follows a layout.
func isInterface(l *core.Link) bool {
	for ch := range l.Subscriptions() {
		if strings.HasPrefix(ch.URI, ahp.LayoutScheme) {
			return true
		}
	}
	return false
}
