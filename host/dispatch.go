package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/sessions"
)

// dispatch is one client action being decided.
type dispatch struct {
	c      *conn
	by     core.By
	ch     *core.Channel
	t      *term // nil unless ch is a terminal's
	action ahp.Action
}

// rule is a row of the table of actions that clients may dispatch.
type rule struct {
	scope string
	// fits reports whether the channel is of the action's kind.
	fits func(b core.Body) bool
	// do decides and, when it allows, carries out: it applies the action, or
	// makes it be applied, and returns "". A reason refuses.
	do func(tx core.Tx, d *dispatch) (refusal string)
	// again is the action that answers one processed before: it has the same
	// type and changes nothing. Nil means that a repetition is refused.
	again func(d *dispatch) ahp.Action
	// private echoes go to the sender only and are not logged.
	private bool
}

var rules map[string]rule

func init() {
	rules = map[string]rule{
		ahp.TerminalInput{}.ActionType(): {auth.ScopeInput, isTerm, typeInput, func(d *dispatch) ahp.Action { return d.action }, true},
		ahp.TerminalResized{}.ActionType(): {auth.ScopeInput, isTerm, resize, func(d *dispatch) ahp.Action {
			return ahp.TerminalResized{Cols: d.t.value.Cols, Rows: d.t.value.Rows}
		}, false},
		ahp.TerminalTitleChanged{}.ActionType(): {auth.ScopeInput, isTerm, rename, func(d *dispatch) ahp.Action {
			return ahp.TerminalTitleChanged{Title: d.t.value.Title}
		}, false},
		ahp.TerminalCleared{}.ActionType(): {auth.ScopeInput, isTerm, clearTerminal, nil, false},
		ahp.TerminalClaimed{}.ActionType(): {auth.ScopeClaim, isTerm, claimTerminal, func(d *dispatch) ahp.Action {
			return ahp.TerminalClaimed{Claim: d.t.value.Claim}
		}, false},
		ahp.LayoutChanged{}.ActionType(): {auth.ScopeAdmin, isLayout, changeLayout, nil, false},
		ahp.TerminalSeen{}.ActionType():  {auth.ScopeInput, isActivity, seeTerminal, func(d *dispatch) ahp.Action { return d.action }, false},
		ahp.RootConfigChanged{}.ActionType(): {auth.ScopeAdmin, isRoot, func(core.Tx, *dispatch) string {
			return "this host has no configuration that clients can change"
		}, nil, false},
	}
	for name, r := range sessions.Rules() {
		rules[name] = rule{scope: auth.ScopeSession, fits: r.Fits, do: func(tx core.Tx, d *dispatch) string {
			return r.Do(tx, &sessions.Dispatch{By: &d.by, Channel: d.ch, Action: d.action})
		}}
	}
	maps.Copy(needed, sessions.Needed())
}

func isTerm(b core.Body) bool   { _, ok := b.(*term); return ok }
func isLayout(b core.Body) bool { _, ok := b.(*layout); return ok }
func isRoot(b core.Body) bool   { _, ok := b.(*root); return ok }

// dispatchAction decides a client's action (AHP, Actions). It answers with the
// action's echo, with a refusal to the sender alone, or, when the channel or the
// action's type is unknown, with nothing.
func dispatchAction(c *conn, raw json.RawMessage) {
	p, refusal, ok := readDispatch(raw)
	if !ok {
		c.Log.Debug("ignore a malformed dispatch")
		return
	}
	c.dispatch(p, refusal)
}

// typed is the fast way of a key, of a message as nearly all clients write it; it
// reports whether msg was one.
func (c *conn) typed(msg []byte) bool {
	if c.Client == nil {
		return false
	}
	p, ok := wire.ReadInputDispatch(msg)
	if ok {
		defer func() { c.fence(ahp.MethodDispatchAction, recover()) }() //nolint:errcheck // nobody waits for it
		c.dispatch(p, "")
	}
	return ok
}

// dispatch decides an action that was read; refusal says why it can't be
// carried out, or is empty.
func (c *conn) dispatch(p ahp.DispatchParams, refusal string) {
	if refusal == "" && !c.dispatches.take(c.h.now()) {
		refusal = c.dispatches.tooFast()
	}
	h := c.h
	h.core.Do(func(tx core.Tx) { refusal = c.decide(tx, p, refusal) })
	if refusal != "" {
		h.audit.Refused(c.Who(), p.Action.ActionType(), p.Channel, refusal)
	}
}

