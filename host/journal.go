package host

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"tandemux/ahp"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
)

// maxJournal bounds the journals of channels that are no terminals, in bytes.
const maxJournal = 1 << 30

// persist writes what was applied, before anybody is told. It gives all that is to
// be told: more than frames, if a checkpoint had to be made, which includes what was
// pending. False says that another host has taken over.
func (h *Host) persist(tx Tx, ch *channel, frames []frame, marks []journal.Record) ([]frame, bool) {
	j := ch.journal
	if j == nil {
		if j = h.beginJournal(tx, ch); j == nil {
			return frames, true
		}
		more, ok := h.checkpoint(tx, ch, false) // includes frames
		return append(frames, more...), ok
	}
	if !j.Open() {
		return frames, false
	}
	records := h.recordsOf(tx, ch, frames, marks)
	err := j.Append(records...)
	clear(records)
	switch {
	case err == nil:
		h.tidyLater(tx, ch)
		return frames, true
	case errors.Is(err, journal.ErrFenced):
		h.superseded(tx, err)
		return nil, false
	case j.Retry.Waits(h.now()): // It did not help just now.
		return frames, true
	}
	more, ok := h.checkpoint(tx, ch, j.Retry.Bare(h.now()))
	return append(frames, more...), ok
}

// renew makes a checkpoint when it is time for one. The caller has told all that was
// applied.
func (h *Host) renew(tx Tx, ch *channel) {
	j := ch.journal
	if !j.Open() || h.fenced || !j.Due() || j.Retry.Waits(h.now()) {
		return
	}
	if more, ok := h.checkpoint(tx, ch, j.Retry.Bare(h.now())); ok {
		h.deliver(tx, ch, more)
	}
}

// recordsOf encodes what was applied, valid until the next call.
func (h *Host) recordsOf(tx Tx, ch *channel, frames []frame, marks []journal.Record) []journal.Record {
	records := h.records[:0]
	for i := range frames {
		f := &frames[i]
		if f.inner {
			continue
		}
		r, err := record.Action(f.env, f.params)
		if err != nil {
			h.log.Error("journal an action", "type", f.env.Action.ActionType(), "err", err)
			continue
		}
		records = append(records, r)
	}
	if p, ok := ch.body.(private); ok && p.changed() {
		if r, err := record.JSON(record.TypePrivate, 0, p.private()); err == nil {
			records = append(records, r)
		}
	}
	records = append(records, marks...)
	h.records = records
	return records
}

// checkpoint captures the channel's state as of now and writes it. It gives what was
// pending and is part of it, to be told. False says that another host has taken
// over.
func (h *Host) checkpoint(tx Tx, ch *channel, bare bool) (more []frame, ok bool) {
	began := h.now()
	var special []journal.Record
	b, is := ch.body.(captured)
	if is {
		buf := checkpointBuffers.Get().(*[]byte)
		defer checkpointBuffers.Put(buf)
		var changes []change
		var marks []journal.Record
		changes, marks, special = b.capture(tx, bare, buf)
		more = h.number(tx, ch, nil, changes)
		// For clients that come back: the checkpoint itself does without.
		if err := ch.journal.Append(h.recordsOf(tx, ch, more, marks)...); errors.Is(err, journal.ErrFenced) {
			h.superseded(tx, err)
			return nil, false
		}
	}
	err := h.writeCheckpoint(tx, ch, special, bare && is)
	switch {
	case errors.Is(err, journal.ErrFenced):
		h.superseded(tx, err)
		return nil, false
	case errors.Is(err, journal.ErrFull) && is && !bare: // It may fit without its history.
		again, ok := h.checkpoint(tx, ch, true)
		return append(more, again...), ok
	}
	if is {
		b.release()
	}
	h.spoilt(tx, ch, ch.journal.Retry.Note(began, h.now(), bare, err))
	h.tidyLater(tx, ch)
	return more, true
}

// checkpointBuffers are what histories are put together in.
var checkpointBuffers = sync.Pool{New: func() any { return new([]byte) }}

// writeCheckpoint writes the channel's state, with what only its kind knows.
func (h *Host) writeCheckpoint(tx Tx, ch *channel, special []journal.Record, bare bool) error {
	records, err := h.state(tx, ch)
	if err != nil {
		return err
	}
	old := ch.journal
	j := h.outgrown(ch, append(records, special...))
	if j == nil {
		return old.Checkpoint(append(records, special...), bare)
	}
	ch.journal = j // The head names the journal that it is in.
	if records, err = h.state(tx, ch); err == nil {
		err = j.Checkpoint(append(records, special...), bare)
	}
	if err != nil {
		ch.journal = old
		j.GiveUp()
		return err
	}
	h.leaveJournal(ch)
	return nil
}

// outgrown gives a larger journal for a channel whose state takes too much of its
// own; nil when there is none.
func (h *Host) outgrown(ch *channel, state []journal.Record) *journal.Journal {
	most, child := maxJournal, ""
	if t, ok := ch.body.(*term); ok {
		most, child = h.limits.JournalBytes, t.proc
	}
	area, yes := ch.journal.Outgrown(state, most)
	if !yes {
		return nil
	}
	return h.journals.Larger(ch.journal, child, ch.uri, area)
}

