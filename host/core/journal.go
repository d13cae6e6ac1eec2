package core

import (
	"errors"
	"fmt"
	"math"

	"tandemux/ahp"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
	"tandemux/internal/memtrim"
)

// maxJournal bounds the journal of a channel other than a terminal, in bytes.
const maxJournal = 1 << 30

// persist writes applied actions to the journal before they are sent, and returns all
// actions to send. These are more than frames if it had to make a checkpoint, which
// applies what was pending. False says that another host has taken over.
func (tx Tx) persist(ch *Channel, frames []frame, marks []journal.Record) ([]frame, bool) {
	j := ch.Journal
	if j == nil {
		if j = tx.beginJournal(ch); j == nil {
			return frames, true
		}
		more, ok := tx.checkpoint(ch, false) // includes frames
		return append(frames, more...), ok
	}
	if !j.Open() {
		return frames, false
	}
	records := tx.recordsOf(ch, frames, marks)
	err := j.Append(records...)
	clear(records)
	switch {
	case err == nil:
		tx.tidyLater(ch)
		return frames, true
	case errors.Is(err, journal.ErrFenced):
		tx.Supersede(err)
		return nil, false
	case j.Retry.Waits(tx.c.o.Now()): // A checkpoint has failed a moment ago.
		return frames, true
	}
	more, ok := tx.checkpoint(ch, j.Retry.Bare(tx.c.o.Now()))
	return append(frames, more...), ok
}

// renew makes a checkpoint when one is due. The caller has sent all applied actions.
func (tx Tx) renew(ch *Channel) {
	j := ch.Journal
	if !j.Open() || tx.c.fenced || !j.Due() || j.Retry.Waits(tx.c.o.Now()) {
		return
	}
	tx.MakeRoom(ch)
}

// Room is how many bytes of records fit into the channel's journal before a checkpoint is
// due.
func (tx Tx) Room(ch *Channel) int {
	if j := ch.Journal; j.Open() && !j.Retry.Waits(tx.c.o.Now()) {
		return j.Room()
	}
	return math.MaxInt
}

// MakeRoom makes a checkpoint, and sends what was pending and is part of it.
func (tx Tx) MakeRoom(ch *Channel) {
	if more, ok := tx.checkpoint(ch, ch.Journal.Retry.Bare(tx.c.o.Now())); ok {
		tx.deliver(ch, more)
	}
}

// recordsOf encodes applied actions. The result is valid until the next call.
func (tx Tx) recordsOf(ch *Channel, frames []frame, marks []journal.Record) []journal.Record {
	records := tx.c.records[:0]
	for i := range frames {
		f := &frames[i]
		if f.inner {
			continue
		}
		r, err := record.Action(f.env, f.params)
		if err != nil {
			tx.c.o.Log.Error("journal an action", "type", f.env.Action.ActionType(), "err", err)
			continue
		}
		records = append(records, r)
	}
	if p, ok := ch.Body.(Private); ok && p.Changed() {
		if r, err := record.JSON(record.TypePrivate, 0, p.Private()); err == nil {
			records = append(records, r)
		}
	}
	records = append(records, marks...)
	tx.c.records = records
	return records
}

// checkpoint captures the channel's current state and writes it. It returns what was
// pending and is part of it, for the caller to send. False says that another host has
// taken over.
func (tx Tx) checkpoint(ch *Channel, bare bool) (more []frame, ok bool) {
	began := tx.c.o.Now()
	var special []journal.Record
	b, is := ch.Body.(Captured)
	if is {
		var changes []Change
		var marks []journal.Record
		changes, marks, special = b.Capture(tx, bare, &tx.c.captured)
		more = tx.number(ch, nil, changes)
		// The replay log needs these actions; the checkpoint itself includes them.
		if err := ch.Journal.Append(tx.recordsOf(ch, more, marks)...); errors.Is(err, journal.ErrFenced) {
			tx.Supersede(err)
			return nil, false
		}
	}
	err := tx.writeCheckpoint(ch, special, bare && is)
	switch {
	case errors.Is(err, journal.ErrFenced):
		tx.Supersede(err)
		return nil, false
	case errors.Is(err, journal.ErrFull) && is && !bare: // it may fit without the history
		again, ok := tx.checkpoint(ch, true)
		return append(more, again...), ok
	}
	if is {
		b.Captured(tx)
	}
	tx.noteBroken(ch, ch.Journal.Retry.Note(began, tx.c.o.Now(), bare, err))
	tx.tidyLater(ch)
	return more, true
}

// writeCheckpoint writes the channel's state and the records of its Capture.
func (tx Tx) writeCheckpoint(ch *Channel, special []journal.Record, bare bool) error {
	records, err := tx.state(ch)
	if err != nil {
		return err
	}
	old := ch.Journal
	j := tx.outgrown(ch, append(records, special...))
	if j == nil {
		return old.Checkpoint(append(records, special...), bare)
	}
	ch.Journal = j // the head names the journal that it is in
	if records, err = tx.state(ch); err == nil {
		err = j.Checkpoint(append(records, special...), bare)
	}
	if err != nil {
		ch.Journal = old
		j.GiveUp()
		return err
	}
	tx.leaveJournal(ch)
	return nil
}

// outgrown returns a larger journal for a channel whose state fills too much of its own;
// nil when it does not, or there is none.
func (tx Tx) outgrown(ch *Channel, state []journal.Record) *journal.Journal {
	most, child := maxJournal, ""
	if b, ok := ch.Body.(Captured); ok {
		child, most = b.Process()
	}
	area, yes := ch.Journal.Outgrown(state, most)
	if !yes {
		return nil
	}
	return tx.c.o.Journals.Larger(ch.Journal, child, ch.URI, area)
}

