package core

import (
	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/journal"
)

// By says whose action is being applied.
type By struct {
	Link   *Link
	Origin ahp.Origin
}

// Change is an action that is to be applied, and whose it is; nil means the host's own.
type Change struct {
	Action ahp.Action
	By     *By
	// Inner says that it is for the host alone: it has no number, and changes nothing.
	Inner bool
}

// Apply is ApplyAll for one action.
func (tx Tx) Apply(ch *Channel, a ahp.Action, by *By) {
	tx.ApplyAll(ch, []Change{{Action: a, By: by}}, nil)
}

// ApplyAll is the one place where state changes: the actions are numbered and reduced,
// then written to the channel's journal, with marks, and only then told.
func (tx Tx) ApplyAll(ch *Channel, changes []Change, marks []journal.Record) {
	c := tx.c
	if c.fenced {
		return
	}
	// Taken away meanwhile: what follows from an action may be another one.
	scratch := c.frames
	c.frames = nil
	frames, ok := tx.persist(ch, tx.number(ch, scratch[:0], changes), marks)
	if ok {
		tx.deliver(ch, frames)
		tx.renew(ch)
	}
	clear(frames)
	if cap(frames) <= maxFrames {
		c.frames = frames[:0]
	}
}

// maxFrames bounds Core.frames.
const maxFrames = 64

// number numbers and reduces actions, and appends them to frames.
func (tx Tx) number(ch *Channel, frames []frame, changes []Change) []frame {
	for _, c := range changes {
		f := frame{by: c.By, inner: c.Inner, env: ahp.Envelope{Channel: ch.URI, Action: c.Action}}
		if !c.Inner {
			f.env.ServerSeq = tx.NextSeq()
			ch.last = f.env.ServerSeq
			if c.By != nil {
				origin := c.By.Origin
				f.env.Origin = &origin
				ch.Accepted.Note(origin.ClientID, c.By.Link.Client.Since, origin.ClientSeq, ch.last)
			}
			ch.Body.Reduce(c.Action)
		}
		frames = append(frames, f)
	}
	return frames
}

// deliver tells the subscribers what was applied, and the body as it is told. What may
// apply more follows when all of it is.
func (tx Tx) deliver(ch *Channel, frames []frame) {
	w, _ := ch.Body.(Watcher)
	for i := range frames {
		f := &frames[i]
		if !f.inner {
			tx.publish(ch, f)
		}
		if w != nil {
			w.Told(tx, f.env.Action)
		}
	}
	if w != nil {
		for i := range frames {
			w.Follow(tx, frames[i].env.Action)
		}
	}
}

func (tx Tx) publish(ch *Channel, f *frame) {
	ch.log.add(f.env)
	sent := f.by == nil
	for _, l := range ch.links {
		tx.sendFrame(l, f)
		sent = sent || l == f.by.Link
	}
	if !sent { // an echo reaches its sender, subscribed or not (AHP, Actions)
		tx.sendFrame(f.by.Link, f)
	}
	f.release()
}

// Answer sends an action to its sender only: the echo of input, or, with a reason, a
// refusal. It changes no state and is not logged.
func (tx Tx) Answer(uri ahp.URI, a ahp.Action, by *By, reason string) {
	origin := by.Origin
	f := frame{env: ahp.Envelope{
		Channel: uri, Action: a, ServerSeq: tx.NextSeq(), Origin: &origin, RejectionReason: reason,
	}}
	_, f.patient = a.(ahp.TerminalInput)
	tx.sendFrame(by.Link, &f)
}

// Shown is what a principal sees of an action; nil for nothing.
func (tx Tx) Shown(p *auth.Principal, a ahp.Action) ahp.Action {
	shown, _ := tx.c.o.Shown(tx, p, a)
	return shown
}

// Notify sends a notification to a channel's subscribers that may see everything; it is
// neither stored nor replayed (AHP, Subscriptions).
func (tx Tx) Notify(ch *Channel, method string, params any) {
	var encoded [3][]byte
	for _, l := range ch.links {
		if l.Principal.Bounded() {
			continue
		}
		b := encoded[l.Profile]
		if b == nil {
			text, err := ahp.Encode(l.Profile, params)
			if err != nil {
				tx.c.o.Log.Error("encode a notification", "method", method, "err", err)
				return
			}
			b = Notification(method, text)
			encoded[l.Profile] = b
		}
		tx.Send(l, b)
	}
}
