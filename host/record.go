package host

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/host/journal"
)

// This file is the encoding of what channels' journals hold. A checkpoint is a
// "channel" record, "state", "private" when the body has such facts, and what
// the body adds; the log after it are actions and notes. A reader skips types
// and versions that it does not know.

// recordVersion is that of all encodings here.
const recordVersion = 1

// The types of records, and what their Data is.
const (
	recChannel = "channel"          // a head, JSON
	recState   = "state"            // the channel's state as AHP 1 has it; a terminal's without content
	recPrivate = "private"          // what the body's private method gives, JSON
	recAction  = "action"           // an envelope of AHP 1, with its origin
	recData    = "terminal/data"    // the text of a terminal/data
	recInput   = "terminal/input"   // an accepted terminal/input; see appendInput
	recRefused = "terminal/refused" // an input that was noted and not taken after all, as recInput
	recQueue   = "terminal/queue"   // all inputs that are not written, in place of those before; see queueRecord
	recClient  = "client"           // a clientRecord, JSON; in the root channel's journal
	recRemoved = "removed"          // the channel was disposed of
	recBefore  = "terminal/before"  // what a terminal shows before its output; before the first checkpoint
)

// head says whose checkpoint it is.
type head struct {
	Channel ahp.URI `json:"channel"`
	// Process is the keeper's id of a terminal's child.
	Process string `json:"process,omitempty"`
	// Last is the number of the channel's last action.
	Last int64 `json:"last"`
	// Made grows with each journal that a channel gets: of two the newer counts.
	Made int64 `json:"made"`
	// Origins are the dispatches that the channel has accepted.
	Origins map[string]origins `json:"origins,omitempty"`
}

// newRecord makes a record of v as JSON.
func newRecord(kind string, seq int64, v any) (journal.Record, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return journal.Record{}, fmt.Errorf("journal %s: %w", kind, err)
	}
	return journal.Record{Type: kind, Version: recordVersion, Seq: seq, Data: data}, nil
}

// actionRecord is an action that was numbered.
func actionRecord(f *frame) (journal.Record, error) {
	r := journal.Record{Type: recAction, Version: recordVersion, Seq: f.env.ServerSeq}
	if d, ok := f.env.Action.(ahp.TerminalData); ok && f.env.Origin == nil {
		r.Type, r.Data = recData, journal.Text(d.Data)
		return r, nil
	}
	b, err := f.bytes(ahp.V1)
	if err != nil {
		return r, err
	}
	r.Data = b[len(framePrefix) : len(b)-len(frameSuffix)]
	return r, nil
}

// typedInput is an input that was accepted: whose, how many bytes, and where they
// end in all that was typed; and the bytes if they had to wait for the program.
type typedInput struct {
	origin ahp.Origin
	size   uint64
	end    uint64
	data   string
}

func appendInput(buf []byte, in typedInput) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(in.origin.ClientID)))
	buf = append(buf, in.origin.ClientID...)
	buf = binary.AppendVarint(buf, in.origin.ClientSeq)
	buf = binary.AppendUvarint(buf, in.size)
	buf = binary.AppendUvarint(buf, in.end)
	return append(buf, in.data...)
}

func readInput(data []byte) (in typedInput, err error) {
	short := errors.New("an input is cut short")
	n, used := binary.Uvarint(data)
	if used <= 0 || n > uint64(len(data)-used) {
		return in, short
	}
	in.origin.ClientID, data = string(data[used:used+int(n)]), data[used+int(n):]
	if in.origin.ClientSeq, used = binary.Varint(data); used <= 0 {
		return in, short
	}
	data = data[used:]
	for _, to := range []*uint64{&in.size, &in.end} {
		if *to, used = binary.Uvarint(data); used <= 0 {
			return in, short
		}
		data = data[used:]
	}
	if in.data = string(data); in.size > in.end || in.data != "" && uint64(len(in.data)) != in.size {
		return in, errors.New("an input contradicts itself")
	}
	return in, nil
}

// memory is what a journal says of its channel. Records in it lie in the
// journal's memory, the rest shares nothing with it.
type memory struct {
	head
	state   json.RawMessage  // nil when there was no checkpoint
	private json.RawMessage  // as of the checkpoint
	special []journal.Record // of the checkpoint: those of the channel's kind
	earlier []ahp.Envelope   // before the checkpoint, without a hole up to it
	log     []logged         // after it
	after   []journal.Record // the same as they are
	removed bool
	before  string              // of recBefore
	undone  map[ahp.Origin]bool // inputs that were accepted, and nothing of them typed
	newest  int64               // the highest sequence number
	// damage is what was left out, nil when nothing was.
	damage error
}

