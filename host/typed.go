package host

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"tandemux/ahp"
	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/host/terminal"
)

// This file sees to it that what is typed reaches a program once though the host
// may die: an input is in the terminal's journal before it is on its way, the
// landing and the spool say how much of all that was typed the pty has taken
// (journal.Spool), and a next host types the rest. Of an input that was accepted
// and of which nothing had come that far, nobody has the bytes but its client: it
// counts as not accepted, and is typed when the client sends it again, which it
// does as it has no answer. Where the system can't say how much a pty has taken,
// what was begun and not done may have arrived or not: who typed it is told so
// when asking again.

// inDoubt is what such a client is told.
const inDoubt = "the host ended while this was being typed: it may not have arrived"

// atOnce is the most that a terminal writes before Input returns, in bytes.
const atOnce = 4 << 10

// maxDoubts bounds the doubtful inputs that a terminal remembers.
const maxDoubts = 64

// noteInput journals an input that is about to be typed. Its bytes are only kept
// where they have to wait: most are in the pty a moment later, and may be a
// password.
func (tx Tx) noteInput(d *dispatch, data string) (in typedInput, noted bool) {
	t := d.t
	if t.ch.wal == nil {
		return in, false
	}
	in = typedInput{origin: d.by.origin, size: uint64(len(data)), end: t.t.Accepted() + uint64(len(data))}
	if len(data) > atOnce || t.t.Waits() {
		in.data = data
	}
	t.prune()
	t.queue = append(t.queue, in) // Before: a checkpoint may be made of it.
	t.ch.accepted.note(in.origin.ClientID, d.c.client.since, in.origin.ClientSeq, tx.seq.last)
	tx.appendInput(tx, t, in)
	return in, true
}

func (h *Host) appendInput(tx Tx, t *term, in typedInput) { h.appendTyped(tx, t, recInput, in) }

func (h *Host) appendTyped(tx Tx, t *term, kind string, in typedInput) {
	h.typing = appendInput(h.typing[:0], in)
	t.record[0] = journal.Record{Type: kind, Version: recordVersion, Seq: h.seq.last, Data: h.typing}
	h.applyAll(tx, t.ch, nil, t.record[:])
}

// noteKeys journals what is about to be typed for nobody's dispatch. It gives where
// it ends.
func (h *Host) noteKeys(tx Tx, t *term, keys string) (end uint64) {
	in := typedInput{size: uint64(len(keys)), end: t.t.Accepted() + uint64(len(keys)), data: keys}
	if t.ch.wal != nil {
		t.prune()
		t.queue = append(t.queue, in)
		h.appendInput(tx, t, in)
	}
	return in.end
}

// unqueue forgets an input that was not typed after all.
func (t *term) unqueue(end uint64) {
	t.queue = slices.DeleteFunc(t.queue, func(in typedInput) bool { return in.end == end })
}

// typeIn types for a dispatch.
func (tx Tx) typeIn(d *dispatch, data string) error {
	in, noted := tx.noteInput(d, data)
	if tx.fenced {
		return terminal.ErrClosed
	}
	t := d.t
	err := t.t.Input(data)
	switch {
	case !noted:
	case err != nil: // Nothing of it was taken: should the refusal be lost, it may be sent again.
		t.unqueue(in.end)
		t.ch.accepted.remove(in.origin.ClientID, in.origin.ClientSeq)
		in.data = ""
		tx.appendTyped(tx, t, recRefused, in)
	case t.t.Written() >= in.end:
		t.unqueue(in.end)
	case in.data == "": // The pty did not take all of it after all.
		in.data = data
		t.unqueue(in.end)
		t.queue = append(t.queue, in)
		tx.appendInput(tx, t, in)
	}
	return err
}

// prune forgets inputs that are written, and old doubts.
func (t *term) prune() {
	done := t.t.Written()
	doubts := 0
	for _, in := range t.queue {
		if in.end == 0 {
			doubts++
		}
	}
	t.queue = slices.DeleteFunc(t.queue, func(in typedInput) bool {
		if in.end == 0 {
			doubts--
			return doubts >= maxDoubts
		}
		return in.end <= done
	})
}

// queueRecord says which inputs are not written, in place of all that was noted
// before; those that end at 0 are doubtful.
func (t *term) queueRecord() journal.Record {
	t.prune()
	var data, one []byte
	for _, in := range t.queue {
		one = appendInput(one[:0], in)
		data = append(binary.AppendUvarint(data, uint64(len(one))), one...)
	}
	return journal.Record{Type: recQueue, Version: recordVersion, Data: data}
}

func readQueue(data []byte) (all []typedInput, err error) {
	for len(data) > 0 {
		n, used := binary.Uvarint(data)
		if used <= 0 || n > uint64(len(data)-used) {
			return nil, errors.New("a queue of inputs is cut short")
		}
		in, err := readInput(data[used : used+int(n)])
		if err != nil {
			return nil, err
		}
		all, data = append(all, in), data[used+int(n):]
	}
	return all, nil
}

