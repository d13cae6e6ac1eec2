package journal

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Errors that callers branch on.
var (
	// ErrFull says that the area has no room left (Append, Commit): make a checkpoint,
	// or a smaller one.
	ErrFull = errors.New("the journal is full")
	// ErrFenced says that another host has opened the journal.
	ErrFenced = errors.New("another host has opened the journal")
	// ErrFormat says that the memory is no journal, or one of another format (Open).
	ErrFormat = errors.New("not a journal of this format")
)

// The first page.
const (
	magic     = "tandemjr"
	format    = 2 // since a terminal's log may lie in a journal of its own; else as 1
	page      = 4096
	nameAt    = 64
	maxName   = 1100
	areasAt   = 2048
	epochAt   = 3072 // counts the hosts that had the journal
	droppedAt = 3080 // batches that did not fit since the last checkpoint
)

// Options say how a journal is laid out.
type Options struct {
	// Name says what the journal is of, such as a channel's URI, in at most 1100 bytes.
	Name string
	// Area is the size in bytes of each of the two areas; 0 means 2.5 MiB. A checkpoint
	// and the log that follows it must fit into one.
	Area int
	// Slots is how many buffers of 64 KiB a terminal's output is read into;
	// 0 for a journal without a pty. At most 60.
	Slots int
}

const defaultArea = 5 << 19

func (o Options) withDefaults() Options {
	o.Area = cmp.Or(o.Area, defaultArea)
	o.Area = (o.Area + page - 1) &^ (page - 1)
	return o
}

// Size is how many bytes a journal needs. Only written pages use memory.
func (o Options) Size() int {
	o = o.withDefaults()
	return 2*page + o.Slots*slotStride + 2*o.Area
}

func (o Options) check() error {
	switch {
	case len(o.Name) > maxName:
		return fmt.Errorf("journal: a name of %d bytes is over the limit of %d", len(o.Name), maxName)
	case o.Area < page || o.Area > 1<<30 || o.Slots < 0 || o.Slots > maxSlots:
		return fmt.Errorf("journal: %d bytes and %d slots are out of range", o.Area, o.Slots)
	}
	return nil
}

// Log is the log of one channel, in memory that outlives the process. One goroutine at a time
// may call its methods, as under the host's sequencing lock. A Checkpoint's Add may run
// concurrently with them.
type Log struct {
	mem     []byte
	areas   [2]area
	epoch   uint64
	current int // area
	info    areaInfo
	at      int    // where the next record goes
	ordinal uint64 // of the last record
	making  *Checkpoint
}

// layout cuts memory to pieces.
func layout(mem []byte, o Options) *Log {
	l := &Log{mem: mem}
	at := 2*page + o.Slots*slotStride
	for i := range l.areas {
		l.areas[i] = area{head: mem[areasAt+i*areaHeader:][:areaHeader], mem: mem[at:][:o.Area]}
		at += o.Area
	}
	return l
}

// Create lays out a new journal over memory of Options.Size bytes, zeroed and
// aligned to 8. Its first checkpoint is empty: the log begins with nothing.
func Create(mem []byte, o Options) (*Log, *Landing, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	if len(mem) < o.Size() {
		return nil, nil, fmt.Errorf("journal: %d bytes of memory, %d needed", len(mem), o.Size())
	}
	e := binary.NativeEndian
	e.PutUint32(mem[8:], format)
	e.PutUint32(mem[12:], uint32(len(o.Name)))
	e.PutUint64(mem[16:], uint64(o.Area))
	e.PutUint64(mem[24:], uint64(o.Slots))
	copy(mem[nameAt:], o.Name)
	e.PutUint32(mem[32:], headSum(mem, len(o.Name)))
	l := layout(mem, o)
	l.epoch = 1
	store(mem[epochAt:], 1)
	l.info = areaInfo{generation: 1, whole: true}
	l.areas[0].commit(l.info)
	copy(mem, magic)
	return l, newLanding(l, o.Slots), nil
}

func headSum(mem []byte, name int) uint32 {
	return crc32.Update(crc32.Checksum(mem[8:32], castagnoli), castagnoli, mem[nameAt:nameAt+name])
}

// options reads the first page.
func options(mem []byte) (o Options, err error) {
	if len(mem) < 2*page || string(mem[:8]) != magic {
		return o, fmt.Errorf("journal: %w: it does not begin like one", ErrFormat)
	}
	e := binary.NativeEndian
	if f := e.Uint32(mem[8:]); f < 1 || f > format {
		return o, fmt.Errorf("journal: %w: it has format %d, this program reads 1 to %d", ErrFormat, f, format)
	}
	name, size, slots := e.Uint32(mem[12:]), e.Uint64(mem[16:]), e.Uint64(mem[24:])
	if name > maxName || size > 1<<30 || slots > maxSlots || e.Uint32(mem[32:]) != headSum(mem, int(name)) {
		return o, fmt.Errorf("journal: %w: its first page is damaged", ErrFormat)
	}
	o = Options{Name: string(mem[nameAt : nameAt+name]), Area: int(size), Slots: int(slots)}
	if err := o.check(); err != nil || o.Area%page != 0 || len(mem) < o.Size() {
		return o, fmt.Errorf("journal: %w: its first page contradicts its size of %d bytes", ErrFormat, len(mem))
	}
	return o, nil
}

// Append appends all records or none. When it returns, the next host will find them, whatever
// happens to this process. It returns ErrFull if they don't fit, and ErrFenced if another host
// has opened the journal. After ErrFull all appends fail until a checkpoint that was begun
// later is committed, since a log must not have a hole.
func (l *Log) Append(records ...Record) error {
	if len(records) == 0 {
		return nil
	}
	if load(l.mem[epochAt:]) != l.epoch {
		return ErrFenced
	}
	size := 0
	for i := range records {
		if err := records[i].check(); err != nil {
			return err
		}
		size += records[i].size()
	}
	a := l.areas[l.current]
	if lost := load(l.mem[droppedAt:]); lost > 0 || size > len(a.mem)-l.at {
		store(l.mem[droppedAt:], lost+1)
		l.ordinal++ // the next checkpoint does not follow this log (join): a batch is missing between
		return ErrFull
	}
	// Store the end mark first, then the batch, and its first word last: until then a reader
	// sees none of it.
	a.terminate(l.at + size)
	at, first := l.at, uint64(0)
	for i := range records {
		flags := uint16(0)
		if i == len(records)-1 {
			flags = flagLast
		}
		l.ordinal++
		w := records[i].put(a.mem[at:], l.ordinal, flags)
		if i == 0 {
			first = w
		} else {
			store(a.mem[at:], w)
		}
		at += records[i].size()
	}
	store(a.mem[l.at:], first)
	l.at = at
	return nil
}

// Room is how many bytes are left until a checkpoint must be committed; 0 after ErrFull.
func (l *Log) Room() int {
	if load(l.mem[droppedAt:]) > 0 {
		return 0
	}
	return len(l.areas[l.current].mem) - l.at
}

// Due reports whether a checkpoint is due: less than an eighth of the area is left, or of a
// small area less than a quarter, so that what comes next fits.
func (l *Log) Due() bool {
	area := len(l.areas[l.current].mem)
	return l.Room() < max(area/8, min(area/4, 128<<10))
}

// Dropped is how many batches did not fit since the last checkpoint.
func (l *Log) Dropped() uint64 { return load(l.mem[droppedAt:]) }