// leaveJournal hands a channel's new journal to the keeper, in the background.
func (tx Tx) leaveJournal(ch *Channel) {
	tx.c.o.Journals.HandOver(ch.Journal, func(left func() error) {
		tx.c.Locked(func(tx Tx) {
			if left() != nil {
				tx.noteBroken(ch, nil)
			}
		})
	})
}

// state is the first part of a checkpoint, which every channel has.
func (tx Tx) state(ch *Channel) ([]journal.Record, error) {
	hd := record.Head{Channel: ch.URI, Last: ch.last, Made: ch.Journal.Made, Origins: ch.Accepted.Values()}
	switch b := ch.Body.(type) {
	case Captured:
		hd.Process, _ = b.Process()
	case Named:
		hd.Kind = b.Kind()
	}
	state := func() any {
		if b, ok := ch.Body.(Captured); ok {
			return b.Shape()
		}
		return ch.Body.State(tx)
	}()
	first, err := record.JSON(record.TypeChannel, tx.c.seq.last, hd)
	if err != nil {
		return nil, err
	}
	data, err := ahp.Encode(ahp.V1, state)
	if err != nil {
		return nil, fmt.Errorf("journal the state of %s: %w", ch.URI, err)
	}
	records := []journal.Record{first, {Type: record.TypeState, Version: record.Version, Data: data}}
	if facts, some := tx.private(ch); some {
		r, err := record.JSON(record.TypePrivate, 0, facts)
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// private is the facts that the next host must know and clients don't see: the body's, or
// for the root channel the clients.
func (tx Tx) private(ch *Channel) (facts any, some bool) {
	if ch.URI == ahp.RootURI {
		return tx.clientRecords(), true
	}
	p, some := ch.Body.(Private)
	if some {
		facts = p.Private()
	}
	return facts, some
}

// Checkpoint writes the channel's state to its journal, if it has one.
func (tx Tx) Checkpoint(ch *Channel) {
	if ch.Journal != nil {
		more, _ := tx.checkpoint(ch, false)
		tx.deliver(ch, more)
	}
}

// beginJournal gives a channel a journal if the next host knows how to make a channel of
// its kind. Mostly it is one that the keeper has already.
func (tx Tx) beginJournal(ch *Channel) *journal.Journal {
	_, named := ch.Body.(Named)
	if !named && tx.kind(ch.URI, "") == nil || tx.c.closed {
		return nil
	}
	j, kept, err := tx.c.o.Journals.Get()
	if err != nil {
		tx.c.o.Log.Error("journal a channel", "err", err)
		return nil
	}
	if ch.Journal = j; !kept {
		tx.leaveJournal(ch)
	}
	return j
}

// forgetJournal records for the next host that a channel was removed. A terminal's journal
// is dropped later, with its process.
func (tx Tx) forgetJournal(ch *Channel) {
	j := ch.Journal
	if !j.Open() {
		return
	}
	if err := j.Append(journal.Record{Type: record.TypeRemoved, Version: record.Version}); err != nil {
		tx.c.o.Log.Warn("journal the end of a channel", "channel", ch.URI, "err", err)
	}
	if _, is := ch.Body.(Captured); is {
		return
	}
	ch.Journal = nil
	tx.c.o.Journals.Drop(j)
}

// Keep makes a channel outlive the host from now on, not only from its first action.
func (tx Tx) Keep(ch *Channel) {
	if ch.Journal == nil && tx.beginJournal(ch) != nil {
		tx.Checkpoint(ch)
	}
}

// tidyLater schedules tidy for when the channel is quiet, and before it Pack.
func (tx Tx) tidyLater(ch *Channel) {
	if tx.c.closing || !ch.Journal.Open() {
		return
	}
	j, c := ch.Journal, tx.c
	j.Touch(c.o.Now(), func() {
		rests := false
		c.Locked(func(Tx) { rests = j.Rests(c.o.Now()) })
		if b, is := ch.Body.(Captured); is && rests {
			for b.Pack() {
			}
		}
		c.Do(func(tx Tx) { tx.tidy(ch, j) })
	})
}

// restReplay is what the replay log of a quiet channel keeps, in bytes. A client that comes
// back and missed more gets the state.
const restReplay = 64 << 10

// rest frees the memory that a channel needed while it was busy.
func rest(tx Tx, ch *Channel) {
	ch.log.keep(restReplay)
	ch.log.compact()
	tx.c.captured = nil
	memtrim.Idle()
}

// tidy calls Journal.Tidy if the channel still has the journal.
func (tx Tx) tidy(ch *Channel, j *journal.Journal) {
	if ch.Journal != j || !j.Open() || tx.c.closing {
		return
	}
	j.Tidy(tx.c.o.Now(), func() *journal.Journal {
		more, ok := tx.checkpoint(ch, false)
		if !ok {
			return nil
		}
		tx.deliver(ch, more)
		if b, is := ch.Body.(Captured); is {
			ch.Journal.Lend(b.Share)
		}
		rest(tx, ch)
		return ch.Journal
	})
}

// noteBroken notes whether a channel's journal is broken, and reports a change.
func (tx Tx) noteBroken(ch *Channel, err error) {
	if err == nil {
		err = ch.Journal.Broken
	}
	had := ch.broken != nil
	ch.broken = err
	if had != (err != nil) {
		tx.c.o.LosingChanged(tx)
	}
	switch {
	case err != nil && !had:
		tx.c.o.Log.Error("a crash of the host would lose what is shown here", "channel", ch.URI, "err", err)
	case err == nil && had:
		tx.c.o.Log.Info("what is shown here would survive a crash of the host again", "channel", ch.URI)
	}
}
