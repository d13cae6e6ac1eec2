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
	// slotSize is how many bytes one slot holds.
	slotSize   = 64 << 10
	slotFront  = 64 // before a slot's bytes; Headroom lies in it
	slotStride = slotFront + slotSize + page - slotFront
	maxSlots   = 60
	slotHeader = 64
	// leastRoom is how many bytes of a slot must be free for a chunk to begin there: more
	// than a pty returns per read on Linux.
	leastRoom = 8 << 10
	// answeredAt is in the landing's page, behind the slots' headers.
	answeredAt = page + maxSlots*slotHeader
	// Next to it are the offsets of SetTyping and SetTyped.
	typingAt = answeredAt + 8
	typedAt  = typingAt + 8
)

// A slot's header:
//
//	 0  offset in the stream of its first byte
//	 8  bytes that it has (4); bytes that a read may be adding (31 bits), and
//	    whether it adds all of them or none (the highest bit)
//	16  the packet's first byte (1)
const (
	// unset is a byte with which no packet begins.
	unset = 0xA5
	// exactly marks a read that adds all its bytes or none.
	exactly = 1 << 31
	// filler is in the memory into which a read puts bytes that can't be counted
	// beforehand. It is in no UTF-8 text.
	filler = 0xFF
)

// Landing is the memory that a pty is read into: the kernel puts bytes right where the next
// host finds them. One goroutine reads; Release, Answered and SetAnswered may be called from
// any goroutine.
type Landing struct {
	mem      []byte
	epoch    uint64
	slots    []slot
	released atomic.Uint64 // offset of Release
	pos      uint64        // offset in the stream of the next byte to read
	current  int           // slot, -1 before the first
	begun    int           // where the present chunk begins in it
	exact    bool          // reads are counted beforehand
	scratch  packet
}

type slot struct {
	head, mem []byte // mem begins slotFront bytes before the slot's first
	off       uint64
	n         int
	touched   int // pages of mem up to here are present
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

// Resume makes the landing of an opened journal usable. The log says that everything before
// from was processed. Resume returns the bytes that the last host had read and not logged; the
// caller processes them next, in order, as if they had just been read. Until the next Begin
// it may be called again, with the same result.
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

// Piece is a part of what was read. Missing counts lost bytes before it; bytes are lost only
// if appends had failed or the journal was damaged.
type Piece struct {
	Missing uint64
	Data    []byte
}

// settle finds out how many bytes a read put into the slot during which the last host died,
// and notes them.
func (s *slot) settle() {
	w := load(s.head[8:])
	n, want := uint32(w), uint32(w>>32)
	s.off = binary.NativeEndian.Uint64(s.head)
	room := uint32(slotSize)
	if n > room {
		n, want = 0, 0 // the header is damaged
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

// Begin starts a chunk, which the following reads fill, up to Chunk. It returns false if all
// slots have bytes that were not released yet.
func (l *Landing) Begin() bool {
	done := l.released.Load()
	if l.current >= 0 {
		s := &l.slots[l.current]
		if s.off+uint64(s.n) > done && slotSize-s.n >= leastRoom {
			l.begun = s.n
			return true
		}
	}
	// Take the first free slot, so that few are ever used.
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

// Read appends to the chunk what a pty has to read. n is 0 without an error at the end of the
// output, or if the chunk is full. Errors are read(2)'s, and ErrFenced. The pty must be
// non-blocking, and nothing else may read it.
func (l *Landing) Read(fd int) (n int, err error) {
	return l.read(fd, whileTold)
}

// ReadNow is Read by system calls that are not announced to Go's scheduler, for when there is
// surely something to read (see package rawio).
func (l *Landing) ReadNow(fd int) (n int, err error) { return l.read(fd, atOnce) }

// ReadReady is ReadNow if there is something to read, and EAGAIN if not. It may miss what the
// kernel's worker is about to deliver.
func (l *Landing) ReadReady(fd int) (n int, err error) { return l.read(fd, ifReady) }

// manner is the manner of a read: Read's, ReadNow's or ReadReady's.
type manner uint8

const (
	whileTold manner = iota // the scheduler is told of the system call
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

// Full reports whether the chunk is full.
func (l *Landing) Full() bool { return l.slots[l.current].n == slotSize }

// intend notes that a read is about to add bytes to the slot.
func (s *slot) intend(want uint32) { store(s.head[8:], uint64(s.n)|uint64(want)<<32) }

// done notes how many bytes the read added.
func (s *slot) done(n int) {
	s.n += n
	store(s.head[8:], uint64(s.n))
}

// readMarked reads into memory full of filler, so that the next host can count what arrived.
// That is exact unless output ends with filler bytes at the instant of a crash.
func (l *Landing) readMarked(s *slot, fd int) (int, error) {
	b := s.bytes()[s.n:]
	b = b[:min(len(b), leastRoom)]
	for i := range b {
		b[i] = filler
	}
	s.head[16] = 0 // as a packet with data
	s.intend(uint32(len(b)))
	n, err := readPlain(fd, b)
	s.done(max(n, 0))
	return max(n, 0), err
}

// Chunk returns what was read since Begin, with Headroom bytes in front. The caller may
// overwrite the headroom, but not the rest. The chunk is valid until it is released.
func (l *Landing) Chunk() []byte {
	s := &l.slots[l.current]
	return s.mem[slotFront+l.begun-Headroom : slotFront+s.n : slotFront+s.n]
}

// Size is how many bytes all slots hold.
func (l *Landing) Size() uint64 { return uint64(len(l.slots)) * slotSize }

// Pos is the offset in the stream of the next byte to read.
func (l *Landing) Pos() uint64 { return l.pos }

// Release frees the memory of the stream before an offset: what follows from it is in the
// log, or lost because the log is full.
func (l *Landing) Release(to uint64) { l.released.Store(to) }

// Released is the last offset given to Release.
func (l *Landing) Released() uint64 { return l.released.Load() }

// SetAnswered notes, before replies are written to the pty, the offset behind the last query
// that they answer. A next host that processes these bytes again does not answer up to there:
// a program may miss an answer, but reads none twice.
func (l *Landing) SetAnswered(to uint64) { store(l.mem[answeredAt:], to) }

// Answered is the offset of SetAnswered.
func (l *Landing) Answered() uint64 { return load(l.mem[answeredAt:]) }

// SetTyping notes, before a write to the pty, the offset in the typed input that the write
// reaches; SetTyped notes after it the offset that it has reached. If a host dies in between,
// the input between the two may have arrived or not.
func (l *Landing) SetTyping(to uint64) { store(l.mem[typingAt:], to) }

// SetTyped: see SetTyping.
func (l *Landing) SetTyped(to uint64) { store(l.mem[typedAt:], to) }

// Typed returns the offsets of SetTyping and SetTyped.
func (l *Landing) Typed() (begun, done uint64) {
	return load(l.mem[typingAt:]), load(l.mem[typedAt:])
}

// Prepare prepares a pty for being read into the landing. It reports whether reads are counted
// exactly, which needs Linux.
func (l *Landing) Prepare(fd int) (exact bool, err error) {
	if len(l.slots) == 0 {
		return false, fmt.Errorf("journal: it was made without slots")
	}
	l.exact, err = countable(fd)
	return l.exact, err
}
