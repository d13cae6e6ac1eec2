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
	// maxSaved bounds the bytes of commands' output that a checkpoint has besides
	// the content. The newest output is kept.
	maxSaved = 256 << 10
	// bareCommands is how many commands a bare checkpoint has.
	bareCommands = 64
)

// saved is the first record of a checkpoint. A later version may add fields: a reader
// takes missing ones for zero.
type saved struct {
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	Raw     bool   `json:"raw,omitempty"` // the content is output, not a state made of it
	Nonce   string `json:"nonce,omitempty"`
	Command string `json:"command,omitempty"` // Config.Command
	Facts   facts  `json:"facts"`
	// Commands are those that are remembered, oldest first.
	Commands []savedCommand `json:"commands,omitempty"`
	// Cuts are kept.cuts, if Raw.
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

// Checkpoint returns the actions still pending, as Take does, and the records of a
// checkpoint of the state right after them. A bare checkpoint has the screen without
// history, for a journal without room for that. There are no records if the state
// could not be serialised, which was reported (Config.Failed). The records' Data may
// lie in buf, which grows if it has to. The caller must copy it before the next call of
// a method that changes the content.
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

// Pack compresses the history and commands' output, a part per call, while nothing is
// printed. False says that nothing is left to compress.
func (t *Terminal) Pack() (more bool) {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("pack the history")
	e, ok := t.emu.(emulator.Historian)
	more = ok && e.Pack() || packOutputs(t)
	if !more && t.source.Busy() { // wake the reader, to trim the landing
		t.cfg.Process.Pty.SetReadDeadline(time.Now())
	}
	return more
}

// packOutputs compresses the kept output of one command, unless the content shares it.
func packOutputs(t *Terminal) (more bool) {
	if t.kept.whole {
		return false
	}
	t.store = output.Store{}
	return slices.ContainsFunc(t.cmds.list, func(cmd *command) bool { return cmd.out.Pack() })
}

// Share replaces the memory of compressed history and output by saved, a checkpoint in the
// journal's memory, where that has the same bytes. With nil it copies them back.
func (t *Terminal) Share(saved []byte) {
	t.screen.Lock()
	defer t.screen.Unlock()
	to := slices.Clone[[]byte]
	if saved != nil {
		to = func(packed []byte) []byte {
			_, rest, found := bytes.Cut(saved, packed)
			if !found { // it is newer than the checkpoint
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
	for _, cmd := range slices.Backward(t.cmds.list) { // in a checkpoint's order
		cmd.out.Move(to)
	}
}

// contentOf is the content of a checkpoint, and the history unless the content
// includes it. It sets the fields of s that describe them.
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

// marks are the marked places in the raw output: commands' beginnings and ends, and the
// prompt's.
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

// outputs appends records of the commands' kept output, the newest first, except what the
// raw content includes. It appends their data to buf.
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

// The types of the records that a terminal writes to a journal and Restore reads. Their
// version is 1. Only this package reads their contents.
const (
	recordTaken   = "vt/taken"   // Taken.Offset in 8 bytes, little endian, then Taken.Stream
	recordFacts   = "vt/facts"   // Taken.Facts
	recordState   = "vt/state"   // a checkpoint's first: saved, as JSON
	recordContent = "vt/content" // the stream that makes the state
	recordHistory = "vt/history" // emulator.Historian's, if the content has none
	recordOutput  = "vt/output"  // a command's kept output
	recordPacked  = "vt/packed"  // the same, compressed
)

// Taken says how much of the child's output is processed. It belongs to the actions that
// were returned with it: a journal has both or neither.
type Taken struct {
	// Offset counts the processed bytes of the pty's output. All that follows from
	// them is in this or an earlier result of Take.
	Offset uint64
	// Stream is the state of decoder and filter, nil when they hold nothing back. It
	// is valid until the next call that returns a Taken.
	Stream []byte
	// Facts is what the terminal knows that no action tells, nil when it has not
	// changed since the last Taken.
	Facts []byte
	// Full says that nothing was taken, since more than Bound allows is pending.
	Full bool
}

// Records appends the journal's records of k. They go into the same batch as the actions,
// and may be left out if there were no actions and Offset is the same as before.
func (k Taken) Records(dst []journal.Record) []journal.Record {
	data := make([]byte, 0, 8+len(k.Stream))
	data = binary.LittleEndian.AppendUint64(data, k.Offset)
	dst = append(dst, journal.Record{Type: recordTaken, Version: 1, Data: append(data, k.Stream...)})
	if k.Facts != nil {
		dst = append(dst, journal.Record{Type: recordFacts, Version: 1, Data: k.Facts})
	}
	return dst
}
