package terminal

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/journal"
	"tandemux/host/terminal/output"
)

const (
	// maxSaved bounds what a checkpoint has of commands' output beyond the
	// content, in bytes; the newest first.
	maxSaved = 256 << 10
	// bareCommands is how many commands a bare checkpoint has.
	bareCommands = 64
)

// saved is the first record of a checkpoint. What is in it may grow: a reader
// takes what is missing for zero.
type saved struct {
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	Raw     bool   `json:"raw,omitempty"` // the content is output, not a state made of it
	Nonce   string `json:"nonce,omitempty"`
	Command string `json:"command,omitempty"` // Config.Command
	Facts   facts  `json:"facts"`
	// Commands are those that are remembered, oldest first.
	Commands []savedCommand `json:"commands,omitempty"`
	// Cuts are those of kept, if Raw.
	Cuts []savedCut `json:"cuts,omitempty"`
	// Marks are where the emulator's marks lie in the content.
	Marks []emulator.Cut `json:"marks,omitempty"`
	// Missing is how many lines of history a bare checkpoint left out.
	Missing int `json:"missing,omitempty"`
}

type savedCommand struct {
	ahp.CommandInfo
	Begin uint64 `json:"begin,omitempty"` // its marks
	End   uint64 `json:"end,omitempty"`
}

type savedCut struct {
	At      int
	Command int // its number, or 0
}

// Checkpoint gives the actions still pending, as Take does, and the records of a
// checkpoint of the state after them, of the same instant. A bare one has the
// screen without history, for where there is no room for that. There are no
// records when the state can't be told, which was reported (Config.Failed). The
// records' Data may lie in buf, which grows if it has to, and must be copied before
// the next call of any method that changes the content.
func (t *Terminal) Checkpoint(bare bool, buf *[]byte) (actions []ahp.Action, k Taken, records []journal.Record) {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("write a checkpoint")
	t.queue.mu.Lock()
	actions, k = t.take()
	t.queue.mu.Unlock()
	s := saved{
		Cols: t.cols, Rows: t.rows, Nonce: t.cfg.Nonce, Command: t.cfg.Command, Facts: t.facts(),
	}
	list := t.cmds.list
	if bare {
		list = list[max(0, len(list)-bareCommands):]
	}
	for _, cmd := range list {
		s.Commands = append(s.Commands, savedCommand{CommandInfo: cmd.now(), Begin: cmd.begin, End: cmd.end})
	}
	*buf = (*buf)[:0]
	content, history := t.contentOf(&s, bare, buf)
	records = []journal.Record{
		{Type: recordState, Version: 1, Data: encode(s)},
		{Type: recordContent, Version: 1, Data: content},
	}
	if history != nil {
		records = append(records, journal.Record{Type: recordHistory, Version: 1, Data: history})
	}
	return actions, k, k.Records(t.kept.outputs(records, list, s.Raw, buf))
}

// Pack has the history take less memory, a part at a time, while nothing is printed. False
// says that nothing is left to do.
func (t *Terminal) Pack() (more bool) {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("pack the history")
	e, ok := t.emu.(emulator.Historian)
	more = ok && e.Pack() || packOutputs(t)
	if !more && t.source.Busy() { // It waits, and is to trim.
		t.cfg.Process.Pty.SetReadDeadline(time.Now())
	}
	return more
}

// packOutputs has the output of a command take less memory; that of the content is as it came.
func packOutputs(t *Terminal) (more bool) {
	if t.kept.whole {
		return false
	}
	t.store = output.Store{}
	return slices.ContainsFunc(t.cmds.list, func(cmd *command) bool { return cmd.out.Pack() })
}

// Share has what is packed lie in saved, a journal's memory of a checkpoint, wherever that
// has the same bytes; with nil in memory of the terminal's own again.
func (t *Terminal) Share(saved []byte) {
	t.screen.Lock()
	defer t.screen.Unlock()
	to := slices.Clone[[]byte]
	if saved != nil {
		to = func(packed []byte) []byte {
			_, rest, found := bytes.Cut(saved, packed)
			if !found { // It came since.
				return packed
			}
			at := len(saved) - len(rest)
			packed = saved[at-len(packed) : at : at]
			saved = rest
			return packed
		}
	}
	if e, ok := t.emu.(emulator.Historian); ok {
		e.Move(to)
	}
	for _, cmd := range slices.Backward(t.cmds.list) { // as in a checkpoint
		cmd.out.Move(to)
	}
}

