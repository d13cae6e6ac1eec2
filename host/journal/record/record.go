package record

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"tandemux/ahp"
	"tandemux/host/journal"
)

// Version is that of all encodings here.
const Version = 1

// The types of records, and what their Data is.
const (
	TypeChannel = "channel"          // a Head, JSON
	TypeState   = "state"            // the channel's state as AHP 1 has it; a terminal's without content
	TypePrivate = "private"          // facts that are in no action, JSON
	TypeAction  = "action"           // an envelope of AHP 1, with its origin
	TypeData    = "terminal/data"    // the text of a terminal/data
	TypeInput   = "terminal/input"   // an accepted terminal/input; see AppendInput
	TypeRefused = "terminal/refused" // an input that was noted and not taken after all, as TypeInput
	TypeQueue   = "terminal/queue"   // all inputs that are not written, in place of those before; see Queue
	TypeClient  = "client"           // what is known of a client, JSON; in the root channel's journal
	TypeRemoved = "removed"          // the channel was disposed of
	TypeBefore  = "terminal/before"  // what a terminal shows before its output; before the first checkpoint
)

const (
	// MaxSeq is the highest number that JavaScript can count to.
	MaxSeq = 1<<53 - 1
	// Highest is the highest sequence number that is taken from what was written
	// down; above it there would soon be none left.
	Highest = MaxSeq - 1<<25
)

// Head says whose checkpoint it is.
type Head struct {
	Channel ahp.URI `json:"channel"`
	// Kind is what the channel is, unless its scheme says so.
	Kind string `json:"kind,omitempty"`
	// Process is the keeper's id of a terminal's child.
	Process string `json:"process,omitempty"`
	// Last is the number of the channel's last action.
	Last int64 `json:"last"`
	// Made grows with each journal that a channel gets: of two the newer counts.
	Made int64 `json:"made"`
	// Origins are the dispatches that the channel has accepted.
	Origins map[string]Origins `json:"origins,omitempty"`
}

// JSON makes a record of v as JSON.
func JSON(kind string, seq int64, v any) (journal.Record, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return journal.Record{}, fmt.Errorf("journal %s: %w", kind, err)
	}
	return journal.Record{Type: kind, Version: Version, Seq: seq, Data: data}, nil
}

// Action makes a record of an action that was numbered; encode gives its envelope
// as AHP 1 has it.
func Action(env ahp.Envelope, encode func() ([]byte, error)) (journal.Record, error) {
	r := journal.Record{Type: TypeAction, Version: Version, Seq: env.ServerSeq}
	if d, ok := env.Action.(ahp.TerminalData); ok && env.Origin == nil {
		r.Type, r.Data = TypeData, journal.Text(d.Data)
		return r, nil
	}
	var err error
	r.Data, err = encode()
	return r, err
}

// Input is an input that was accepted: whose, how many bytes, and where they end in
// all that was typed; and the bytes if they had to wait for the program. One that
// ends at 0 is doubtful: it may have arrived or not.
type Input struct {
	Origin ahp.Origin
	Size   uint64
	End    uint64
	Data   string
}

// AppendInput appends an input as TypeInput has it.
func AppendInput(buf []byte, in Input) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(in.Origin.ClientID)))
	buf = append(buf, in.Origin.ClientID...)
	buf = binary.AppendVarint(buf, in.Origin.ClientSeq)
	buf = binary.AppendUvarint(buf, in.Size)
	buf = binary.AppendUvarint(buf, in.End)
	return append(buf, in.Data...)
}

func readInput(data []byte) (in Input, err error) {
	short := errors.New("an input is cut short")
	n, used := binary.Uvarint(data)
	if used <= 0 || n > uint64(len(data)-used) {
		return in, short
	}
	in.Origin.ClientID, data = string(data[used:used+int(n)]), data[used+int(n):]
	if in.Origin.ClientSeq, used = binary.Varint(data); used <= 0 {
		return in, short
	}
	data = data[used:]
	for _, to := range []*uint64{&in.Size, &in.End} {
		if *to, used = binary.Uvarint(data); used <= 0 {
			return in, short
		}
		data = data[used:]
	}
	if in.Data = string(data); in.Size > in.End || in.Data != "" && uint64(len(in.Data)) != in.Size {
		return in, errors.New("an input contradicts itself")
	}
	return in, nil
}

// Queue makes the record of all inputs that are not written.
func Queue(inputs []Input) journal.Record {
	var data, one []byte
	for _, in := range inputs {
		one = AppendInput(one[:0], in)
		data = append(binary.AppendUvarint(data, uint64(len(one))), one...)
	}
	return journal.Record{Type: TypeQueue, Version: Version, Data: data}
}

func readQueue(data []byte) (all []Input, err error) {
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
