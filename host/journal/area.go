package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// An area holds a checkpoint and the log that follows it. Its header lies in
// the journal's first page:
//
//	 0  generation: the area with the higher one is current; 0 while it is being made
//	 8  ordinal of the last record that the checkpoint includes
//	16  offset at which the log begins
//	24  records of the checkpoint (4); flags (4)
//	32  CRC-32C of the above (4)
const (
	areaHeader = 64
	// areaWhole marks a checkpoint that includes the history.
	areaWhole = 1
)

type area struct {
	head []byte // areaHeader bytes
	mem  []byte
}

// areaInfo is a header's contents.
type areaInfo struct {
	generation, base uint64
	start            int // of the log
	count            int // records of the checkpoint
	whole            bool
}

func (a area) info() (areaInfo, error) {
	e := binary.NativeEndian
	in := areaInfo{generation: load(a.head)}
	if in.generation == 0 {
		return in, errNoRecord
	}
	if crc32.Checksum(a.head[:32], castagnoli) != e.Uint32(a.head[32:]) {
		return in, errors.New("the header of an area is damaged")
	}
	in.base = e.Uint64(a.head[8:])
	start := e.Uint64(a.head[16:])
	in.count = int(e.Uint32(a.head[24:]))
	in.whole = e.Uint32(a.head[28:])&areaWhole != 0
	if start > uint64(len(a.mem)) || start%8 != 0 {
		return in, errors.New("the header of an area is damaged")
	}
	in.start = int(start)
	return in, nil
}

// begin makes the area invalid.
func (a area) begin() { store(a.head, 0) }

// commit makes the area valid, by storing its generation.
func (a area) commit(in areaInfo) {
	var h [40]byte
	e := binary.NativeEndian
	e.PutUint64(h[0:], in.generation)
	e.PutUint64(h[8:], in.base)
	e.PutUint64(h[16:], uint64(in.start))
	e.PutUint32(h[24:], uint32(in.count))
	if in.whole {
		e.PutUint32(h[28:], areaWhole)
	}
	e.PutUint32(h[32:], crc32.Checksum(h[:32], castagnoli))
	copy(a.head[8:40], h[8:])
	store(a.head, in.generation)
}

// terminate makes a reader find no record at offset at.
func (a area) terminate(at int) {
	if at+8 <= len(a.mem) {
		store(a.mem[at:], 0)
	}
}

// contents is what a reader finds in an area.
type contents struct {
	areaInfo
	index      int
	checkpoint []Record
	stateErr   error // why the checkpoint can't be used
	log        []Record
	last       uint64 // ordinal of log's last record; base when it is empty
	end        int    // offset after it
	damage     error  // what is damaged there, nil if the log just ends
}

// read reads what is valid in the area.
func (a area) read() (c contents, err error) {
	if c.areaInfo, err = a.info(); err != nil {
		return c, err
	}
	c.checkpoint, c.stateErr = a.readCheckpoint(c.areaInfo)
	c.last, c.end = c.base, c.start
	var batch []Record
	for at, ordinal := c.start, c.base; ; {
		r, o, flags, n, err := parse(a.mem[at:])
		if err == nil && o != ordinal+1 {
			err = errNoRecord // an old record, of an earlier generation
		}
		if err != nil {
			if err != errNoRecord || len(batch) > 0 {
				c.damage = fmt.Errorf("the log is damaged after record %d: %w", c.last, err)
			}
			return c, nil
		}
		at, ordinal = at+n, o
		if batch = append(batch, r); flags&flagLast != 0 {
			c.log, batch = append(c.log, batch...), nil
			c.last, c.end = ordinal, at
		}
	}
}

func (a area) readCheckpoint(in areaInfo) ([]Record, error) {
	var all []Record
	at := 0
	for i := range in.count {
		r, ordinal, _, n, err := parse(a.mem[at:in.start])
		if err == nil && ordinal != uint64(i+1) {
			err = errors.New("a record is out of its place")
		}
		if err != nil {
			return nil, fmt.Errorf("the checkpoint is damaged in record %d of %d: %w", i+1, in.count, err)
		}
		all = append(all, r)
		at += n
	}
	if at != in.start {
		return nil, errors.New("the checkpoint and the log do not meet")
	}
	return all, nil
}
