package questions

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"
	"unicode"

	"tandemux/ahp"
	"tandemux/host/activity"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/claims"
	"tandemux/host/core"
	"tandemux/host/guard"
	"tandemux/host/params"
	"tandemux/host/requests"
	"tandemux/host/terminals"
	"tandemux/internal/jsonrpc"
)

const (
	maxAskReason = 1 << 10
	maxAskTime   = time.Hour
	// maxAsks bounds the questions that wait for a person, of one connection.
	maxAsks = 8
)

// Options are what Questions need of the host.
type Options struct {
	Core      *core.Core
	Audit     *audit.Log
	Activity  *activity.Activity
	Terminals *terminals.Terminals
	// Permit asks a person in a chat whether its agent may run a command, for what is
	// dangerous in it; the answer is one of ahp's.
	Permit func(ctx context.Context, chat ahp.URI, command, what string) (answer string, err error)
}

// Questions are those that wait, one at each terminal. Guarded by the lock.
type Questions struct {
	Options
	asked map[*terminals.Terminal]*question
}

// New makes them; nothing is asked yet.
func New(o Options) *Questions {
	return &Questions{Options: o, asked: map[*terminals.Terminal]*question{}}
}

// Methods is what can be asked of them.
func (qs *Questions) Methods() map[string]requests.Method {
	return map[string]requests.Method{
		ahp.MethodPromote: {Do: requests.Of(qs.promote), Scope: auth.ScopeClaim, Reach: requests.Inside},
		ahp.MethodAsk:     {Do: requests.Of(qs.ask), Scope: auth.ScopeClaim, Reach: requests.Inside},
		ahp.MethodAnswer:  {Do: requests.Of(qs.answer), Scope: auth.ScopeClaim},
	}
}

// Ended gives up the questions of a connection.
func (qs *Questions) Ended(tx core.Tx, c *requests.Conn) {
	for _, q := range qs.asked {
		if q.c == c {
			q.settle(tx, "")
		}
	}
}

// question is one that waits for a person: may this agent have the terminal, or run
// a command?
type question struct {
	qs    *Questions
	t     *terminals.Terminal
	c     *requests.Conn
	req   *jsonrpc.Request
	claim ahp.Claim
	line  string // that is to run, in place of a claim
	panes bool   // for teammates, in place of a claim
	timer *time.Timer
}

// ask answers x-tandemux/ask when the person has. What nobody's hands are on (a
// session's that the caller drives) is given at once.
func (qs *Questions) ask(ctx context.Context, c *requests.Conn, p ahp.AskParams) (any, error) {
	limit := time.Duration(p.TimeoutMs) * time.Millisecond
	reason := strings.TrimSpace(p.Reason)
	switch {
	case p.TimeoutMs < 1 || limit > maxAskTime:
		return nil, ahp.InvalidParams("ask: timeoutMs: use 1 to %d", maxAskTime.Milliseconds())
	case p.Command == "" && !p.Panes && reason == "" || len(reason) > maxAskReason || strings.ContainsFunc(reason, unicode.IsControl):
		return nil, ahp.InvalidParams("ask: reason: want 1 to %d bytes of text in one line: the person reads it", maxAskReason)
	case p.Claim.Kind != ahp.ClaimSession:
		return nil, ahp.InvalidParams("ask: claim: want a session's: a client claims by terminal/claimed")
	}
	owner, err := qs.Terminals.MayClaimNew(c, p.Claim)
	if err != nil {
		return nil, err
	}
	if p.Command != "" {
		return qs.askToRun(ctx, c, p, owner != "")
	}
	if p.Panes {
		return qs.askForPanes(c, p)
	}
	tx := qs.Core.Lock()
	defer tx.Unlock()
	t, err := terminals.Find(tx, c.Principal, p.Channel, "ask")
	if err != nil {
		return nil, err
	}
	switch {
	case t.Value.Lifecycle.Exited():
		return nil, ahp.Conflict("ask: the terminal's process has ended")
	case t.Held().Holds(c.Principal):
		t.Claim(tx, p.Claim, nil, c.Principal)
		return ahp.AskResult{Answer: ahp.AskGranted}, nil
	case t.Value.Claim.Kind == ahp.ClaimSession:
		return nil, ahp.PermissionDenied("ask: the terminal is held by %s: another agent's is not the person's to give", t.Held().HeldBy())
	case qs.asked[t] != nil:
		return nil, ahp.Conflict("ask: somebody else asks for this terminal already: try again later")
	case qs.asksOf(tx, c) >= maxAsks:
		return nil, ahp.Conflict("ask: %d questions of this connection wait already", maxAsks)
	}
	qs.put(tx, t, c, p, reason)
	qs.Audit.Did(c.Who(), "ask", p.Channel, "for", claims.Text(p.Claim))
	return nil, jsonrpc.ErrReplied
}

