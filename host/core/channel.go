package core

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
)

// Channel is one subscribable state with its replay log and subscribers. All of it is
// guarded by the lock.
type Channel struct {
	URI  ahp.URI // immutable
	Body Body

	// Journal is nil while there is nothing that a next host needs to know.
	Journal *journal.Journal
	// Accepted are the dispatches that the channel has accepted.
	Accepted record.Accepted

	last   int64 // the number of the last action
	log    replayLog
	links  []*Link
	skim   *skim
	broken error // why a crash would lose something, nil when it would not
}

// Body is what a channel's kind adds.
type Body interface {
	// Reduce folds an action into the state.
	Reduce(a ahp.Action)
	// State is the state as of now, for a snapshot. It may be encoded later, without the
	// lock: it shares nothing that changes.
	State(tx Tx) any
	// Settle brings in what is pending, so that State is up to date.
	Settle(tx Tx)
}

// Private is a body with facts that are in no action and that subscribers don't see, but
// the next host must know. They are journalled with the action that they changed with.
type Private interface {
	Body
	// Private gives them; they become JSON.
	Private() any
	// Changed reports, once, that they have changed.
	Changed() bool
	// Know takes what Private gave in an earlier host.
	Know(raw json.RawMessage) error
}

// Named is a body whose channel's URI may have any scheme: it says by which of
// Options.Kinds the next host makes it.
type Named interface {
	Body
	Kind() string
}

// Guarded is a body whose channel not everybody may watch who may watch others.
type Guarded interface {
	Body
	// Refuses says why a principal may not, "" when it may.
	Refuses(p *auth.Principal) string
}

// Captured is a body whose state is more than what clients see: a terminal's.
type Captured interface {
	Body
	// Process is the keeper's id of its child, and how large a journal may be.
	Process() (id string, maxJournal int)
	// Capture gives what is pending and, of the same instant, the records of a checkpoint
	// that includes it, which may lie in buf; marks go into the log with what was pending.
	// A bare one leaves out what takes room.
	Capture(tx Tx, bare bool, buf *[]byte) (pending []Change, marks, records []journal.Record)
	// Pack has a part of the state take less memory while the channel is quiet, without the
	// lock; false says that nothing is left to do.
	Pack() (more bool)
	// Share has what is packed lie in the journal's memory, which has the same; with nil, before that
	// memory changes, in its own again.
	Share(saved []byte)
	// Shape is the state without what Capture gives.
	Shape() any
	// Captured says that what was captured is in the journal, or lost to a full one.
	Captured(tx Tx)
}

// Watcher is a body with something to do when its actions are told.
type Watcher interface {
	Body
	// Told is called for each action when it is told. It applies nothing.
	Told(tx Tx, a ahp.Action)
	// Follow is called for each when all of them are told. It may apply more.
	Follow(tx Tx, a ahp.Action)
}

// NewChannel registers a channel under a URI that the caller knows to be free.
func (tx Tx) NewChannel(uri ahp.URI, b Body) *Channel {
	last := tx.c.seq.last
	ch := &Channel{URI: uri, Body: b, last: last, log: replayLog{
		maxBytes: tx.c.o.ReplayBytes,
		maxCount: tx.c.o.ReplayCount,
		floor:    last, // whoever saw an earlier channel of this URI has a stale state
	}}
	tx.c.channels[uri] = ch
	return ch
}

// RemoveChannel ends all subscriptions and forgets the channel, in the next host too.
func (tx Tx) RemoveChannel(ch *Channel) {
	tx.forgetJournal(ch)
	for _, l := range ch.links {
		delete(l.subs, ch.URI)
	}
	ch.links = nil
	ch.endSkim()
	delete(tx.c.channels, ch.URI)
}

// Channel finds one; nil if there is none.
func (tx Tx) Channel(uri ahp.URI) *Channel { return tx.c.channels[uri] }

// At finds the body of a kind that the channel of a URI has.
func At[B Body](tx Tx, uri ahp.URI) (b B, ok bool) {
	if ch := tx.Channel(uri); ch != nil {
		b, ok = ch.Body.(B)
	}
	return b, ok
}

// Channels gives all, in no order.
func (tx Tx) Channels() iter.Seq[*Channel] { return maps.Values(tx.c.channels) }

// Last is the number of the channel's last action.
func (ch *Channel) Last() int64 { return ch.last }

// Links are the channel's subscribers.
func (ch *Channel) Links() []*Link { return ch.links }

// Since gives the actions after a number; ok is false when some of them are gone. It is
// valid until the next action.
func (ch *Channel) Since(seq int64) (es []ahp.Envelope, ok bool) { return ch.log.since(seq) }

// DropReplay forgets the actions that clients may have missed: they are given states.
func (tx Tx) DropReplay(ch *Channel) {
	ch.log.entries, ch.log.head, ch.log.bytes = nil, 0, 0
	ch.log.floor = tx.c.seq.last
}

// Missed merges the channels' actions after seq in ascending order; ok is false when one
// has a hole, seq lies in the future, or it is more than most bytes. size is about how many.
func (tx Tx) Missed(channels []*Channel, seq int64, most int) (all []ahp.Envelope, size int, ok bool) {
	if seq > tx.c.seq.last {
		return nil, 0, false
	}
	var parts [][]ahp.Envelope
	n := 0
	for _, ch := range channels {
		es, ok := ch.log.since(seq)
		if !ok {
			return nil, 0, false
		}
		for _, e := range es {
			size += weight(e.Action)
		}
		n += len(es)
		parts = append(parts, es)
	}
	if size > most {
		return nil, 0, false
	}
	all = make([]ahp.Envelope, 0, n)
	for len(all) < n {
		next := -1
		for i, p := range parts {
			if len(p) > 0 && (next < 0 || p[0].ServerSeq < parts[next][0].ServerSeq) {
				next = i
			}
		}
		all = append(all, parts[next][0])
		parts[next] = parts[next][1:]
	}
	return all, size, true
}

// Resync has everybody who watches a channel come back for its state, closed with a code:
// an action may not have reached some of them.
func (tx Tx) Resync(ch *Channel, code int, reason string) {
	ch.last = tx.NextSeq()
	tx.DropReplay(ch)
	for _, l := range slices.Clone(ch.links) {
		l.Out.Drop(code, reason)
	}
}

// Losing says what the end of the host would lose, nil when nothing.
func (tx Tx) Losing() error {
	var first error
	n := 0
	for _, ch := range tx.c.channels {
		if ch.broken != nil {
			n++
			if first == nil {
				first = fmt.Errorf("%s: %w", ch.URI, ch.broken)
			}
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("a crash of the host would lose what %d of its channels show: %w", n, first)
}
