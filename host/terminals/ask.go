package terminals

import (
	"context"
	"crypto/rand"
	"strings"
	"time"
	"unicode"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/claims"
	"tandemux/host/core"
	"tandemux/host/requests"
	"tandemux/internal/jsonrpc"
)

const (
	maxAskReason = 1 << 10
	maxAskTime   = time.Hour
	// maxAsks bounds the questions that wait for a person, of one connection.
	maxAsks = 8
)

// question is one that waits for a person: may this agent have the terminal?
// Guarded by the lock.
type question struct {
	t     *Terminal
	c     *requests.Conn
	req   *jsonrpc.Request
	claim ahp.Claim
	timer *time.Timer
}

// ask answers x-tandemux/ask when the person has. What nobody's hands are on (a
// session's that the caller drives) is given at once.
func (ts *Terminals) ask(_ context.Context, c *requests.Conn, p ahp.AskParams) (any, error) {
	limit := time.Duration(p.TimeoutMs) * time.Millisecond
	reason := strings.TrimSpace(p.Reason)
	switch {
	case p.TimeoutMs < 1 || limit > maxAskTime:
		return nil, ahp.InvalidParams("ask: timeoutMs: use 1 to %d", maxAskTime.Milliseconds())
	case reason == "" || len(reason) > maxAskReason || strings.ContainsFunc(reason, unicode.IsControl):
		return nil, ahp.InvalidParams("ask: reason: want 1 to %d bytes of text in one line: the person reads it", maxAskReason)
	case p.Claim.Kind != ahp.ClaimSession:
		return nil, ahp.InvalidParams("ask: claim: want a session's: a client claims by terminal/claimed")
	}
	tx := ts.Core.Lock()
	defer tx.Unlock()
	t, err := Find(tx, c.Principal, p.Channel, "ask")
	if err != nil {
		return nil, err
	}
	if err := claims.MayClaimNew(c.Principal, c.Client.ID, p.Claim, ts.Host.SessionOwner(tx, p.Claim.Session)); err != nil {
		return nil, err
	}
	switch {
	case t.Value.Lifecycle.Exited():
		return nil, ahp.Conflict("ask: the terminal's process has ended")
	case t.held().Holds(c.Principal):
		t.Claim(tx, p.Claim, nil, c.Principal)
		return ahp.AskResult{Answer: ahp.AskGranted}, nil
	case t.Value.Claim.Kind == ahp.ClaimSession:
		return nil, ahp.PermissionDenied("ask: the terminal is held by %s: another agent's is not the person's to give", t.held().HeldBy())
	case t.asked != nil:
		return nil, ahp.Conflict("ask: somebody else asks for this terminal already: try again later")
	case ts.asksOf(tx, c) >= maxAsks:
		return nil, ahp.Conflict("ask: %d questions of this connection wait already", maxAsks)
	}
	q := &question{t: t, c: c, req: c.Req, claim: p.Claim}
	t.asked = q
	t.Meta.Ask = &ahp.Ask{ID: strings.ToLower(rand.Text()[:8]), Who: c.Principal.Name(), Reason: reason}
	q.timer = time.AfterFunc(limit, func() {
		ts.Core.Do(func(tx core.Tx) { q.settle(tx, ahp.AskTimeout) })
	})
	ts.Changed(tx)
	ts.Audit.Did(c.Who(), "ask", p.Channel, "for", claims.Text(p.Claim))
	return nil, jsonrpc.ErrReplied
}

// asksOf counts a connection's open questions.
func (ts *Terminals) asksOf(tx core.Tx, c *requests.Conn) (n int) {
	for _, t := range ts.all {
		if t.asked != nil && t.asked.c == c {
			n++
		}
	}
	return n
}

// settle answers a question, unless it is settled; the empty answer is for one
// whose asker has gone.
func (q *question) settle(tx core.Tx, answer string) {
	if q.t.asked != q {
		return
	}
	q.timer.Stop()
	q.t.asked, q.t.Meta.Ask = nil, nil
	if answer != "" {
		q.c.Out.RPC.Reply(q.req, ahp.AskResult{Answer: answer}, nil) //nolint:errcheck // the connection is ending
	}
	q.t.ts.Changed(tx)
}

// answer is x-tandemux/answer: the person's word. Granting is a claim that the
// person makes for the agent.
func (ts *Terminals) answer(_ context.Context, c *requests.Conn, p ahp.AnswerParams) (any, error) {
	tx := ts.Core.Lock()
	defer tx.Unlock()
	t, err := Find(tx, c.Principal, p.Channel, "answer")
	switch {
	case err != nil:
		return nil, err
	case t.asked == nil || t.Meta.Ask.ID != p.ID:
		return nil, ahp.NotFound("answer: the question is no longer asked")
	case c.Principal.Agent != "" || !t.held().Holds(c.Principal) && !c.Principal.Operates():
		return nil, ahp.PermissionDenied("answer: the terminal is held by %s: only its holder may give it away", t.held().HeldBy())
	}
	q := t.asked
	answer := ahp.AskRefused
	if p.Grant {
		answer = ahp.AskGranted
		t.Flush(tx)
		t.Claim(tx, q.claim, nil, q.c.Principal)
	}
	ts.Audit.Did(c.Who(), "answer", p.Channel, "grant", p.Grant, "to", claims.Text(q.claim))
	q.settle(tx, answer)
	return nil, nil
}

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
