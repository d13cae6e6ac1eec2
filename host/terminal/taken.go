package terminal

import (
	"encoding/binary"

	"tandemux/host/journal"
)

// The types of the records that a terminal makes for a journal, and reads back
// in Restore. Their version is 1; what is in them is this package's alone.
const (
	recordTaken   = "vt/taken"   // Taken.Offset in 8 bytes, little endian, then Taken.Stream
	recordFacts   = "vt/facts"   // Taken.Facts
	recordState   = "vt/state"   // a checkpoint's first: saved, as JSON
	recordContent = "vt/content" // the stream that makes the state
	recordHistory = "vt/history" // emulator.Historian's, where the content has none
	recordOutput  = "vt/output"  // a command's kept output
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
