package host

import (
	"context"
	"crypto/rand"
	"strings"
	"time"
	"unicode"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/internal/jsonrpc"
)

const (
	maxAskReason = 1 << 10
	maxAskTime   = time.Hour
	// maxAsks bounds the questions that wait for a person, of one connection.
	maxAsks = 8
)

// ask is a question that waits for a person: may this agent have the terminal?
// Guarded by the lock.
type ask struct {
	t     *term
	c     *requests.Conn
	req   *jsonrpc.Request
	claim ahp.Claim
	timer *time.Timer
}

// askFor answers x-tandemux/ask when the person has. What nobody's hands are on (a
// session's that the caller drives) is given at once.
func askFor(_ context.Context, h *Host, c *requests.Conn, p ahp.AskParams) (any, error) {
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
	tx := h.core.Lock()
	defer tx.Unlock()
	t, ok := termAt(tx, p.Channel)
	if !ok || !reaches(tx, c.Principal, p.Channel) {
		return nil, ahp.NotFound("ask: there is no terminal %q", params.Clip(p.Channel))
	}
	if err := mayClaimNew(c.Principal, c.Client.ID, p.Claim); err != nil {
		return nil, err
	}
	switch {
	case t.value.Lifecycle.Exited():
		return nil, ahp.Conflict("ask: the terminal's process has ended")
	case t.holds(c.Principal):
		t.claim(tx, p.Claim, nil, c.Principal)
		return ahp.AskResult{Answer: ahp.AskGranted}, nil
	case t.value.Claim.Kind == ahp.ClaimSession:
		return nil, ahp.PermissionDenied("ask: the terminal is held by %s: another agent's is not the person's to give", t.holderText())
	case t.asked != nil:
		return nil, ahp.Conflict("ask: somebody else asks for this terminal already: try again later")
	case asksOf(tx, h.terms, c) >= maxAsks:
		return nil, ahp.Conflict("ask: %d questions of this connection wait already", maxAsks)
	}
	q := &ask{t: t, c: c, req: c.Req, claim: p.Claim}
	t.asked = q
	t.meta.Ask = &ahp.Ask{ID: strings.ToLower(rand.Text()[:8]), Who: c.Principal.Name(), Reason: reason}
	q.timer = time.AfterFunc(limit, func() {
		h.core.Do(func(tx core.Tx) { q.settle(tx, ahp.AskTimeout) })
	})
	h.listChanged(tx)
	h.audit.Did(c.Who(), "ask", p.Channel, "for", claimText(p.Claim))
	return nil, jsonrpc.ErrReplied
}

// asksOf counts a connection's open questions.
func asksOf(tx core.Tx, terms []*term, c *requests.Conn) (n int) {
	for _, t := range terms {
		if t.asked != nil && t.asked.c == c {
			n++
		}
	}
	return n
}

// settle answers a question, unless it is settled; the empty answer is for one
// whose asker has gone.
func (q *ask) settle(tx core.Tx, answer string) {
	if q.t.asked != q {
		return
	}
	q.timer.Stop()
	q.t.asked, q.t.meta.Ask = nil, nil
	if answer != "" {
		q.c.Out.RPC.Reply(q.req, ahp.AskResult{Answer: answer}, nil) //nolint:errcheck // the connection is ending
	}
	q.t.h.listChanged(tx)
}

// answerAsk is x-tandemux/answer: the person's word. Granting is a claim that the
// person makes for the agent.
func answerAsk(_ context.Context, h *Host, c *requests.Conn, p ahp.AnswerParams) (any, error) {
	tx := h.core.Lock()
	defer tx.Unlock()
	t, ok := termAt(tx, p.Channel)
	switch {
	case !ok || !reaches(tx, c.Principal, p.Channel):
		return nil, ahp.NotFound("answer: there is no terminal %q", params.Clip(p.Channel))
	case t.asked == nil || t.meta.Ask.ID != p.ID:
		return nil, ahp.NotFound("answer: the question is no longer asked")
	case c.Principal.Agent != "" || !t.holds(c.Principal) && !c.Principal.Operates():
		return nil, ahp.PermissionDenied("answer: the terminal is held by %s: only its holder may give it away", t.holderText())
	}
	q := t.asked
	answer := ahp.AskRefused
	if p.Grant {
		answer = ahp.AskGranted
		t.flush(tx)
		t.claim(tx, q.claim, nil, q.c.Principal)
	}
	h.audit.Did(c.Who(), "answer", p.Channel, "grant", p.Grant, "to", claimText(q.claim))
	q.settle(tx, answer)
	return nil, nil
}
