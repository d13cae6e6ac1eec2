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

// Channel is one subscribable state with its replay log and subscribers. The lock guards
// all of it.
type Channel struct {
	URI  ahp.URI // immutable
	Body Body

	// Journal is nil while the next host needs to know nothing of the channel.
	Journal *journal.Journal
	// Accepted are the dispatches that the channel has accepted.
	Accepted record.Accepted

	last   int64 // number of the last action
	log    replayLog
	links  []*Link
	skim   *skim
	broken error // why a crash of the host would lose state; nil when it would not
}

// Body is the state of a channel, and what its kind of channel does with it.
type Body interface {
	// Reduce folds an action into the state.
	Reduce(a ahp.Action)
	// State is the current state, for a snapshot. It shares nothing that changes: the caller
	// may encode it later, without the lock.
	State(tx Tx) any
	// Settle applies what is pending, so that State is up to date.
	Settle(tx Tx)
}

// Private is a body with facts that no action carries and subscribers don't see, but the
// next host must know. A change of them is journalled with the next actions.
type Private interface {
	Body
	// Private returns the facts, which are encoded as JSON.
	Private() any
	// Changed reports once that they have changed.
	Changed() bool
	// Know takes what Private returned in an earlier host.
	Know(raw json.RawMessage) error
}

// Named is a body that the scheme of its URI does not identify: Kind is the key in
// Options.Kinds by which the next host makes it.
type Named interface {
	Body
	Kind() string
}

// Guarded is a body that decides itself who may subscribe to its channel.
type Guarded interface {
	Body
	// Refuses says why a principal may not subscribe, "" when it may.
	Refuses(p *auth.Principal) string
}

// Captured is a body whose state is more than what clients see: a terminal's.
type Captured interface {
	Body
	// Process is the keeper's id of its child process, and the largest journal in bytes.
	Process() (id string, maxJournal int)
	// Capture returns what is pending, and the records of a checkpoint that includes it.
	// The records may use buf's memory. marks are appended to the journal with pending. A
	// bare checkpoint leaves out the history.
	Capture(tx Tx, bare bool, buf *[]byte) (pending []Change, marks, records []journal.Record)
	// Pack compresses a part of the state while the channel is quiet. It is called without
	// the lock, until more is false.
	Pack() (more bool)
	// Share replaces the memory of packed state by saved, the journal's memory, which has
	// the same bytes. With nil, before the journal's memory changes, it copies them back.
	Share(saved []byte)
	// Shape is the state without what Capture returns.
	Shape() any
	// Captured is called when what was captured is in the journal, or was lost because the
	// journal is full.
	Captured(tx Tx)
}

// Watcher is a body that acts when its actions are sent to the subscribers.
type Watcher interface {
	Body
	// Told is called for each action when it is sent. It must not apply actions.
	Told(tx Tx, a ahp.Action)
	// Follow is called for each action after all of them are sent. It may apply more.
	Follow(tx Tx, a ahp.Action)
}

// NewChannel registers a channel under a URI that the caller knows to be free.
func (tx Tx) NewChannel(uri ahp.URI, b Body) *Channel {
	last := tx.c.seq.last
	ch := &Channel{URI: uri, Body: b, last: last, log: replayLog{
		maxBytes: tx.c.o.ReplayBytes,
		maxCount: tx.c.o.ReplayCount,
		floor:    last, // a client that saw an earlier channel of this URI needs the state anew
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

// Channel returns the channel of a URI, nil if there is none.
func (tx Tx) Channel(uri ahp.URI) *Channel { return tx.c.channels[uri] }

// At returns the body of a URI's channel if it is a B.
func At[B Body](tx Tx, uri ahp.URI) (b B, ok bool) {
	if ch := tx.Channel(uri); ch != nil {
		b, ok = ch.Body.(B)
	}
	return b, ok
}

// Channels returns all channels, in no order.
func (tx Tx) Channels() iter.Seq[*Channel] { return maps.Values(tx.c.channels) }

// Last is the number of the channel's last action.
func (ch *Channel) Last() int64 { return ch.last }

// Links are the channel's subscribers.
func (ch *Channel) Links() []*Link { return ch.links }

// Since returns the actions after a number; ok is false when the log no longer has all of
// them. The result is valid until the next action.
func (ch *Channel) Since(seq int64) (es []ahp.Envelope, ok bool) { return ch.log.since(seq) }

// DropReplay empties the replay log: clients that come back get the state instead.
func (tx Tx) DropReplay(ch *Channel) {
	ch.log.entries, ch.log.head, ch.log.bytes = nil, 0, 0
	ch.log.floor = tx.c.seq.last
}

// Missed merges the channels' actions after seq in ascending order. size is roughly their
// bytes. ok is false when a replay log has lost some of them, seq lies in the future, or
// size is above most.
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
			size += actionBytes(e.Action)
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

// Resync closes the connections of a channel's subscribers with a code, so that they come
// back for its state: an action may not have reached some of them.
func (tx Tx) Resync(ch *Channel, code int, reason string) {
	ch.last = tx.NextSeq()
	tx.DropReplay(ch)
	for _, l := range slices.Clone(ch.links) {
		l.Out.Drop(code, reason)
	}
}

// Losing says what a crash of the host would lose, nil for nothing.
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
