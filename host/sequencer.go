package host

import (
	"time"

	"cotty/ahp"
)

// dispatched says whose action is being applied; nil means the host's own.
type dispatched struct {
	c      *conn
	origin ahp.Origin
}

// apply is the one place where state changes. The caller holds h.mu.
func (h *Host) apply(ch *channel, a ahp.Action, by *dispatched) {
	env := ahp.Envelope{Channel: ch.uri, Action: a, ServerSeq: h.nextSeq()}
	if by != nil {
		origin := by.origin
		env.Origin = &origin
	}
	ch.body.reduce(a)
	ch.log.add(env)
	f := frame{env: env}
	sent := by == nil
	for _, c := range ch.subs {
		h.sendFrame(c, &f)
		sent = sent || c == by.c
	}
	if !sent { // an echo reaches its sender, subscribed or not (ahp.md §4.2)
		h.sendFrame(by.c, &f)
	}
	if listed[a.ActionType()] {
		h.listChanged()
	}
}

// answer sends an action to its sender only: the echo of input, or, with a
// reason, a refusal. It changes no state and is not logged.
func (h *Host) answer(ch *channel, a ahp.Action, by *dispatched, reason string) {
	origin := by.origin
	f := frame{env: ahp.Envelope{
		Channel: ch.uri, Action: a, ServerSeq: h.nextSeq(), Origin: &origin, RejectionReason: reason,
	}}
	_, f.patient = a.(ahp.TerminalInput)
	h.sendFrame(by.c, &f)
}

// frame is an action on the wire, encoded at most once for each profile.
type frame struct {
	env     ahp.Envelope
	encoded [3][]byte // by profile
	patient bool      // nobody waits for it
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
		b := ahp.AppendDataEnvelope(nil, f.env.Channel, d.Data, f.env.ServerSeq)
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

func (h *Host) sendFrame(c *conn, f *frame) {
	if c.principal.terminal != "" {
		f = &frame{env: h.shownAction(c.principal, f.env)}
	}
	b, err := f.bytes(c.profile)
	if err != nil {
		h.log.Error("encode action", "type", f.env.Action.ActionType(), "seq", f.env.ServerSeq, "err", err)
		return
	}
	if f.patient {
		c.later(b)
	} else {
		c.send(b)
	}
}

// listed are the actions that change what the root list says (ahp.md §7.1).
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
}

// listChanged sends the list of terminals now or, when the last one is recent,
// later. The caller holds h.mu.
func (h *Host) listChanged() {
	if h.list.timer != nil {
		return
	}
	wait := listInterval - time.Since(h.list.last)
	if wait <= 0 {
		h.sendList()
		return
	}
	h.list.timer = time.AfterFunc(wait, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.sendDueList()
	})
}

// sendDueList sends the list if one is due. The caller holds h.mu.
func (h *Host) sendDueList() {
	if h.list.timer == nil {
		return
	}
	h.list.timer.Stop()
	h.list.timer = nil
	h.sendList()
}

func (h *Host) sendList() {
	now := h.infos()
	if sameInfos(now, h.root.value.Terminals) {
		return
	}
	h.list.last = time.Now()
	h.apply(h.root.ch, ahp.RootTerminalsChanged{Terminals: now}, nil)
}