// retype makes an adopted terminal type what the last host had not begun to, and
// remembers whose input may be lost. Nothing of it runs yet.
func (t *term) retype(waiting []typedInput, doubtful []ahp.Origin) error {
	for _, o := range doubtful {
		t.queue = append(t.queue, typedInput{origin: o})
	}
	for _, in := range waiting {
		if err := t.t.Retype(in.data); err != nil {
			return err
		}
		in.size, in.end = uint64(len(in.data)), t.t.Accepted()
		t.queue = append(t.queue, in)
	}
	return nil
}

// noteQueue journals what an adopted terminal is about to type.
func (h *Host) noteQueue(tx Tx, t *term) {
	if t.ch.wal != nil {
		h.applyAll(tx, t.ch, nil, []journal.Record{t.queueRecord()})
	}
}

// spoolName is the keeper's, of the file that hosts write to ptys from.
const spoolName = "typing"

// openSpool reads what the last host was typing when it died. The caller holds no
// lock.
func (h *Host) openSpool(ctx context.Context, files []keeper.FileInfo) {
	if slices.ContainsFunc(files, func(f keeper.FileInfo) bool { return f.Name == spoolName }) {
		file, err := h.keeper().Fetch(ctx, spoolName)
		if err == nil {
			if sp, ok, rerr := journal.ReadSpool(file); ok {
				h.spooled = sp
			} else {
				err = rerr
			}
			file.Close()
		}
		if err != nil {
			h.log.Warn("look at what was being typed", "err", err)
		}
	}
	var err error
	if h.spool, err = journal.NewSpool(h.cfg.Runtime); err != nil {
		h.log.Warn("keys that are being typed may be lost with the host", "err", err)
	}
}

// storeSpool leaves the spool with the keeper, in place of the last host's: what
// that had not typed is in the journals by now.
func (h *Host) storeSpool(ctx context.Context) {
	if h.spool == nil {
		return
	}
	if err := h.keeper().Store(ctx, spoolName, h.spool.File()); err != nil {
		h.log.Warn("keys that are being typed may be lost with the host", "err", err)
	}
}

// takeTyped says how much of what was typed into a terminal its pty has taken, and
// what was being written behind that.
func (h *Host) takeTyped(proc string, l *journal.Landing) (begun, done uint64, rest string) {
	begun, done = l.Typed()
	if sp := h.spooled; sp.Owner == proc && sp.At >= done {
		begun, done, rest = sp.At, sp.At, sp.Rest
		l.SetTyped(done)
		l.SetTyping(done)
	}
	return max(begun, done), done, rest
}

// typed gives what is to be typed again, of what the terminal's journal has and
// of how far the last host had come, and whose input may be lost. rest is what was
// being written behind done.
func (m *memory) typed(begun, done uint64, rest string) (waiting []typedInput, doubtful []ahp.Origin) {
	var all []typedInput
	m.undone = map[ahp.Origin]bool{}
	for _, rec := range m.special {
		if rec.Type == recQueue && rec.Version <= recordVersion {
			all, _ = readQueue(rec.Data) // A damaged one is none.
		}
	}
	for _, e := range m.log {
		switch e.kind {
		case recQueue:
			all = e.queue
		case recRefused:
			m.undone[e.input.origin] = true
			all = slices.DeleteFunc(all, func(in typedInput) bool { return in.origin == e.input.origin && in.end == e.input.end })
		case recInput:
			if n := len(all); n > 0 && all[n-1].end == e.input.end && all[n-1].origin == e.input.origin { // the same with its bytes
				all = all[:n-1]
			}
			all = append(all, e.input)
		}
	}
	for _, in := range all {
		start := in.end - in.size
		if in.data == "" && in.end > done && start >= done && begun == done && in.end > 0 {
			if in.end-done > uint64(len(rest)) { // The client alone has it, and sends it again.
				m.undone[in.origin] = true
				continue
			}
		}
		if behind := done + uint64(len(rest)); in.data == "" && in.end > done && in.end <= behind && begun == done {
			in.data = rest[max(start, done)-done : in.end-done]
			waiting = append(waiting, in)
			continue
		}
		lost := in.end == 0 || begun > done && in.end > done && start < begun || in.data == "" && in.end > begun
		if lost && in.origin.ClientID != "" {
			doubtful = append(doubtful, in.origin)
		}
		if in.data != "" && in.end > begun {
			in.data = in.data[max(start, begun)-start:]
			waiting = append(waiting, in)
		}
	}
	return waiting, doubtful
}

// doubt has clients told, should they send these inputs again, that they may not
// have arrived.
func (tx Tx) doubt(t *term) {
	for _, in := range t.queue {
		cl := tx.clients[in.origin.ClientID]
		if cl == nil || in.end > 0 {
			continue
		}
		if d, ok := cl.window.done[in.origin.ClientSeq]; ok {
			d.outcome = cl.window.intern(inDoubt)
			cl.window.done[in.origin.ClientSeq] = d
		}
	}
}
