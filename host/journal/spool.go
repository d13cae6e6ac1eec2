package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// MaxSpool is how much a Spool writes at a time, in bytes.
const MaxSpool = page

const (
	// The spool's first page: whether what follows counts, the offset of the write
	// in all that was typed, its length, and whose it is; behind it the bytes.
	spoolValid = 0
	spoolAt    = 8
	spoolSize  = 16
	spoolOwner = 24 // its length, then the text
	maxOwner   = 256
)

// Spool is memory that ptys are written from, so that it is known after the death
// of a host, at whatever instant, which bytes a pty has taken: the kernel moves the
// file's position by as many, in the same system call (sendfile), and the position
// belongs to the file that the keeper holds, not to the process. A call that has
// begun comes to its end in the kernel also when its process is killed.
//
// One serves all terminals of a host. All methods may be called from any
// goroutine; Write never waits for a program, only for the writes of others. A nil
// Spool, and one on a system that has no such call for ttys, writes without that
// knowledge, and the landing tells what was begun (Landing.SetTyping).
type Spool struct {
	mu   sync.Mutex
	file *os.File
	fd   int
	mem  []byte
	off  bool // the system can't
}

// Spooled is what a host that died left of its last write.
type Spooled struct {
	Owner string
	// At is the offset up to which its pty has taken what was typed, Rest what it
	// has not taken of the write that began before.
	At   uint64
	Rest string
}

// NewSpool makes one; its file is for the keeper. dir is the runtime directory.
func NewSpool(dir string) (*Spool, error) {
	f, err := CreateFile(dir, 2*page)
	if err != nil {
		return nil, err
	}
	mem, err := Map(f, 2*page)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Spool{file: f, fd: int(f.Fd()), mem: mem}, nil
}

// File is for the keeper to hold; it stays the spool's.
func (s *Spool) File() *os.File { return s.file }

// Close lets go of it. Nothing may use it any more.
func (s *Spool) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off = true
	return errors.Join(Unmap(s.mem), s.file.Close())
}

// Write writes to a pty, without waiting, what is typed into an owner's terminal
// from an offset on: at most MaxSpool bytes of p. The landing knows afterwards.
// Where the spool can't, plain is what writes.
func (s *Spool) Write(l *Landing, owner string, fd uintptr, at uint64, p []byte, plain func(fd uintptr, p []byte) (int, error)) (n int, err error) {
	if s != nil && len(owner) <= maxOwner {
		p = p[:min(len(p), MaxSpool)]
		n, err, ok := s.send(l, owner, fd, at, p)
		if ok {
			return n, err
		}
	}
	l.SetTyping(at + uint64(len(p)))
	n, err = plain(fd, p)
	n = max(n, 0)
	l.SetTyped(at + uint64(n))
	l.SetTyping(at + uint64(n))
	return n, err
}

// send is Write through the file; ok is false when the system can't.
func (s *Spool) send(l *Landing, owner string, fd uintptr, at uint64, p []byte) (n int, err error, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off {
		return 0, nil, false
	}
	store(s.mem[spoolValid:], 0)
	store(s.mem[spoolAt:], at)
	store(s.mem[spoolSize:], uint64(len(p)))
	store(s.mem[spoolOwner:], uint64(len(owner)))
	copy(s.mem[spoolOwner+8:], owner)
	copy(s.mem[page:], p)
	if err := rewind(s.fd, page); err != nil {
		s.off = true
		return 0, nil, false
	}
	store(s.mem[spoolValid:], 1)
	n, err = sendfile(fd, s.fd, len(p))
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		s.off = true
		store(s.mem[spoolValid:], 0)
		return 0, nil, false
	}
	n = max(n, 0)
	l.SetTyping(at + uint64(n))
	l.SetTyped(at + uint64(n))
	if n == len(p) || n == 0 {
		store(s.mem[spoolValid:], 0)
	} // Else the rest is nowhere else until who typed it notes that it waits.
	clear(s.mem[page:][:n])
	return n, err, true
}

// ReadSpool tells what an earlier host left in a spool's file; false when it was
// writing nothing.
func ReadSpool(f *os.File) (sp Spooled, ok bool, err error) {
	mem, err := Map(f, 2*page)
	if err != nil {
		return sp, false, fmt.Errorf("read what was being typed: %w", err)
	}
	defer Unmap(mem) //nolint:errcheck // nothing is lost
	pos, err := f.Seek(0, 1)
	if err != nil {
		return sp, false, fmt.Errorf("read what was being typed: %w", err)
	}
	size, owner := load(mem[spoolSize:]), load(mem[spoolOwner:])
	done := uint64(pos - page)
	if load(mem[spoolValid:]) != 1 || size > page || owner > maxOwner || pos < page || done > size {
		return sp, false, nil
	}
	sp.Owner = string(mem[spoolOwner+8:][:owner])
	sp.At = binary.NativeEndian.Uint64(mem[spoolAt:]) + done
	sp.Rest = string(mem[page+done : page+size])
	return sp, true, nil
}
