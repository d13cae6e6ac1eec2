package panes

import (
	"bytes"
	"slices"

	"tandemux/ahp"
	"tandemux/ui/address"
	"tandemux/ui/layout"
)

// op is a change of the layout. It may be repeated on a newer layout than the one it was made
// for, so it names panes and terminals instead of places.
type op func(layout.Layout) (layout.Layout, error)

// maxRetries is how often operations are tried again if other clients change the layout first.
const maxRetries = 32

// Document is the layout as confirmed by the host, plus this client's operations that the host
// has not answered yet. One dispatch at a time is unanswered; later operations go into the next
// one.
//
//	confirmed ──sent──▶ shown        sent: dispatched, not answered
//	     └────────waiting──┘         waiting: not dispatched yet
type Document struct {
	URI       ahp.URI
	confirmed ahp.LayoutState
	base      layout.Layout // confirmed, decoded
	Shown     layout.Layout // what the interface draws

	sent, waiting []op
	seq           int64  // the unanswered dispatch, 0 for none
	doc           []byte // in that dispatch
	rev           int64  // in that dispatch
	retries       int
	loaded        bool // a snapshot has arrived
	held          bool // nothing is dispatched until Release
}

// Loaded reports whether the document has arrived from the host.
func (d *Document) Loaded() bool { return d.loaded }

// Hold delays the dispatch of operations until Release.
func (d *Document) Hold() { d.held = true }

// Release dispatches the operations since Hold as one. finish gets the layout before and after
// them, and returns what the layout becomes.
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

// apply runs an operation on the shown layout and queues it for the host. It reports whether
// anything changed.
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

// next returns the action to dispatch now; ok is false if there is none. The caller must set seq
// to the dispatch.
func (d *Document) next() (a ahp.LayoutChanged, ok bool) {
	if d.seq != 0 || len(d.waiting) == 0 || !d.loaded || d.held {
		return a, false
	}
	d.sent, d.waiting = append(d.sent, d.waiting...), nil
	a = revision(d.confirmed.Rev+1, d.Shown)
	d.rev, d.doc = a.Rev, a.Doc
	return a, true
}

// revision returns the action that writes a layout. Panes with chats show no terminals.
func revision(rev int64, l layout.Layout) ahp.LayoutChanged {
	if len(l.Tabs) > 0 {
		l.Renamed = ""
	}
	return ahp.LayoutChanged{Rev: rev, Doc: l.Encode(), Terminals: slices.DeleteFunc(l.Terminals(), address.IsChat)}
}

func (d *Document) replace(s ahp.LayoutState) error {
	if d.loaded && d.seq != 0 && bytes.Equal(s.Doc, d.doc) {
		d.sent = nil // the host had it before the connection was lost
	}
	d.waiting = append(d.sent, d.waiting...)
	d.sent, d.seq = nil, 0
	if err := d.confirm(s); err != nil {
		return err
	}
	d.loaded = true
	return nil
}

// refused handles the refusal of the unanswered dispatch. It reports whether the operations will
// be tried again: they are if another client's change came first.
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

// confirm sets the confirmed state and repeats the operations on it.
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

// rebase computes the shown layout. Operations that fail now are dropped.
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