// leaveJournal leaves a channel's new journal with the keeper.
func (h *Host) leaveJournal(ch *channel) {
	h.journals.Leave(ch.journal, func(left func() error) {
		h.locked(func(tx Tx) {
			if left() != nil {
				h.spoilt(tx, ch, nil)
			}
		})
	})
}

// state is the beginning of a checkpoint.
func (h *Host) state(tx Tx, ch *channel) ([]journal.Record, error) {
	hd := record.Head{Channel: ch.uri, Last: ch.last, Made: ch.journal.Made, Origins: ch.accepted.Values()}
	if t, ok := ch.body.(*term); ok {
		hd.Process = t.proc
	}
	state := func() any {
		if b, ok := ch.body.(captured); ok {
			return b.shape()
		}
		return ch.body.state(tx)
	}()
	first, err := record.JSON(record.TypeChannel, h.seq.last, hd)
	if err != nil {
		return nil, err
	}
	data, err := ahp.Encode(ahp.V1, state)
	if err != nil {
		return nil, fmt.Errorf("journal the state of %s: %w", ch.uri, err)
	}
	records := []journal.Record{first, {Type: record.TypeState, Version: record.Version, Data: data}}
	if p, ok := ch.body.(private); ok {
		r, err := record.JSON(record.TypePrivate, 0, p.private())
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// beginJournal gives a channel its journal, if it is of a kind that a next host knows
// how to make: one that the keeper has, as a rule.
func (h *Host) beginJournal(tx Tx, ch *channel) *journal.Journal {
	if _, known := channelKind(ch.uri); !known || h.dead {
		return nil
	}
	j, kept, err := h.journals.Take()
	if err != nil {
		h.log.Error("journal a channel", "err", err)
		return nil
	}
	if ch.journal = j; !kept {
		h.leaveJournal(ch)
	}
	return j
}

// forgetJournal tells the next host that a channel is no more. A terminal's journal goes
// with its process, later (end).
func (h *Host) forgetJournal(tx Tx, ch *channel) {
	j := ch.journal
	if !j.Open() {
		return
	}
	if err := j.Append(journal.Record{Type: record.TypeRemoved, Version: record.Version}); err != nil {
		h.log.Warn("journal the end of a channel", "channel", ch.uri, "err", err)
	}
	if _, is := ch.body.(*term); is {
		return
	}
	ch.journal = nil
	h.journals.Drop(j)
}

// keep makes a channel outlive the host as it is now, before its first action.
func (h *Host) keep(tx Tx, ch *channel) {
	if ch.journal == nil && h.beginJournal(tx, ch) != nil {
		more, _ := h.checkpoint(tx, ch, false)
		h.deliver(tx, ch, more)
	}
}

// tidyLater sees to it that a journal is tidied once its channel is quiet.
func (h *Host) tidyLater(tx Tx, ch *channel) {
	if h.closing {
		return
	}
	j := ch.journal
	j.Touch(h.now(), func() { h.turn(func(tx Tx) { h.tidy(tx, ch, j) }) })
}

// tidy is Journal.Tidy for a channel that still has the journal.
func (h *Host) tidy(tx Tx, ch *channel, j *journal.Journal) {
	if ch.journal != j || !j.Open() || h.closing {
		return
	}
	j.Tidy(h.now(), func() *journal.Journal {
		more, ok := h.checkpoint(tx, ch, false)
		if !ok {
			return nil
		}
		h.deliver(tx, ch, more)
		return ch.journal
	})
}

// spoilt notes that a channel's journal is not what it should be, or is again.
func (h *Host) spoilt(tx Tx, ch *channel, err error) {
	if err == nil {
		err = ch.journal.Broken
	}
	had := ch.broken != nil
	ch.broken = err
	if had != (err != nil) {
		h.activity.warnSoon(tx)
	}
	switch {
	case err != nil && !had:
		h.log.Error("a crash of the host would lose what is shown here", "channel", ch.uri, "err", err)
	case err == nil && had:
		h.log.Info("what is shown here would survive a crash of the host again", "channel", ch.uri)
	}
}

// warn notes what the host's owner has to see to.
func (h *Host) warn(about string, err error) {
	h.log.Error(about, "err", err)
	tx := h.lock()
	defer tx.unlock()
	if h.troubles == nil {
		h.troubles = map[string]error{}
	}
	h.troubles[about] = err
	h.activity.warnSoon(tx)
}

// warning is what the host's owner has to see to, in a line; "" when all is well.
func (h *Host) warning(tx Tx, tokens error) string {
	err := errors.Join(tokens, h.trouble(tx))
	if err == nil {
		return ""
	}
	return oneLine(err)
}

// oneLine is the text of several errors in one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// losing says what the end of the host would lose, nil when nothing.
func (h *Host) losing(tx Tx) error {
	var first error
	n := 0
	for _, ch := range h.channels {
		if ch.broken != nil {
			n++
			if first == nil {
				first = fmt.Errorf("%s: %w", ch.uri, ch.broken)
			}
		}
	}
	if n == 0 {
		return h.orphaned(tx)
	}
	return errors.Join(h.orphaned(tx), fmt.Errorf("a crash of the host would lose what %d of its channels show: %w", n, first))
}

// trouble is losing, and what was warned of.
func (h *Host) trouble(tx Tx) error {
	all := []error{h.losing(tx)}
	for about, err := range h.troubles {
		all = append(all, fmt.Errorf("%s: %w", about, err))
	}
	return errors.Join(all...)
}