// logged is one entry of a log.
type logged struct {
	kind  string // the record's type
	seq   int64
	env   ahp.Envelope    // of an action
	input typedInput      // of recInput
	queue []typedInput    // of recQueue
	data  json.RawMessage // of recPrivate and recClient
}

// readMemory decodes a journal. It never fails: what makes no sense is left out,
// with all that follows it in the log, and said in damage.
func readMemory(r journal.Recovered) *memory {
	m := &memory{damage: r.Damage}
	if r.Dropped > 0 {
		m.spoil(fmt.Errorf("the journal of %q was full: %d changes are missing", r.Name, r.Dropped))
	}
	for _, rec := range r.State {
		if err := m.readState(rec); err != nil {
			m.spoil(fmt.Errorf("the checkpoint of %q: %s: %w", r.Name, rec.Type, err))
		}
	}
	for _, rec := range r.Earlier {
		m.see(rec.Seq)
		e, err := m.readLogged(rec)
		switch {
		case err != nil: // What comes before it can't be replayed.
			m.earlier = nil
		case e.env.Action != nil:
			m.earlier = append(m.earlier, e.env)
		}
	}
	for i, rec := range r.Records {
		e, err := m.readLogged(rec)
		if err != nil {
			m.spoil(fmt.Errorf("the log of %q: %s: %w", r.Name, rec.Type, err))
			m.after = r.Records[:i]
			return m
		}
		m.see(rec.Seq)
		m.removed = m.removed || rec.Type == recRemoved
		m.log = append(m.log, e)
	}
	m.after = r.Records
	return m
}

func (m *memory) spoil(err error) { m.damage = errors.Join(m.damage, err) }

// see takes part in finding the highest number; one that is out of range is
// none.
func (m *memory) see(seq int64) {
	if seq <= maxSeq-2*seqBlock {
		m.newest = max(m.newest, seq)
	}
}

// readState takes a record of the checkpoint.
func (m *memory) readState(rec journal.Record) (err error) {
	m.see(rec.Seq)
	if rec.Version > recordVersion {
		return nil
	}
	switch rec.Type {
	case recChannel:
		err = json.Unmarshal(rec.Data, &m.head)
		m.see(m.Last)
	case recState:
		m.state = slices.Clone(rec.Data)
	case recPrivate:
		m.private = slices.Clone(rec.Data)
	default:
		m.special = append(m.special, rec)
	}
	return err
}

// readLogged takes a record of the log.
func (m *memory) readLogged(rec journal.Record) (e logged, err error) {
	e = logged{kind: rec.Type, seq: rec.Seq}
	if rec.Version > recordVersion {
		return e, nil
	}
	switch rec.Type {
	case recData:
		e.env = ahp.Envelope{Channel: m.Channel, Action: ahp.TerminalData{Data: string(rec.Data)}, ServerSeq: rec.Seq}
	case recAction:
		if err = json.Unmarshal(rec.Data, &e.env); err == nil && e.env.Action == nil {
			err = errors.New("it has no action")
		}
		e.env.Channel, e.env.ServerSeq = m.Channel, rec.Seq
	case recInput, recRefused:
		e.input, err = readInput(rec.Data)
	case recQueue:
		e.queue, err = readQueue(rec.Data)
	case recPrivate, recClient:
		e.data = slices.Clone(rec.Data)
	case recBefore:
		m.before = string(rec.Data)
	}
	return e, err
}

// fresh says that the journal was never written to but by who made it: the
// terminal's host died before it had made the first checkpoint.
func (m *memory) fresh() bool {
	return m.state == nil && m.damage == nil && !slices.ContainsFunc(m.log, func(e logged) bool { return e.kind != recBefore })
}

// lastLogged is the number of the last action that the log has.
func (m *memory) lastLogged() int64 {
	for _, e := range slices.Backward(m.log) {
		if e.env.Action != nil {
			return e.seq
		}
	}
	return m.Last
}

// replay gives the actions that clients may have missed, and the number that
// they must have seen for it.
func (m *memory) replay() (es []ahp.Envelope, floor int64) {
	floor = m.Last
	// What was in a checkpoint but found no room in the log before it is a hole.
	if n := len(m.earlier); n > 0 && m.earlier[n-1].ServerSeq == m.Last {
		es, floor = m.earlier, m.earlier[0].ServerSeq-1
	}
	for _, e := range m.log {
		if e.env.Action != nil {
			es = append(es, e.env)
		}
	}
	return es, floor
}
