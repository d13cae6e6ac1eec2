package panes

import (
	"bytes"
	"slices"

	"tandemux/ahp"
	"tandemux/ui/address"
	"tandemux/ui/layout"
)

// op is a change of the layout. It may be run again on a newer layout than the
// one it was made for, so it names panes and terminals, not places.
type op func(layout.Layout) (layout.Layout, error)

// maxRetries bounds how often operations are tried again when other clients
// keep changing the layout first.
const maxRetries = 32

// Document is the layout as confirmed by the host, with this client's
// operations on top that the host has not answered yet. One dispatch is under
// way at a time; what is done meanwhile goes with the next.
//
//	confirmed ──sent──▶ shown        sent: dispatched, not answered
//	     └────────waiting──┘         waiting: not dispatched yet
type Document struct {
	URI       ahp.URI
	confirmed ahp.LayoutState
	base      layout.Layout // confirmed, decoded
	Shown     layout.Layout // what the interface draws

	sent, waiting []op
	seq           int64  // of the dispatch under way, 0 for none
	doc           []byte // that it carries
	rev           int64  // that it carries
	retries       int
	loaded        bool // a snapshot has come
	held          bool // nothing is dispatched
}

// Loaded reports whether the host has told the layout.
func (d *Document) Loaded() bool { return d.loaded }

// Hold keeps what is done from the host until Release.
func (d *Document) Hold() { d.held = true }

// Release has what was done since Hold dispatched as one operation. finish is given the
// layout before and after it, and gives what the layout becomes.
func (d *Document) Release(finish func(was, is layout.Layout) layout.Layout) {
	ops := d.waiting
	d.held, d.waiting = false, nil
	d.rebase()
	if len(ops) == 0 {
		return
	}
	_, _ = d.apply(func(l layout.Layout) (layout.Layout, error) { // it can't fail
		was := l
		for _, o := range ops {
			if next, err := o(l); err == nil {
				l = next
			}
		}
		return finish(was, l), nil
	})
}

// apply runs an operation on what is shown and keeps it for the host. It
// reports whether anything changed.
func (d *Document) apply(o op) (bool, error) {
	next, err := o(d.Shown)
	if err != nil {
		return false, err
	}
	if next.Equal(d.Shown) {
		return false, nil
	}
	d.Shown = next
	d.waiting = append(d.waiting, o)
	return true, nil
}

// next gives the action to dispatch now; ok is false when there is none. The number of
// the dispatch is seq from then on.
func (d *Document) next() (a ahp.LayoutChanged, ok bool) {
	if d.seq != 0 || len(d.waiting) == 0 || !d.loaded || d.held {
		return a, false
	}
	d.sent, d.waiting = append(d.sent, d.waiting...), nil
	a = revision(d.confirmed.Rev+1, d.Shown)
	d.rev, d.doc = a.Rev, a.Doc
	return a, true
}

// revision makes a layout one of its channel's. Panes with chats show no terminals.
func revision(rev int64, l layout.Layout) ahp.LayoutChanged {
	if len(l.Tabs) > 0 {
		l.Renamed = ""
	}
	return ahp.LayoutChanged{Rev: rev, Doc: l.Encode(), Terminals: slices.DeleteFunc(l.Terminals(), address.IsChat)}
}

func (d *Document) replace(s ahp.LayoutState) error {
	if d.loaded && d.seq != 0 && bytes.Equal(s.Doc, d.doc) {
		d.sent = nil // it had arrived before the connection was lost
	}
	d.waiting = append(d.sent, d.waiting...)
	d.sent, d.seq = nil, 0
	if err := d.confirm(s); err != nil {
		return err
	}
	d.loaded = true
	return nil
}

// refused takes a refusal of the dispatch under way and reports whether its
// operations will be tried again: they are when another client was first.
func (d *Document) refused() (again bool) {
	d.seq = 0
	again = d.confirmed.Rev >= d.rev && d.retries < maxRetries
	d.retries++
	if again {
		d.waiting = append(d.sent, d.waiting...)
	}
	d.sent = nil
	d.rebase()
	return again
}

// confirm makes a state the confirmed one and puts the operations on top.
func (d *Document) confirm(s ahp.LayoutState) error {
	base := layout.New(address.LayoutName(d.URI))
	if len(s.Doc) > 0 && !bytes.Equal(s.Doc, []byte("null")) {
		var err error
		if base, err = layout.Decode(s.Doc); err != nil {
			return err
		}
	}
	d.confirmed, d.base = s, base
	d.rebase()
	return nil
}

// rebase computes what is shown. Operations that can't be done any more are
// left out.
func (d *Document) rebase() {
	d.Shown = d.base
	for _, ops := range [...]*[]op{&d.sent, &d.waiting} {
		kept := (*ops)[:0:0]
		for _, o := range *ops {
			if next, err := o(d.Shown); err == nil {
				d.Shown = next
				kept = append(kept, o)
			}
		}
		*ops = kept
	}
}
