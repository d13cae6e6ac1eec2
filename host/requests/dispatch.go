package requests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/internal/jsonrpc"
)

// Dispatch is a client's action that is being handled.
type Dispatch struct {
	Conn    *Conn
	By      *core.By
	Channel *core.Channel
	Action  ahp.Action
	// Read is the last serverSeq when the action was read. The client can't have known what came
	// later.
	Read int64
	// Before is the result of Action.Before.
	Before string
}

// dispatchAction handles a client's action (AHP, Actions). The answer is the action's echo, or a
// refusal to the sender only, or nothing if the channel or the action's type is unknown.
func dispatchAction(c *Conn, raw json.RawMessage) {
	p, refusal, ok := c.s.readDispatch(raw)
	if !ok {
		c.Log.Debug("ignore a malformed dispatch")
		return
	}
	c.dispatch(p, refusal)
}

// typed handles keys and pongs without decoding JSON in general. It reports whether msg was one, in
// the form that nearly all clients write.
func (c *Conn) typed(msg []byte) bool {
	if number, is := jsonrpc.Pong(msg); is {
		c.Answered(number)
		return true
	}
	if c.Client == nil {
		return false
	}
	p, ok := wire.ReadInputDispatch(msg)
	if ok {
		defer func() { c.fence(ahp.MethodDispatchAction, recover()) }() //nolint:errcheck // nobody waits for the result
		c.dispatch(p, "")
	}
	return ok
}

// dispatch handles an action that was read. refusal says why it can't be carried out, or is "".
func (c *Conn) dispatch(p ahp.DispatchParams, refusal string) {
	if refusal == "" && !c.dispatches.AllowN(c.s.Now(), 1) {
		refusal = fmt.Sprintf("more than %d actions at once, or %d a second: slow down", c.s.Limits.DispatchBurst, c.s.Limits.DispatchRate)
	}
	read, before := c.s.Core.Reached(), ""
	if r := c.s.Actions[p.Action.ActionType()]; refusal == "" && r.Before != nil && c.Principal.Lacks(r.Scope) == "" {
		before = r.Before(p.Action)
	}
	sent := c.s.Core.Turn(func(tx core.Tx) { refusal = c.decide(tx, p, refusal, read, before) })
	if hold := c.Hold; hold != nil {
		c.Hold = nil
		hold(sent.Flush)
	} else {
		sent.Flush()
	}
	if refusal != "" {
		c.s.Audit.Refused(c.Who(), p.Action.ActionType(), p.Channel, refusal)
	}
}

// decide answers a dispatch. unusable says why it is refused in any case, or is "".
func (c *Conn) decide(tx core.Tx, p ahp.DispatchParams, unusable string, read int64, before string) (refusal string) {
	if c.Left {
		unusable = "this client came back on another connection: what comes on this one is not carried out"
	} else if p.ClientSeq > 0 {
		tx.Numbered(c.Link, p.ClientSeq)
	}
	uri := params.Canonical(p.Channel)
	ch := tx.Channel(uri)
	confined := !c.s.Channels.Reaches(tx, c.Principal, uri)
	if confined { // the same answer whether the channel exists or not
		ch = &core.Channel{URI: uri}
	}
	if ch == nil || p.Action == nil {
		return ""
	}
	known, ok := ahp.ClientDispatchable(p.Action.ActionType())
	if !known {
		return ""
	}
	d := &Dispatch{Conn: c, Channel: ch, Action: p.Action, Read: read, Before: before, By: &core.By{
		Link: c.Link, Origin: ahp.Origin{ClientID: c.Client.ID, ClientSeq: p.ClientSeq},
	}}
	r := c.s.Actions[p.Action.ActionType()]
	switch {
	case p.ClientSeq < 1:
		refusal = "clientSeq counts from 1"
	case unusable != "":
		refusal = unusable
	case confined:
		refusal = c.Principal.OutOfReach()
	case !ok || r.Fits == nil:
		refusal = fmt.Sprintf("%s is the host's to say", p.Action.ActionType())
	case !r.Fits(ch.Body):
		refusal = fmt.Sprintf("%s does not belong on %s", p.Action.ActionType(), ch.URI)
	default:
		return d.carryOut(tx, r)
	}
	tx.Answer(ch.URI, p.Action, d.By, refusal)
	return refusal
}

