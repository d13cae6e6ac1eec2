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

// maxJournal bounds the journals of channels that are no terminals, in bytes.
const maxJournal = 1 << 30

// persist writes what was applied, before anybody is told. It gives all that is to
// be told: more than frames, if a checkpoint had to be made, which includes what was
// pending. False says that another host has taken over.
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
	case j.Retry.Waits(tx.c.o.Now()): // It did not help just now.
		return frames, true
	}
	more, ok := tx.checkpoint(ch, j.Retry.Bare(tx.c.o.Now()))
	return append(frames, more...), ok
}

// renew makes a checkpoint when it is time for one. The caller has told all that was
// applied.
func (tx Tx) renew(ch *Channel) {
	j := ch.Journal
	if !j.Open() || tx.c.fenced || !j.Due() || j.Retry.Waits(tx.c.o.Now()) {
		return
	}
	tx.MakeRoom(ch)
}

// Room is how many bytes of records may be applied to a channel at once without a
// checkpoint in between, which would be of no use if that is all.
func (tx Tx) Room(ch *Channel) int {
	if j := ch.Journal; j.Open() && !j.Retry.Waits(tx.c.o.Now()) {
		return j.Room()
	}
	return math.MaxInt
}

// MakeRoom makes a checkpoint, and tells what was pending and is part of it.
func (tx Tx) MakeRoom(ch *Channel) {
	if more, ok := tx.checkpoint(ch, ch.Journal.Retry.Bare(tx.c.o.Now())); ok {
		tx.deliver(ch, more)
	}
}

// recordsOf encodes what was applied, valid until the next call.
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

// checkpoint captures the channel's state as of now and writes it. It gives what was
// pending and is part of it, to be told. False says that another host has taken
// over.
func (tx Tx) checkpoint(ch *Channel, bare bool) (more []frame, ok bool) {
	began := tx.c.o.Now()
	var special []journal.Record
	b, is := ch.Body.(Captured)
	if is {
		var changes []Change
		var marks []journal.Record
		changes, marks, special = b.Capture(tx, bare, &tx.c.captured)
		more = tx.number(ch, nil, changes)
		// For clients that come back: the checkpoint itself does without.
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
	case errors.Is(err, journal.ErrFull) && is && !bare: // It may fit without its history.
		again, ok := tx.checkpoint(ch, true)
		return append(more, again...), ok
	}
	if is {
		b.Captured(tx)
	}
	tx.spoilt(ch, ch.Journal.Retry.Note(began, tx.c.o.Now(), bare, err))
	tx.tidyLater(ch)
	return more, true
}

// writeCheckpoint writes the channel's state, with what only its kind knows.
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
	ch.Journal = j // The head names the journal that it is in.
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

// outgrown gives a larger journal for a channel whose state takes too much of its
// own; nil when there is none.
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

// leaveJournal leaves a channel's new journal with the keeper.
func (tx Tx) leaveJournal(ch *Channel) {
	tx.c.o.Journals.Leave(ch.Journal, func(left func() error) {
		tx.c.Locked(func(tx Tx) {
			if left() != nil {
				tx.spoilt(ch, nil)
			}
		})
	})
}

// state is the beginning of a checkpoint.
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

// private gives the facts that the next host must know and clients don't see: the body's,
// or the clients, which are in the root's journal.
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

// beginJournal gives a channel its journal, if it is of a kind that a next host knows
// how to make: one that the keeper has, as a rule.
func (tx Tx) beginJournal(ch *Channel) *journal.Journal {
	_, named := ch.Body.(Named)
	if !named && tx.kind(ch.URI, "") == nil || tx.c.closed {
		return nil
	}
	j, kept, err := tx.c.o.Journals.Take()
	if err != nil {
		tx.c.o.Log.Error("journal a channel", "err", err)
		return nil
	}
	if ch.Journal = j; !kept {
		tx.leaveJournal(ch)
	}
	return j
}

// forgetJournal tells the next host that a channel is no more. A terminal's journal goes
// with its process, later (end).
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

// Keep makes a channel outlive the host as it is now, before its first action.
func (tx Tx) Keep(ch *Channel) {
	if ch.Journal == nil && tx.beginJournal(ch) != nil {
		tx.Checkpoint(ch)
	}
}

// tidyLater sees to it that a journal is tidied once its channel is quiet; what it holds
// is packed before.
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

// restReplay is what the replay log of a channel at rest has, in bytes: whoever comes back
// and missed more than that of a flood is given the state.
const restReplay = 64 << 10

// rest gives back the memory that a channel needed while it was busy.
func rest(tx Tx, ch *Channel) {
	ch.log.keep(restReplay)
	ch.log.compact()
	tx.c.captured = nil
	memtrim.Idle()
}

// tidy is Journal.Tidy for a channel that still has the journal.
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

// spoilt notes that a channel's journal is not what it should be, or is again.
func (tx Tx) spoilt(ch *Channel, err error) {
	if err == nil {
		err = ch.Journal.Broken
	}
	had := ch.broken != nil
	ch.broken = err
	if had != (err != nil) {
		tx.c.o.Spoilt(tx)
	}
	switch {
	case err != nil && !had:
		tx.c.o.Log.Error("a crash of the host would lose what is shown here", "channel", ch.URI, "err", err)
	case err == nil && had:
		tx.c.o.Log.Info("what is shown here would survive a crash of the host again", "channel", ch.URI)
	}
}