// decide answers a dispatch; unusable says why it is refused in any case, or is
// empty.
func (c *conn) decide(tx core.Tx, p ahp.DispatchParams, unusable string) (refusal string) {
	if p.ClientSeq > 0 {
		tx.Numbered(c.Link, p.ClientSeq)
	}
	uri := params.Canonical(p.Channel)
	ch := tx.Channel(uri)
	confined := !reaches(tx, c.Principal, uri)
	if confined { // The same answer whether it is there or not.
		ch = &core.Channel{URI: uri}
	}
	if ch == nil || p.Action == nil {
		return ""
	}
	known, ok := ahp.ClientDispatchable(p.Action.ActionType())
	if !known {
		return ""
	}
	d := &dispatch{c: c, ch: ch, action: p.Action, by: core.By{
		Link: c.Link, Origin: ahp.Origin{ClientID: c.Client.ID, ClientSeq: p.ClientSeq},
	}}
	d.t, _ = ch.Body.(*term)
	r := rules[p.Action.ActionType()]
	switch {
	case p.ClientSeq < 1:
		refusal = "clientSeq counts from 1"
	case unusable != "":
		refusal = unusable
	case confined:
		refusal = c.Principal.OutOfReach()
	case !ok || r.do == nil:
		refusal = fmt.Sprintf("%s is the host's to say", p.Action.ActionType())
	case !r.fits(ch.Body):
		refusal = fmt.Sprintf("%s does not belong on %s", p.Action.ActionType(), ch.URI)
	default:
		return d.carryOut(tx, r)
	}
	tx.Answer(ch.URI, p.Action, &d.by, refusal)
	return refusal
}

// carryOut decides an action that is in order, unless it was decided before.
func (d *dispatch) carryOut(tx core.Tx, r rule) (refusal string) {
	seq, print := d.by.Origin.ClientSeq, core.Print(d.ch.URI, d.action)
	if before, yes := tx.Processed(d.c.Link, seq, print); yes {
		d.repeat(tx, r, before)
		return ""
	}
	if refusal = d.c.Principal.Lacks(r.scope); refusal == "" {
		refusal = r.do(tx, d)
	}
	tx.Decided(d.c.Link, seq, print, refusal)
	if refusal != "" {
		tx.Answer(d.ch.URI, d.action, &d.by, refusal)
	} else if r.private {
		tx.Answer(d.ch.URI, d.action, &d.by, "")
	}
	return refusal
}

// repeat answers a dispatch that was processed before, as after a lost
// connection: with its refusal, or with the state as it is now.
func (d *dispatch) repeat(tx core.Tx, r rule, refusal string) {
	switch {
	case refusal != "":
		tx.Answer(d.ch.URI, d.action, &d.by, refusal)
	case r.again == nil:
		tx.Answer(d.ch.URI, d.action, &d.by, fmt.Sprintf("clientSeq %d was processed before", d.by.Origin.ClientSeq))
	default:
		d.ch.Body.Settle(tx)
		tx.Answer(d.ch.URI, r.again(d), &d.by, "")
	}
}

// needed are the members that an action of a client must have; those that may
// be left out are not among them.
var needed = map[string][]string{
	ahp.TerminalInput{}.ActionType():        {"data"},
	ahp.TerminalResized{}.ActionType():      {"cols", "rows"},
	ahp.TerminalTitleChanged{}.ActionType(): {"title"},
	ahp.TerminalClaimed{}.ActionType():      {"claim"},
	ahp.LayoutChanged{}.ActionType():        {"rev"},
	ahp.TerminalSeen{}.ActionType():         {"terminal"},
}