// put puts a question at a terminal where nothing is asked.
func (qs *Questions) put(tx core.Tx, t *terminals.Terminal, c *requests.Conn, p ahp.AskParams, reason string) {
	q := &question{qs: qs, t: t, c: c, req: c.Req, claim: p.Claim, line: p.Command, panes: p.Panes}
	qs.asked[t] = q
	t.Watch(tx, q)
	t.Meta.Ask = &ahp.Ask{ID: strings.ToLower(rand.Text()[:8]), Who: c.Principal.Name(), Reason: reason, Command: p.Command, Panes: p.Panes}
	q.timer = time.AfterFunc(time.Duration(p.TimeoutMs)*time.Millisecond, func() {
		qs.Core.Do(func(tx core.Tx) { q.settle(tx, ahp.AskTimeout) })
	})
	qs.Terminals.Changed(tx)
}

// askToRun asks whether a command may run: in the chat that the agent works for, else at
// its terminal, or if it has none at one that the person sees.
func (qs *Questions) askToRun(ctx context.Context, c *requests.Conn, p ahp.AskParams, inChat bool) (any, error) {
	var t *terminals.Terminal
	var err, refused error
	qs.Core.Locked(func(tx core.Tx) {
		if p.Channel != "" {
			if t, err = terminals.Find(tx, c.Principal, p.Channel, "ask"); err != nil {
				return
			}
			p.Command = t.Entered(tx, p.Command)
		}
		refused = qs.Terminals.Judge(tx, p.Claim.Session, p.Command)
	})
	var r *guard.Refusal
	switch {
	case err != nil:
		return nil, err
	case !errors.As(refused, &r):
		return ahp.AskResult{Answer: ahp.AskGranted}, nil
	case !r.May:
		return nil, terminals.Denied(refused)
	}
	qs.Audit.Did(c.Who(), "ask", p.Channel, "to run", params.Clip(p.Command))
	if inChat {
		return c.Aside(ctx, func(ctx context.Context) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Duration(p.TimeoutMs)*time.Millisecond)
			defer cancel()
			answer, err := qs.Permit(ctx, p.Claim.Chat, p.Command, r.What)
			if answer == ahp.AskGranted {
				qs.Terminals.Belt.Allow(p.Claim.Session, "", p.Command)
			}
			return ahp.AskResult{Answer: answer}, err
		})
	}
	tx := qs.Core.Lock()
	defer tx.Unlock()
	here, at := qs.personAt(tx, c)
	t = cmp.Or(t, at)
	if !here || t == nil || qs.asked[t] != nil || qs.asksOf(tx, c) >= maxAsks {
		qs.refuse(tx, c, p.Command, "nobody is here to allow it: "+r.What)
		return ahp.AskResult{Answer: ahp.AskNobody}, nil
	}
	qs.put(tx, t, c, p, r.What)
	return nil, jsonrpc.ErrReplied
}

// forPanes is what is asked for where an agent leads others.
const forPanes = "panes for its teammates"

