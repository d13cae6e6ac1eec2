package journal

import (
	"encoding/binary"
	"fmt"
	"sort"
	"sync/atomic"
	"syscall"
)

const (
	// Headroom is how many bytes in front of what was read a caller may change.
	Headroom = 8
	// slotSize is how much one slot holds.
	slotSize   = 64 << 10
	slotFront  = 64 // before a slot's bytes; Headroom lies in it
	slotStride = slotFront + slotSize + page - slotFront
	maxSlots   = 60
	slotHeader = 64
	// leastRoom is how much must be left of a slot for a read to begin there:
	// the most that a pty gives at a time, on Linux, and to spare.
	leastRoom = 8 << 10
	// answeredAt is in the landing's page, behind the slots' headers.
	answeredAt = page + maxSlots*slotHeader
	// Next to it: how much of what was typed was begun to be written to the pty,
	// and how much was.
	typingAt = answeredAt + 8
	typedAt  = typingAt + 8
)

// A slot's header:
//
//	 0  offset in the stream of its first byte
//	 8  bytes that it has (4); bytes that a read may be adding (31 bits), and
//	    whether it adds all of them or none (the highest)
//	16  what the kernel put there with them (1)
const (
	// unset is what no packet begins with.
	unset = 0xA5
	// exactly marks a read of as many bytes as there were.
	exactly = 1 << 31
	// filler is what memory holds where a read is going to put bytes that can't
	// be counted beforehand; it is in no UTF-8 text.
	filler = 0xFF
)

// Landing is the memory that a pty is read into: from the moment at which the
// kernel hands bytes out they are where the next host finds them. One goroutine
// reads; Release, Answered and SetAnswered may be called from any.
type Landing struct {
	mem      []byte
	epoch    uint64
	slots    []slot
	released atomic.Uint64 // offset; what lies before it is in the log
	pos      uint64        // offset of what is read next
	current  int           // slot, -1 before the first
	begun    int           // where in it the present chunk began
	exact    bool          // reads are counted beforehand
	scratch  packet
}

type slot struct {
	head, mem []byte // mem begins slotFront bytes before the slot's first
	off       uint64
	n         int
	touched   int // pages of mem up to here are there
}

func newLanding(l *Log, slots int) *Landing {
	ld := &Landing{mem: l.mem, epoch: l.epoch, current: -1, slots: make([]slot, slots)}
	for i := range ld.slots {
		ld.slots[i] = slot{
			head: l.mem[page+i*slotHeader:][:slotHeader],
			mem:  l.mem[2*page+i*slotStride:][:slotStride],
		}
	}
	return ld
}

func (s *slot) bytes() []byte { return s.mem[slotFront : slotFront+slotSize] }

// Resume makes the landing of an opened journal usable: everything before from
// was processed, as the log says. It gives the bytes that the last host had
// read and not yet logged the consequences of, which are to be processed next,
// as if they had just been read, in order. It may be repeated, with the same
// result, until the next Begin.
func (l *Landing) Resume(from uint64) (pieces []Piece) {
	var rest []*slot
	l.pos = from
	for i := range l.slots {
		s := &l.slots[i]
		s.settle()
		s.touched = (slotFront + s.n + page - 1) &^ (page - 1)
		if end := s.off + uint64(s.n); s.n > 0 && end > from {
			rest = append(rest, s)
			l.pos = max(l.pos, end)
		}
	}
	sort.Slice(rest, func(i, j int) bool { return rest[i].off < rest[j].off })
	at := from
	for _, s := range rest {
		b := s.bytes()[:s.n]
		if s.off < at {
			b = b[min(uint64(len(b)), at-s.off):]
		}
		if missing := max(s.off, at) - at; missing > 0 || len(pieces) == 0 {
			pieces = append(pieces, Piece{Missing: missing})
		}
		last := &pieces[len(pieces)-1]
		last.Data = append(last.Data, b...)
		at = max(at, s.off+uint64(s.n))
	}
	l.released.Store(from)
	l.current = -1
	return pieces
}

// Piece is a part of what was read. Missing counts the bytes before it that are
// gone, which happens only when appends had failed or the journal was damaged.
type Piece struct {
	Missing uint64
	Data    []byte
}

// settle decides what became of a read that the last host did not come back
// from, and notes it.
func (s *slot) settle() {
	w := load(s.head[8:])
	n, want := uint32(w), uint32(w>>32)
	s.off = binary.NativeEndian.Uint64(s.head)
	room := uint32(slotSize)
	if n > room {
		n, want = 0, 0 // nonsense
	}
	got := uint32(0)
	if count := want &^ exactly; want != 0 && count <= room-n && s.head[16] == 0 {
		got = count
		if want&exactly == 0 {
			b := s.bytes()[n : n+count]
			for got > 0 && b[got-1] == filler {
				got--
			}
		}
	}
	s.n = int(n + got)
	store(s.head[8:], uint64(s.n))
}