// readDispatch reads a client's action. One of a known type that cannot be
// carried out as it is comes back with a refusal; ok is false
// for what can't even be refused: it names no action, or no clientSeq. The
// guide of 0.1 has no channel but a "terminal" in the action (G22).
func readDispatch(raw json.RawMessage) (p ahp.DispatchParams, refusal string, ok bool) {
	var w struct {
		Channel   ahp.URI         `json:"channel"`
		ClientSeq int64           `json:"clientSeq"`
		Action    json.RawMessage `json:"action"`
	}
	var head struct {
		Type     string  `json:"type"`
		Terminal ahp.URI `json:"terminal"`
	}
	if ahp.Unmarshal(raw, &w) != nil || ahp.Unmarshal(w.Action, &head) != nil {
		return p, "", false
	}
	if w.Channel == "" {
		w.Channel = head.Terminal
	}
	a, err := ahp.DecodeAction(w.Action)
	if err != nil {
		refusal = fmt.Sprintf("%s: %s", head.Type, params.Unfit(err))
		a = ahp.EmptyAction(head.Type) // which every client can read
	} else if missing := lacking(w.Action, needed[head.Type]); missing != "" {
		refusal = fmt.Sprintf("%s: the member %q is missing", head.Type, missing)
	}
	return ahp.DispatchParams{Channel: w.Channel, ClientSeq: w.ClientSeq, Action: a}, refusal, head.Type != ""
}

// lacking is the first of names that an action does not have, or has as null.
func lacking(action json.RawMessage, names []string) string {
	if len(names) == 0 {
		return ""
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(action, &members) != nil {
		return names[0]
	}
	i := slices.IndexFunc(names, func(n string) bool { m, ok := members[n]; return !ok || string(m) == "null" })
	if i < 0 {
		return ""
	}
	return names[i]
}

// typeInput is terminal/input: to the pty, in the order of arrival, changing
// no state (G24, R15).
func typeInput(tx core.Tx, d *dispatch) string {
	data := d.action.(ahp.TerminalInput).Data
	if len(data) > maxInput {
		return fmt.Sprintf("more than %d bytes of input at once", maxInput)
	}
	follow, refusal := d.t.mayType(d.c.Principal, d.c.Client.ID)
	if refusal != "" {
		return refusal
	}
	if follow {
		d.c.h.audit.Did(d.c.Who(), "claim", d.ch.URI, "from", claimText(d.t.value.Claim), "follows", "keyboard")
		d.t.claim(tx, ahp.Claim{Kind: ahp.ClaimClient, ClientID: d.c.Client.ID}, nil, d.c.Principal)
	}
	d.t.typed = time.Now()
	d.c.h.typist = typist{d.c.Principal.ID, d.t, d.t.typed}
	if err := d.c.h.typeIn(tx, d, data); err != nil {
		return d.c.h.inputRefusal(err)
	}
	return ""
}

func (h *Host) inputRefusal(err error) string {
	for _, known := range inputRefusals {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	h.log.Error("write input", "err", err)
	return "the input could not be written"
}

// resize is terminal/resized: the terminal puts the action into its stream
// where the size took effect (R16, AHP, Terminal Channel).
func resize(tx core.Tx, d *dispatch) string {
	a := d.action.(ahp.TerminalResized)
	if s := d.t.mayShape(d.c.Principal); s != "" {
		return s
	}
	if s := checkSize(a.Cols, a.Rows); s != "" {
		return s
	}
	if d.t.value.Lifecycle.Exited() {
		return "the terminal's process has ended"
	}
	d.t.flush(tx)
	d.t.requests = append(d.t.requests, &d.by)
	if err := d.t.t.Resize(a.Cols, a.Rows); err != nil {
		d.t.requests = d.t.requests[:len(d.t.requests)-1]
		return fmt.Sprintf("the size could not be set: %v", err)
	}
	d.t.flush(tx)
	return ""
}

// clearTerminal is terminal/cleared (G36).
func clearTerminal(tx core.Tx, d *dispatch) string {
	if s := d.t.mayShape(d.c.Principal); s != "" {
		return s
	}
	d.t.flush(tx)
	d.t.requests = append(d.t.requests, &d.by)
	d.t.t.Clear()
	d.t.flush(tx)
	d.c.h.audit.Did(d.c.Who(), "clear", d.ch.URI)
	return ""
}

// claimTerminal is terminal/claimed: a transfer (G5, G32, R17).
func claimTerminal(tx core.Tx, d *dispatch) string {
	to := d.action.(ahp.TerminalClaimed).Claim
	if s := d.t.mayClaim(d.c.Principal, d.c.Client.ID, to); s != "" {
		return s
	}
	d.t.flush(tx)
	d.c.h.audit.Did(d.c.Who(), "claim", d.ch.URI, "from", claimText(d.t.value.Claim), "to", claimText(to))
	d.t.claim(tx, to, &d.by, d.c.Principal)
	return ""
}