// askForPanes asks, at the terminal that an agent leads from, whether its teammates get
// panes, unless that has been answered.
func (qs *Questions) askForPanes(c *requests.Conn, p ahp.AskParams) (any, error) {
	if !c.Principal.Team {
		return nil, ahp.InvalidParams("ask: panes: this connection is of no agent that leads others (tandemux/agent: team)")
	}
	if answer, err := qs.Terminals.Team(p.Claim.Session); err != nil || answer != "" {
		return ahp.AskResult{Answer: answer}, err
	}
	tx := qs.Core.Lock()
	defer tx.Unlock()
	t, err := terminals.Find(tx, c.Principal, p.Channel, "ask")
	if err != nil {
		return nil, err
	}
	if here, _ := qs.personAt(tx, c); !here {
		qs.refuse(tx, c, forPanes, "nobody is here to allow them")
		return ahp.AskResult{Answer: ahp.AskNobody}, nil
	}
	if qs.asked[t] != nil {
		return nil, ahp.Conflict("ask: something else is asked about this terminal: try again when that is answered")
	}
	qs.put(tx, t, c, p, "")
	qs.Audit.Did(c.Who(), "ask", p.Channel, "for", forPanes)
	return nil, jsonrpc.ErrReplied
}

// refuse tells people what an agent was not allowed.
func (qs *Questions) refuse(tx core.Tx, c *requests.Conn, command, why string) {
	qs.Activity.Refuse(tx, ahp.AgentRefusal{Agent: c.Principal.Name(), Session: c.Principal.Session, What: params.Clip(command), Why: why})
}

// personAt reports whether a person's interface is connected, and gives a terminal, theirs
// or the asker's, of which a question can be asked: one that it shows, else any.
func (qs *Questions) personAt(tx core.Tx, c *requests.Conn) (here bool, best *terminals.Terminal) {
	shown := map[string]bool{}
	for cl := range tx.Clients() {
		for l := range cl.Links() {
			if cl.Owner != auth.Operator.ID || !terminals.IsInterface(l) {
				continue
			}
			here = true
			for ch := range l.Subscriptions() {
				shown[ch.URI] = true
			}
		}
	}
	for _, t := range qs.Terminals.All(tx) {
		if by := t.Held().Holder; by != auth.Operator.ID && by != c.Principal.ID {
			continue
		}
		if qs.asked[t] == nil && !t.Value.Lifecycle.Exited() && (best == nil || shown[t.URI()] && !shown[best.URI()]) {
			best = t
		}
	}
	return here, best
}

// asksOf counts a connection's open questions.
func (qs *Questions) asksOf(tx core.Tx, c *requests.Conn) (n int) {
	for _, q := range qs.asked {
		if q.c == c {
			n++
		}
	}
	return n
}

// Told, Follow and Gone implement terminals.Watcher: a question ends with its terminal.
func (q *question) Told(core.Tx, ahp.Action)   {}
func (q *question) Follow(core.Tx, ahp.Action) {}
func (q *question) Gone(tx core.Tx)            { q.settle(tx, ahp.AskRefused) }

// settle answers a question, unless it is settled; the empty answer is for one
// whose asker has gone.
func (q *question) settle(tx core.Tx, answer string) {
	if q.qs.asked[q.t] != q {
		return
	}
	q.timer.Stop()
	q.t.Unwatch(tx, q)
	delete(q.qs.asked, q.t)
	q.t.Meta.Ask = nil
	if what := cmp.Or(q.line, map[bool]string{true: forPanes}[q.panes]); answer == ahp.AskTimeout && what != "" {
		q.qs.refuse(tx, q.c, what, "nobody has answered")
	}
	if answer != "" {
		q.c.Out.RPC.Reply(q.req, ahp.AskResult{Answer: answer}, nil) //nolint:errcheck // the connection is ending
	}
	q.qs.Terminals.Changed(tx)
}