// carryOut carries out a valid action, unless it was processed before.
func (d *Dispatch) carryOut(tx core.Tx, r Action) (refusal string) {
	seq, print := d.By.Origin.ClientSeq, core.Print(d.Channel.URI, d.Action)
	if before, yes := tx.Processed(d.Conn.Link, seq, print); yes {
		d.repeat(tx, r, before)
		return ""
	}
	switch refusal = d.Conn.Principal.Lacks(r.Scope); {
	case refusal != "":
	case r.Refusal != "":
		refusal = r.Refusal
	default:
		refusal = r.Do(tx, d)
	}
	tx.Decided(d.Conn.Link, seq, print, refusal)
	if refusal != "" || r.Private {
		tx.Answer(d.Channel.URI, d.Action, d.By, refusal)
	}
	return refusal
}

// repeat answers a dispatch that was processed before, for example after a lost connection: with its
// refusal, or with the current state.
func (d *Dispatch) repeat(tx core.Tx, r Action, refusal string) {
	answer := d.Action
	switch {
	case refusal != "":
	case r.Again == nil:
		refusal = fmt.Sprintf("clientSeq %d was processed before", d.By.Origin.ClientSeq)
	default:
		d.Channel.Body.Settle(tx)
		answer = r.Again(d)
	}
	tx.Answer(d.Channel.URI, answer, d.By, refusal)
}

// readDispatch reads a client's action. If the action's type is known and the action is not valid,
// refusal says why. ok is false if it names no action or no clientSeq. The guide of 0.1 has no channel
// but a "terminal" in the action (G22).
func (s *Server) readDispatch(raw json.RawMessage) (p ahp.DispatchParams, refusal string, ok bool) {
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
	w.Channel = cmp.Or(w.Channel, head.Terminal)
	a, err := ahp.DecodeAction(w.Action)
	if err != nil {
		refusal = fmt.Sprintf("%s: %s", head.Type, params.Unfit(err))
		a = ahp.EmptyAction(head.Type) // an action that every client can decode
	} else if missing := lacking(w.Action, s.Actions[head.Type].Needs); missing != "" {
		refusal = fmt.Sprintf("%s: the member %q is missing", head.Type, missing)
	}
	return ahp.DispatchParams{Channel: w.Channel, ClientSeq: w.ClientSeq, Action: a}, refusal, head.Type != ""
}

// lacking returns the first of names that an action lacks or has as null.
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

// leastShare is how many bytes of a reply each terminal may have in any case: a screen without history
// fits.
const leastShare = 16 << 10

// fit makes the snapshots of a reply fit into it, by leaving out history of the terminals with the
// most. So a client that comes back to many terminals gets all of them. The snapshots were taken in
// the same turn.
func (c *Conn) fit(tx core.Tx, taken []*snapshot) {
	sizes := make([]int, len(taken))
	total := 0
	for i, s := range taken {
		sizes[i] = s.size
		total += sizes[i]
	}
	room := c.s.Limits.ReplyBytes / 10 * 9
	if total <= room {
		return
	}
	share := max(leastShare, level(sizes, room))
	for i, s := range taken {
		if sizes[i] <= share {
			continue
		}
		ch := tx.Channel(s.uri)
		tx.Unsubscribe(ch, c.Link) // what this sends is also in the state
		if state, ok := c.s.Channels.StateWithin(tx, ch, share); ok {
			taken[i] = stateOf(tx, ch, state)
		}
		tx.Subscribe(ch, c.Link)
	}
}

// contentSize returns the size of a state in JSON; only the content of terminals is exact.
func contentSize(state any) int {
	const around = 1 << 10
	n := around
	switch s := state.(type) {
	case ahp.RootState:
		n += around * len(s.Terminals)
	case ahp.LayoutState:
		n += len(s.Doc)
	case ahp.TerminalState:
		for _, p := range s.Content {
			n += wire.Size(p.CommandLine) + wire.Size(p.Text()) + 200
		}
	}
	return n
}

// level returns the highest bound for each of sizes with which their sum is at most total.
func level(sizes []int, total int) int {
	left := slices.Sorted(slices.Values(sizes))
	for len(left) > 0 && left[0] <= total/len(left) {
		total -= left[0]
		left = left[1:]
	}
	if len(left) == 0 {
		return math.MaxInt
	}
	return total / len(left)
}
