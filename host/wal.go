package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/host/journal"
)

const (
	// smallArea is what journals without a pty begin with; a state that fills
	// more than half of one gets a journal of growth times its size.
	smallArea = 1 << 20
	maxArea   = 1 << 30
	growth    = 3
	// landingSlots is how many reads of 64 KiB a terminal's journal has room for;
	// memory is used for those that are.
	landingSlots = 32
	// tidyAfter is how long a channel must be quiet for a bare checkpoint to be
	// made whole, trimAfter for memory that only a busy time needed to be given
	// back.
	tidyAfter = time.Second
	trimAfter = 30 * time.Second
	// trimBytes is how much must have been appended for that to be worth while.
	trimBytes = 256 << 10
	// retryAfter is the least time between two attempts to make a checkpoint that
	// does not fit; they take a retryShare of the time at most.
	retryAfter = time.Second
	retryShare = 50
	// storeTime bounds the keeper's answer.
	storeTime = 10 * time.Second
	// keptSpares are journals that the keeper has already, so that a channel can
	// be journalled at once, under the lock.
	keptSpares = 3
	spareName  = "spare"
)

// wal is a channel's write-ahead log: what the channel's subscribers are told is
// there before. It is guarded by h.mu.
type wal struct {
	name string // the keeper's, of the file
	j    *journal.Journal
	made int64 // see head.Made
	// former is the journal that this one replaces, written to as well until the
	// keeper has this one.
	former *wal
	// landing is the journal that a terminal's pty is read into, where this one has
	// replaced it for all else; nil when this one is it.
	landing *wal

	bare    bool      // the latest checkpoint has no history
	again   time.Time // not to be tried before, after an attempt that failed
	full    time.Time // not to be tried with the history before, as it did not fit
	used    time.Time // when something was appended last
	bytes   int       // appended since the memory was trimmed
	timer   *time.Timer
	records []journal.Record // reused
	// broken says why a crash of the host would lose something, nil when it
	// would not.
	broken error
}

// newWAL makes a journal, which the keeper does not have yet. An error says that
// it will not survive the host; the wal can be used all the same.
func (h *Host) newWAL(about string, area, slots int) (*wal, error) {
	w := &wal{name: strings.ToLower(rand.Text()) + " " + about, made: h.now().UnixNano() + h.made.Add(1)}
	j, err := journal.New(h.cfg.Runtime, journal.Options{Name: about, Area: area, Slots: slots})
	if j == nil {
		return nil, err
	}
	w.j, w.broken = j, err
	return w, err
}

// takeFile takes the file out of a journal. The mapping stays; a descriptor for
// each terminal would be too many.
func (w *wal) takeFile() *os.File {
	f := w.j.File
	w.j.File = nil
	return f
}