// answer is x-tandemux/answer: the person's word. Granting is a claim that the
// person makes for the agent.
func (qs *Questions) answer(_ context.Context, c *requests.Conn, p ahp.AnswerParams) (any, error) {
	tx := qs.Core.Lock()
	defer tx.Unlock()
	t, err := terminals.Find(tx, c.Principal, p.Channel, "answer")
	switch {
	case err != nil:
		return nil, err
	case qs.asked[t] == nil || t.Meta.Ask.ID != p.ID:
		return nil, ahp.NotFound("answer: the question is no longer asked")
	case c.Principal.Agent != "" || !c.Principal.Operates() && (t.Meta.Ask.Command != "" || t.Meta.Ask.Panes || !t.Held().Holds(c.Principal)):
		return nil, ahp.PermissionDenied("answer: the terminal is held by %s: only its holder may give it away", t.Held().HeldBy())
	case p.Grant && c.Principal.Unproved() != "":
		return nil, ahp.PermissionDenied("answer: %s", c.Principal.Unproved())
	}
	q := qs.asked[t]
	answer := ahp.AskRefused
	if p.Grant {
		answer = ahp.AskGranted
	}
	switch {
	case q.panes:
		qs.Terminals.Teams.Answer(tx, q.claim.Session, p.Grant)
	case p.Grant && q.line != "":
		qs.Terminals.Belt.Allow(q.claim.Session, "", q.line)
	case p.Grant:
		t.Flush(tx)
		t.Claim(tx, q.claim, nil, q.c.Principal)
	}
	qs.Audit.Did(c.Who(), "answer", p.Channel, "grant", p.Grant, "to", claims.Text(q.claim), "command", params.Clip(q.line), "panes", q.panes)
	q.settle(tx, answer)
	return nil, nil
}

// personID is the client that a terminal is given to while nobody is there; the
// person's next client takes it over (docs/contributing/decisions.md §2).
const personID = "user"

// promote gives a session's terminal to the person (T17, T18, docs/contributing/decisions.md
// §2). For the agent that is final: it no longer holds it.
func (qs *Questions) promote(_ context.Context, c *requests.Conn, p ahp.PromoteParams) (any, error) {
	tx := qs.Core.Lock()
	defer tx.Unlock()
	t, err := terminals.Find(tx, c.Principal, p.Channel, "promote")
	switch {
	case err != nil:
		return nil, err
	case t.Value.Claim.Kind == ahp.ClaimClient:
		return t.Value.Claim, nil
	case !t.Held().Holds(c.Principal) && !c.Principal.Operates():
		return nil, ahp.PermissionDenied("promote: the terminal is held by %s: only its holder may give it away", t.Held().HeldBy())
	}
	t.Flush(tx)
	id, who := personFor(tx, t)
	to := ahp.Claim{Kind: ahp.ClaimClient, ClientID: id}
	qs.Audit.Did(c.Who(), "promote", p.Channel, "from", claims.Text(t.Value.Claim), "to", claims.Text(to))
	t.Claim(tx, to, nil, who)
	return to, nil
}

// personFor is the client that a terminal goes to, and its principal: a person's that
// watches it, else an interface of theirs, else another client that watches it and may type
// and claim, such as a web page's, else whoever comes.
func personFor(tx core.Tx, t *terminals.Terminal) (best string, who *auth.Principal) {
	best, who = personID, auth.Operator
	score := 0
	var seen *core.Client
	for cl := range tx.Clients() {
		if !cl.Here() {
			continue
		}
		n := 0
		p := auth.Operator
		for l := range cl.Links() {
			switch persons := cl.Owner == auth.Operator.ID; {
			case persons && l.Watches(t.URI()):
				n = 4
			case persons && terminals.IsInterface(l):
				n = max(n, 3)
			case l.Principal.Agent == "" && l.Principal.May(auth.ScopeInput) && l.Principal.May(auth.ScopeClaim) && l.Watches(t.URI()):
				n, p = 2, l.Principal
			}
		}
		if n > score || n == score && n > 0 && cl.Seen.After(seen.Seen) {
			best, who, score, seen = cl.ID, p, n, cl
		}
	}
	return best, who
}
