package host

import (
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/host/journal"
	"tandemux/host/outbox"
)

// dispatched says whose action is being applied; nil means the host's own.
type dispatched struct {
	c      *conn
	origin ahp.Origin
}

// change is an action that is to be applied, and whose it is; nil means the
// host's own.
type change struct {
	action ahp.Action
	by     *dispatched
}

// apply is applyAll for one action.
func (h *Host) apply(tx Tx, ch *channel, a ahp.Action, by *dispatched) {
	h.applyAll(tx, ch, []change{{a, by}}, nil)
}

// applyAll is the one place where state changes: the actions are numbered and
// reduced, then written to the channel's journal, with marks, and only then told.
func (h *Host) applyAll(tx Tx, ch *channel, changes []change, marks []journal.Record) {
	if h.fenced {
		return
	}
	// Taken away meanwhile: what follows from an action may be another one.
	scratch := h.frames
	h.frames = nil
	frames, ok := h.persist(tx, ch, h.number(tx, ch, scratch[:0], changes), marks)
	if ok {
		h.deliver(tx, ch, frames)
		h.renew(tx, ch)
	}
	clear(frames)
	if cap(frames) <= maxFrames {
		h.frames = frames[:0]
	}
}

// maxFrames bounds Host.frames.
const maxFrames = 64

// number numbers and reduces actions, and appends them to frames.
func (h *Host) number(tx Tx, ch *channel, frames []frame, changes []change) []frame {
	for _, c := range changes {
		f := frame{by: c.by, env: ahp.Envelope{Channel: ch.uri, Action: c.action}}
		if told[c.action.ActionType()] != nil {
			f.inner = true
			frames = append(frames, f)
			continue
		}
		f.env.ServerSeq = h.nextSeq(tx)
		ch.last = f.env.ServerSeq
		if c.by != nil {
			origin := c.by.origin
			f.env.Origin = &origin
			ch.accepted.Note(origin.ClientID, c.by.c.client.since, origin.ClientSeq, ch.last)
		}
		ch.body.reduce(c.action)
		frames = append(frames, f)
	}
	return frames
}

// deliver tells the subscribers what was applied, and those who wait for it as it
// comes. What may apply more follows when all of it is told.
func (h *Host) deliver(tx Tx, ch *channel, frames []frame) {
	t, _ := ch.body.(*term)
	for i := range frames {
		f := &frames[i]
		if !f.inner {
			h.publish(tx, ch, f)
		}
		if t != nil {
			t.answerWaits(tx, f.env.Action)
		}
	}
	for i := range frames {
		a := frames[i].env.Action
		if t != nil {
			t.follow(tx, a)
		}
		if listed[a.ActionType()] {
			h.listChanged(tx)
		}
	}
}

func (h *Host) publish(tx Tx, ch *channel, f *frame) {
	ch.log.add(f.env)
	sent := f.by == nil
	for _, c := range ch.subs {
		h.sendFrame(tx, c, f)
		sent = sent || c == f.by.c
	}
	if !sent { // an echo reaches its sender, subscribed or not (AHP, Actions)
		h.sendFrame(tx, f.by.c, f)
	}
	f.release()
}

// answer sends an action to its sender only: the echo of input, or, with a
// reason, a refusal. It changes no state and is not logged.
func (h *Host) answer(tx Tx, ch *channel, a ahp.Action, by *dispatched, reason string) {
	origin := by.origin
	f := frame{env: ahp.Envelope{
		Channel: ch.uri, Action: a, ServerSeq: h.nextSeq(tx), Origin: &origin, RejectionReason: reason,
	}}
	_, f.patient = a.(ahp.TerminalInput)
	h.sendFrame(tx, by.c, &f)
}

// frame is an action on the wire, encoded at most once for each profile.
type frame struct {
	env     ahp.Envelope
	encoded [3][]byte      // by profile
	output  *outbox.Output // what encoded shares, if it is output
	by      *dispatched
	patient bool // nobody waits for it
	inner   bool // it is for the host alone, and has no number
}

const (
	framePrefix = `{"jsonrpc":"2.0","method":"` + ahp.MethodAction + `","params":`
	frameSuffix = `}`
)