// handFile gives a journal's file to the keeper, and closes it. It waits for the
// keeper, so not under h.mu.
func (h *Host) handFile(w *wal, f *os.File) error {
	if f == nil {
		return w.broken
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	if err := h.keeper().Store(ctx, w.name, f); err != nil {
		return fmt.Errorf("leave a journal with the keeper: %w", err)
	}
	return nil
}

// discard has the keeper forget journals.
func (h *Host) discard(names ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	for _, name := range names {
		if err := h.keeper().Discard(ctx, name); err != nil && h.keeper().Err() == nil && !h.isClosing() {
			h.log.Warn("discard a journal", "err", err)
		}
	}
}

// close lets go of the memory, and gives the names under which the keeper has what
// belongs together. Nothing may use it any more.
func (w *wal) close() (names []string) {
	if w == nil {
		return nil
	}
	names = []string{w.name}
	if w.j == nil {
		return names
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.former != w.landing {
		names = append(names, w.former.close()...)
	}
	names = append(names, w.landing.close()...)
	w.j.Close() //nolint:errcheck // the keeper has it, or nobody needs it
	w.j = nil
	return names
}

// landingOf is what the terminal's pty is read into.
func (w *wal) landingOf() *journal.Landing {
	if w.landing != nil {
		return w.landing.j.Landing
	}
	return w.j.Landing
}

// append writes records, all or none.
func (w *wal) append(records []journal.Record) error {
	if w.former != nil {
		if err := w.former.append(records); errors.Is(err, journal.ErrFenced) {
			return err
		}
	}
	before := w.j.Log.Room()
	err := w.j.Log.Append(records...)
	w.bytes += max(0, before-w.j.Log.Room())
	return err
}

// due reports that it is time for a checkpoint.
func (w *wal) due(now time.Time) bool {
	return w.j.Log.Due() && !now.Before(w.again)
}

// checkpoint writes a state, and makes room for a log behind it.
func (w *wal) checkpoint(records []journal.Record, bare bool) error {
	c, err := w.j.Log.Begin(!bare)
	if err != nil {
		return err
	}
	for _, r := range records {
		if err = c.Add(r); err != nil {
			c.Abort()
			return err
		}
	}
	if err = c.Commit(); err != nil {
		return err
	}
	w.bare = bare
	return nil
}

// persist writes what was applied, before anybody is told. It gives all that is to
// be told: more than frames, if a checkpoint had to be made, which includes what was
// pending. False says that another host has taken over.
func (h *Host) persist(tx Tx, ch *channel, frames []frame, marks []journal.Record) ([]frame, bool) {
	w := ch.wal
	if w == nil {
		if w = h.beginWAL(tx, ch); w == nil {
			return frames, true
		}
		more, ok := h.checkpoint(tx, ch, false) // includes frames
		return append(frames, more...), ok
	}
	if w.j == nil {
		return frames, false
	}
	records := h.recordsOf(tx, ch, frames, marks)
	err := w.append(records)
	clear(records)
	switch {
	case err == nil:
		h.tidyLater(tx, ch)
		return frames, true
	case errors.Is(err, journal.ErrFenced):
		h.superseded(tx, err)
		return nil, false
	case h.now().Before(w.again): // It did not help just now.
		return frames, true
	}
	more, ok := h.checkpoint(tx, ch, h.now().Before(w.full))
	return append(frames, more...), ok
}

// renew makes a checkpoint when it is time for one. The caller has told all that was
// applied.
func (h *Host) renew(tx Tx, ch *channel) {
	w := ch.wal
	if w == nil || w.j == nil || h.fenced || !w.due(h.now()) {
		return
	}
	if more, ok := h.checkpoint(tx, ch, h.now().Before(w.full)); ok {
		h.deliver(tx, ch, more)
	}
}

// recordsOf encodes what was applied, valid until the next call.
func (h *Host) recordsOf(tx Tx, ch *channel, frames []frame, marks []journal.Record) []journal.Record {
	records := ch.wal.records[:0]
	for i := range frames {
		f := &frames[i]
		if f.inner {
			continue
		}
		r, err := actionRecord(f)
		if err != nil {
			h.log.Error("journal an action", "type", f.env.Action.ActionType(), "err", err)
			continue
		}
		records = append(records, r)
	}
	if p, ok := ch.body.(private); ok && p.changed() {
		if r, err := newRecord(recPrivate, 0, p.private()); err == nil {
			records = append(records, r)
		}
	}
	records = append(records, marks...)
	ch.wal.records = records
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
		if err := ch.wal.append(h.recordsOf(tx, ch, more, marks)); errors.Is(err, journal.ErrFenced) {
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
	end := h.now()
	pause := max(retryAfter, retryShare*end.Sub(began))
	switch {
	case err == nil && bare:
		ch.wal.full, err = end.Add(pause), errBare
	case err != nil:
		ch.wal.again = end.Add(pause)
	}
	h.spoilt(tx, ch, err)
	h.tidyLater(tx, ch)
	return more, true
}

// errBare says that a terminal's checkpoint has no history, as there is no room.
var errBare = errors.New("the history is larger than its journal may be")

// checkpointBuffers are what histories are put together in.
var checkpointBuffers = sync.Pool{New: func() any { return new([]byte) }}

// writeCheckpoint writes the channel's state, with what only its kind knows.
func (h *Host) writeCheckpoint(tx Tx, ch *channel, special []journal.Record, bare bool) error {
	records, err := h.state(tx, ch)
	if err != nil {
		return err
	}
	old := ch.wal
	w := h.outgrown(tx, ch, append(records, special...))
	if w == old {
		return w.checkpoint(append(records, special...), bare)
	}
	ch.wal = w // The head names the journal that it is in.
	if records, err = h.state(tx, ch); err == nil {
		err = w.checkpoint(append(records, special...), bare)
	}
	if err != nil {
		ch.wal, w.former, w.landing = old, nil, nil
		w.close()
		return err
	}
	h.settle(tx, ch, w)
	return nil
}

// state is the beginning of a checkpoint.
func (h *Host) state(tx Tx, ch *channel) ([]journal.Record, error) {
	hd := head{Channel: ch.uri, Last: ch.last, Made: ch.wal.made, Origins: ch.accepted.values()}
	if t, ok := ch.body.(*term); ok {
		hd.Process = t.proc
	}
	state := func() any {
		if b, ok := ch.body.(captured); ok {
			return b.shape()
		}
		return ch.body.state(tx)
	}()
	first, err := newRecord(recChannel, h.seq.last, hd)
	if err != nil {
		return nil, err
	}
	data, err := ahp.Encode(ahp.V1, state)
	if err != nil {
		return nil, fmt.Errorf("journal the state of %s: %w", ch.uri, err)
	}
	records := []journal.Record{first, {Type: recState, Version: recordVersion, Data: data}}
	if p, ok := ch.body.(private); ok {
		r, err := newRecord(recPrivate, 0, p.private())
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// outgrown gives a larger journal for a channel whose state takes more than half
// of its own. A terminal's pty is still read into the one before.
func (h *Host) outgrown(tx Tx, ch *channel, records []journal.Record) *wal {
	size := 0
	for _, r := range records {
		size += len(r.Data) + 128
	}
	old := ch.wal
	area := old.j.Log.Area()
	t, is := ch.body.(*term)
	most := maxArea
	if is {
		most = h.limits.JournalBytes
	}
	if size < area/2 || area >= most || old.former != nil {
		return old
	}
	w, err := h.newWAL(ch.uri, min(most, growth*size), 0)
	if w == nil || is && err != nil {
		w.close()
		h.log.Error("journal a larger state", "channel", ch.uri, "err", err)
		return old
	}
	if w.former = old; is {
		w.name = t.proc + " " + w.name // By which the next host knows whose it is.
		if w.landing = old.landing; w.landing == nil {
			w.landing = old
		}
	}
	return w
}

// settle leaves a channel's new journal with the keeper, in the background, and
// then lets go of the one before.
func (h *Host) settle(tx Tx, ch *channel, w *wal) {
	f := w.takeFile() // The channel, and with it the journal, may go meanwhile.
	h.ending.Add(1)
	go func() {
		defer h.ending.Done()
		err := h.handFile(w, f)
		tx := h.lock()
		if w.j == nil {
			tx.unlock()
			h.discard(w.name)
			return
		}
		var names []string
		switch old := w.former; {
		case err != nil: // The one before stays, as good as it is.
			w.broken = err
			h.spoilt(tx, ch, nil)
		case old == nil:
		case old == w.landing:
			w.former = nil
			old.j.Log.Retire()
		default:
			w.former, old.landing = nil, nil
			names = old.close()
		}
		tx.unlock()
		h.discard(names...)
	}()
}

// beginWAL gives a channel its journal, if it is of a kind that a next host knows
// how to make: one that the keeper has, as a rule.
func (h *Host) beginWAL(tx Tx, ch *channel) *wal {
	if _, known := channelKind(ch.uri); !known || h.dead {
		return nil
	}
	if n := len(h.spares); n > 0 {
		ch.wal = h.spares[n-1]
		h.spares = h.spares[:n-1]
	} else {
		w, err := h.newWAL(spareName, smallArea, 0)
		if w == nil {
			h.log.Error("journal a channel", "err", err)
			return nil
		}
		ch.wal = w
		h.settle(tx, ch, w)
	}
	h.refill(tx)
	return ch.wal
}

// refill makes spare journals in the background.
func (h *Host) refill(tx Tx) {
	if h.refilling || h.closing {
		return
	}
	h.refilling = true
	h.ending.Add(1)
	go func() {
		defer h.ending.Done()
		for {
			tx := h.lock()
			if h.closing || len(h.spares) >= keptSpares {
				h.refilling = false
				tx.unlock()
				return
			}
			tx.unlock()
			k := h.keeper()
			w, err := h.newSpare()
			tx = h.lock()
			if k != h.keeper() { // it may be with the one before
				w.close()
				tx.unlock()
				continue
			}
			if err != nil {
				w.close()
				h.refilling = false
				tx.unlock()
				if k.Err() == nil { // else it is tried again with another keeper
					h.warn("spare journals", err)
				}
				return
			}
			h.spares = append(h.spares, w)
			tx.unlock()
		}
	}()
}

// forgetWAL tells the next host that a channel is no more. A terminal's journal goes
// with its process, later (end).
func (h *Host) forgetWAL(tx Tx, ch *channel) {
	w := ch.wal
	if w == nil || w.j == nil {
		return
	}
	if err := w.append([]journal.Record{{Type: recRemoved, Version: recordVersion}}); err != nil {
		h.log.Warn("journal the end of a channel", "channel", ch.uri, "err", err)
	}
	if _, is := ch.body.(*term); is {
		return
	}
	ch.wal = nil
	h.drop(tx, w)
}

// keep makes a channel outlive the host as it is now, before its first action.
func (tx Tx) keep(ch *channel) {
	if ch.wal == nil && tx.beginWAL(tx, ch) != nil {
		more, _ := tx.checkpoint(tx, ch, false)
		tx.deliver(tx, ch, more)
	}
}

// tidyLater sees to it that a journal is tidied once its channel is quiet.
// There is no timer while nothing happens.
func (h *Host) tidyLater(tx Tx, ch *channel) {
	w := ch.wal
	w.used = h.now()
	if w.timer != nil || h.closing {
		return
	}
	w.timer = time.AfterFunc(tidyAfter, func() { h.tidy(ch, w) })
}

// tidy makes a checkpoint whole that was made in haste, and gives memory back
// when the channel has been quiet for long.
func (h *Host) tidy(ch *channel, w *wal) {
	h.turn(func(tx Tx) {
		if ch.wal != w || w.j == nil || h.closing {
			return
		}
		quiet := h.now().Sub(w.used)
		if quiet < tidyAfter {
			w.timer.Reset(tidyAfter)
			return
		}
		big := w.bytes > trimBytes
		if w.bare || quiet >= trimAfter && big {
			more, ok := h.checkpoint(tx, ch, false)
			if w = ch.wal; !ok || w.j == nil {
				return
			}
			h.deliver(tx, ch, more)
		}
		switch {
		case quiet >= trimAfter:
			if big {
				w.j.Log.Trim()
				w.bytes = 0
			}
			w.timer = nil
		case big:
			w.timer.Reset(trimAfter - quiet)
		default:
			w.timer = nil
		}
	})
}

// spoilt notes that a channel's journal is not what it should be, or is again.
func (h *Host) spoilt(tx Tx, ch *channel, err error) {
	if err == nil {
		err = ch.wal.broken
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
func (tx Tx) warning(tokens error) string {
	err := errors.Join(tokens, tx.trouble())
	if err == nil {
		return ""
	}
	return oneLine(err)
}

// oneLine is the text of several errors in one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// losing says what the end of the host would lose, nil when nothing.
func (tx Tx) losing() error {
	var first error
	n := 0
	for _, ch := range tx.channels {
		if ch.broken != nil {
			n++
			if first == nil {
				first = fmt.Errorf("%s: %w", ch.uri, ch.broken)
			}
		}
	}
	if n == 0 {
		return tx.orphaned()
	}
	return errors.Join(tx.orphaned(), fmt.Errorf("a crash of the host would lose what %d of its channels show: %w", n, first))
}

// trouble is losing, and what was warned of.
func (tx Tx) trouble() error {
	all := []error{tx.losing()}
	for about, err := range tx.troubles {
		all = append(all, fmt.Errorf("%s: %w", about, err))
	}
	return errors.Join(all...)
}
