package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync/atomic"
	"unsafe"
)

// Record is one entry of a log. A reader skips types and versions that it does not know.
type Record struct {
	// Type names what Data is, such as "terminal/data": 1 to 64 bytes.
	Type string
	// Version of the encoding of Data; a reader that knows only lower ones
	// skips the record.
	Version uint8
	// Seq is the host's sequence number of the action, 0 when it is none.
	Seq int64
	// Data is copied by Append. A reader's Data lies in the journal's memory and is valid
	// until the next checkpoint begins.
	Data []byte
}

// Text is a string's bytes without a copy, for Record.Data. They must not be changed.
func Text(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// A record in memory, native byte order as it never leaves the machine:
//
//	 0  length of all, a multiple of 8 (4 bytes); CRC-32C of 8… (4 bytes)
//	 8  ordinal: one more than the record's before
//	16  Seq
//	24  length of Data (4); Version (1); length of Type (1); flags (2)
//	32  Type, Data, padding
//
// The first word is stored last, by one store: a record whose first word is 0 does not exist.
const (
	recordHeader = 32
	maxType      = 64
	// flagLast marks the last record of a batch. A reader gives whole batches.
	flagLast = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// size is the bytes that a record takes.
func (r *Record) size() int { return align8(recordHeader + len(r.Type) + len(r.Data)) }

func align8(n int) int { return (n + 7) &^ 7 }

func (r *Record) check() error {
	switch {
	case r.Type == "" || len(r.Type) > maxType:
		return fmt.Errorf("journal: a record's type must have 1 to %d bytes: %q", maxType, r.Type)
	case len(r.Data) > 1<<30:
		return fmt.Errorf("journal: a record of %d bytes", len(r.Data))
	}
	return nil
}

// put writes a record except its first word, and returns that.
func (r *Record) put(mem []byte, ordinal uint64, flags uint16) (word uint64) {
	n := recordHeader + len(r.Type) + len(r.Data)
	e := binary.NativeEndian
	e.PutUint64(mem[8:], ordinal)
	e.PutUint64(mem[16:], uint64(r.Seq))
	e.PutUint32(mem[24:], uint32(len(r.Data)))
	mem[28], mem[29] = r.Version, byte(len(r.Type))
	e.PutUint16(mem[30:], flags)
	copy(mem[recordHeader:], r.Type)
	copy(mem[recordHeader+len(r.Type):], r.Data)
	return uint64(align8(n)) | uint64(crc32.Checksum(mem[8:n], castagnoli))<<32
}

var errNoRecord = errors.New("no record")

// parse reads the record at the start of mem. The error is errNoRecord if there is none.
func parse(mem []byte) (r Record, ordinal uint64, flags uint16, size int, err error) {
	if len(mem) < 8 {
		return r, 0, 0, 0, errNoRecord
	}
	word := load(mem)
	if word == 0 {
		return r, 0, 0, 0, errNoRecord
	}
	size = int(uint32(word))
	if size < recordHeader || size > len(mem) || size%8 != 0 {
		return r, 0, 0, 0, fmt.Errorf("a record of %d bytes where %d are left", size, len(mem))
	}
	e := binary.NativeEndian
	data, name := int(e.Uint32(mem[24:])), int(mem[29])
	n := recordHeader + name + data
	if align8(n) != size || name == 0 || name > maxType {
		return r, 0, 0, 0, errors.New("a record's lengths contradict each other")
	}
	if crc32.Checksum(mem[8:n], castagnoli) != uint32(word>>32) {
		return r, 0, 0, 0, errors.New("a record's checksum is wrong")
	}
	r = Record{
		Type: string(mem[recordHeader : recordHeader+name]), Version: mem[28], Seq: int64(e.Uint64(mem[16:])),
		Data: mem[recordHeader+name : n : n],
	}
	return r, e.Uint64(mem[8:]), e.Uint16(mem[30:]), size, nil
}

// load and store access an aligned word at the start of mem. The process may die between any
// two instructions, so a commit is one store, which the compiler must not move.
func load(mem []byte) uint64     { return atomic.LoadUint64(word(mem)) }
func store(mem []byte, v uint64) { atomic.StoreUint64(word(mem), v) }
func word(mem []byte) *uint64    { return (*uint64)(unsafe.Pointer(&mem[:8][0])) }

// Format is the version of the memory's layout. A host can take over from a host that wrote the
// same or an earlier version.
const Format = format