// Begin starts a chunk: the reads that follow, up to Chunk. False when all
// slots hold bytes that were not released yet.
func (l *Landing) Begin() bool {
	done := l.released.Load()
	if l.current >= 0 {
		s := &l.slots[l.current]
		if s.off+uint64(s.n) > done && slotSize-s.n >= leastRoom {
			l.begun = s.n
			return true
		}
	}
	// The first that is free, so that few are ever used.
	for i := range l.slots {
		s := &l.slots[i]
		if s.off+uint64(s.n) > done {
			continue
		}
		store(s.head[8:], 0)
		s.n, s.off = 0, l.pos
		store(s.head, l.pos)
		l.current, l.begun = i, 0
		return true
	}
	return false
}

// Read reads from a pty, without waiting, to the end of the chunk; n is 0
// without an error at the end of the output, or when the chunk is full. Errors
// are read's, and ErrFenced. The pty must be non-blocking and read in no other
// way.
func (l *Landing) Read(fd int) (n int, err error) {
	return l.read(fd, whileTold)
}

// ReadNow is Read by system calls that the scheduler is not told of, for when
// something is sure to be there (package rawio says why).
func (l *Landing) ReadNow(fd int) (n int, err error) { return l.read(fd, atOnce) }

// ReadReady is ReadNow if something is there; EAGAIN says that nothing is. It may miss
// what the kernel's own worker is about to bring.
func (l *Landing) ReadReady(fd int) (n int, err error) { return l.read(fd, ifReady) }

// manner is how a read is made, as Read, ReadNow and ReadReady say.
type manner uint8

const (
	whileTold manner = iota // the scheduler is told
	atOnce
	ifReady
)

func (l *Landing) read(fd int, how manner) (n int, err error) {
	if load(l.mem[epochAt:]) != l.epoch {
		return 0, ErrFenced
	}
	s := &l.slots[l.current]
	if s.n == slotSize {
		return 0, nil
	}
	switch {
	case l.exact:
		n, err = l.readExact(s, fd, how)
	case how == ifReady && !l.ready(fd):
		err = syscall.EAGAIN
	default:
		n, err = l.readMarked(s, fd)
	}
	l.pos += uint64(max(n, 0))
	return n, err
}

// Full reports that the chunk can take no more.
func (l *Landing) Full() bool { return l.slots[l.current].n == slotSize }

// intend notes that a read is about to put bytes at the slot's end.
func (s *slot) intend(want uint32) { store(s.head[8:], uint64(s.n)|uint64(want)<<32) }

// done notes how many it put there.
func (s *slot) done(n int) {
	s.n += n
	store(s.head[8:], uint64(s.n))
}

// readMarked counts what arrived by what is not filler any more. It is exact
// but for output that ends with the filler's bytes at the instant of a crash.
func (l *Landing) readMarked(s *slot, fd int) (int, error) {
	b := s.bytes()[s.n:]
	b = b[:min(len(b), leastRoom)]
	for i := range b {
		b[i] = filler
	}
	s.head[16] = 0 // bytes, as in a packet
	s.intend(uint32(len(b)))
	n, err := readPlain(fd, b)
	s.done(max(n, 0))
	return max(n, 0), err
}

// Chunk gives what was read since Begin, with Headroom bytes in front, which
// the caller may overwrite; it must leave the rest alone. It is valid until it
// is released.
func (l *Landing) Chunk() []byte {
	s := &l.slots[l.current]
	return s.mem[slotFront+l.begun-Headroom : slotFront+s.n : slotFront+s.n]
}

// Size is how many bytes all slots hold.
func (l *Landing) Size() uint64 { return uint64(len(l.slots)) * slotSize }

// Pos is the offset in the stream of what will be read next.
func (l *Landing) Pos() uint64 { return l.pos }

// Release says that what came of the stream before an offset is in the log, or
// lost to a full one: its memory is free.
func (l *Landing) Release(to uint64) { l.released.Store(to) }

// Released is the last offset given to Release.
func (l *Landing) Released() uint64 { return l.released.Load() }

// SetAnswered notes, before replies are written to the pty, the offset behind
// the last question that they answer: a next host that processes these bytes
// again keeps silent up to there. A program rather misses an answer than reads
// one twice.
func (l *Landing) SetAnswered(to uint64) { store(l.mem[answeredAt:], to) }

// Answered is the offset up to which questions were answered.
func (l *Landing) Answered() uint64 { return load(l.mem[answeredAt:]) }

// SetTyping notes, before it is written to the pty, up to which offset what was
// typed is begun, and SetTyped, after that, up to which it is done. What a host
// that dies leaves between the two may have arrived or not.
func (l *Landing) SetTyping(to uint64) { store(l.mem[typingAt:], to) }

// SetTyped is described at SetTyping.
func (l *Landing) SetTyped(to uint64) { store(l.mem[typedAt:], to) }

// Typed gives both offsets.
func (l *Landing) Typed() (begun, done uint64) {
	return load(l.mem[typingAt:]), load(l.mem[typedAt:])
}

// Prepare makes a pty ready to be read into the landing and reports whether
// reads are counted exactly; they are where the system can say how much there
// is to read and that it was read (Linux).
func (l *Landing) Prepare(fd int) (exact bool, err error) {
	if len(l.slots) == 0 {
		return false, fmt.Errorf("journal: it was made without slots")
	}
	l.exact, err = countable(fd)
	return l.exact, err
}