func (f *frame) bytes(p ahp.Profile) ([]byte, error) {
	if b := f.encoded[p]; b != nil {
		return b, nil
	}
	if d, ok := f.env.Action.(ahp.TerminalData); ok && f.env.Origin == nil {
		// Output looks the same to everybody.
		var b []byte
		if len(d.Data) < outbox.LeastOutput {
			b = wire.AppendDataEnvelope(nil, f.env.Channel, d.Data, f.env.ServerSeq)
		} else {
			f.output = outbox.NewOutput(f.env.Channel, d.Data, f.env.ServerSeq)
			b = f.output.Bytes()
		}
		for i := range f.encoded {
			f.encoded[i] = b
		}
		return b, nil
	}
	params, err := ahp.Encode(p, f.env)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(framePrefix)+len(params)+len(frameSuffix))
	b = append(append(append(b, framePrefix...), params...), frameSuffix...)
	f.encoded[p] = b
	return b, nil
}

// release gives up the frame's own reference; the frame is not sent any more.
func (f *frame) release() {
	if f.output != nil {
		f.output.Release()
		f.output, f.encoded = nil, [3][]byte{}
	}
}

// params is the envelope as AHP 1 has it.
func (f *frame) params() ([]byte, error) {
	b, err := f.bytes(ahp.V1)
	if err != nil {
		return nil, err
	}
	return b[len(framePrefix) : len(b)-len(frameSuffix)], nil
}

func (h *Host) sendFrame(tx Tx, c *conn, f *frame) {
	if c.principal.Bounded() {
		f = &frame{env: h.shownAction(tx, c.principal, f.env)}
	}
	if !ahp.Speaks(c.profile, f.env.Action.ActionType()) || !h.shownTo(c.principal, f.env.Action) {
		return
	}
	b, err := f.bytes(c.profile)
	if err != nil {
		h.log.Error("encode action", "type", f.env.Action.ActionType(), "seq", f.env.ServerSeq, "err", err)
		return
	}
	switch {
	case f.patient:
		h.outbox.SendLater(c.out, b)
	case f.output != nil:
		h.outbox.SendOutput(c.out, f.output)
	default:
		h.outbox.Send(c.out, b)
	}
}

// listed are the actions that change what the root list says (AHP, Terminal
// Channel).
var listed = map[string]bool{
	ahp.TerminalTitleChanged{}.ActionType(): true,
	ahp.TerminalClaimed{}.ActionType():      true,
	ahp.TerminalExited{}.ActionType():       true,
	ahp.TerminalCwdChanged{}.ActionType():   true,

	ahp.TerminalCommandExecuted{}.ActionType(): true,
	ahp.TerminalCommandFinished{}.ActionType(): true,

	ahp.LayoutChanged{}.ActionType(): true,
}

// listing paces root/terminalsChanged.
type listing struct {
	last  time.Time
	timer *time.Timer // armed while a list is due
	held  bool        // not all terminals are known yet
}

// listChanged sends the list of terminals now or, when the last one is recent,
// later.
func (h *Host) listChanged(tx Tx) {
	if h.list.timer != nil || h.list.held {
		return
	}
	wait := listInterval - time.Since(h.list.last)
	if wait <= 0 {
		h.sendList(tx)
		return
	}
	h.listAfter(wait)
}

func (h *Host) listAfter(wait time.Duration) {
	h.list.timer = time.AfterFunc(wait, func() {
		tx := h.lock()
		defer tx.unlock()
		h.sendDueList(tx)
	})
}

// comesOrGoes is called when a client's first connection has come or its last has
// gone, perhaps in the middle of a handshake: what it holds is listed anew, a
// little later.
func (h *Host) comesOrGoes(tx Tx, cl *client) {
	if slices.ContainsFunc(h.terms, func(t *term) bool { return t.value.Claim.ClientID == cl.id }) {
		h.listSoon(tx)
	}
}

// listSoon is listChanged where nothing may be sent now.
func (h *Host) listSoon(tx Tx) {
	if h.list.timer == nil && !h.list.held && !h.closing {
		h.listAfter(listInterval)
	}
}

// sendDueList sends the list if one is due.
func (h *Host) sendDueList(tx Tx) {
	if h.list.timer == nil {
		return
	}
	h.list.timer.Stop()
	h.list.timer = nil
	h.sendList(tx)
}

func (h *Host) sendList(tx Tx) {
	now := h.infos(tx)
	if sameInfos(now, h.root.value.Terminals) {
		return
	}
	h.enroll(tx)
	h.list.last = time.Now()
	h.apply(tx, h.root.ch, ahp.RootTerminalsChanged{Terminals: now}, nil)
}