// contentOf is the content of a checkpoint, and the history where that is not in
// it; what belongs to them is noted in s.
func (t *Terminal) contentOf(s *saved, bare bool, buf *[]byte) (content, history []byte) {
	switch {
	case t.kept.whole && (!bare || t.kept.raw.Size() <= slice):
		s.Raw = true
		for _, c := range t.kept.cuts {
			at := savedCut{At: c.at}
			if c.cmd != nil {
				at.Command = number(c.cmd.info.ID)
			}
			s.Cuts = append(s.Cuts, at)
		}
		s.Marks = t.kept.marks(s.Facts)
		*buf = t.kept.raw.Append(*buf, 0, t.kept.raw.Size())
		return *buf, nil
	case bare:
		s.Missing = t.emu.HistoryLen()
	default:
		e, ok := t.emu.(emulator.Historian)
		if !ok {
			content, s.Marks = t.emu.SnapshotMarks(nil, -1)
			return t.filter.Resume(content), nil
		}
		*buf = e.AppendHistory(*buf)
		history = *buf
	}
	content, s.Marks = t.emu.SnapshotMarks(nil, 0)
	return t.filter.Resume(content), history
}

// marks are the places in the raw output that are marked: where commands
// begin and end, and the prompt's.
func (k *kept) marks(f facts) []emulator.Cut {
	var marks []emulator.Cut
	var open *command
	for _, c := range k.cuts {
		if open != nil && open.end > 0 {
			marks = append(marks, emulator.Cut{ID: open.end, At: c.at})
		}
		if open = c.cmd; open != nil {
			marks = append(marks, emulator.Cut{ID: open.begin, At: c.at})
		}
	}
	base, end := k.base, k.base+uint64(k.raw.Size())
	for _, p := range f.places() {
		if p.At >= base && p.At <= end {
			marks = append(marks, emulator.Cut{ID: p.ID, At: int(p.At - base)})
		}
	}
	slices.SortStableFunc(marks, func(a, b emulator.Cut) int { return cmp.Compare(a.At, b.At) })
	return marks
}

// outputs appends the output that is kept of commands, the newest first, but for
// what the content has as it came. It lies in buf, behind what is there.
func (k *kept) outputs(records []journal.Record, list []*command, raw bool, buf *[]byte) []journal.Record {
	inside := map[*command]bool{}
	if raw {
		for _, c := range k.cuts {
			inside[c.cmd] = true
		}
	}
	left := maxSaved
	for _, cmd := range slices.Backward(list) {
		o := &cmd.out
		size := o.Held()
		if inside[cmd] || size == 0 {
			continue
		}
		if left -= size; left < 0 {
			break
		}
		at, kind := len(*buf), recordOutput
		data := binary.AppendUvarint(binary.AppendUvarint(*buf, uint64(number(cmd.info.ID))), uint64(o.Head.Size()))
		if head, tail, packed := o.Packed(); packed {
			kind = recordPacked
			data = binary.AppendUvarint(binary.AppendUvarint(data, uint64(o.Tail.Size())), uint64(len(head)))
			*buf = append(append(data, head...), tail...)
		} else {
			*buf = o.Tail.Append(o.Head.Append(data, 0, o.Head.Size()), 0, o.Tail.Size())
		}
		records = append(records, journal.Record{Type: kind, Version: 1, Data: (*buf)[at:]})
	}
	return records
}

// The types of the records that a terminal makes for a journal, and reads back
// in Restore. Their version is 1; what is in them is this package's alone.
const (
	recordTaken   = "vt/taken"   // Taken.Offset in 8 bytes, little endian, then Taken.Stream
	recordFacts   = "vt/facts"   // Taken.Facts
	recordState   = "vt/state"   // a checkpoint's first: saved, as JSON
	recordContent = "vt/content" // the stream that makes the state
	recordHistory = "vt/history" // emulator.Historian's, where the content has none
	recordOutput  = "vt/output"  // a command's kept output
	recordPacked  = "vt/packed"  // the same, packed
)

// Taken says how far a terminal has come in what its child wrote, with the
// actions that came along: a journal has both or neither.
type Taken struct {
	// Offset counts the bytes of the pty's output that are processed: their
	// consequences are in this or an earlier result of Take.
	Offset uint64
	// Stream is the state of decoder and filter, nil when both are at rest. It
	// is valid until the next call that gives a Taken.
	Stream []byte
	// Facts is what the terminal knows that is in no action, nil when nothing
	// of it has changed since the last Taken.
	Facts []byte
	// Full says that nothing was taken, as there is more than Bound allows.
	Full bool
}

// Records appends what a journal has to say of k, in the same batch as the
// actions. It may be left out when there were no actions and Offset is the same
// as before.
func (k Taken) Records(dst []journal.Record) []journal.Record {
	data := make([]byte, 0, 8+len(k.Stream))
	data = binary.LittleEndian.AppendUint64(data, k.Offset)
	dst = append(dst, journal.Record{Type: recordTaken, Version: 1, Data: append(data, k.Stream...)})
	if k.Facts != nil {
		dst = append(dst, journal.Record{Type: recordFacts, Version: 1, Data: k.Facts})
	}
	return dst
}
