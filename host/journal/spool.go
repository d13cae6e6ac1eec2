package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// MaxSpool is how many bytes a Spool writes per call.
const MaxSpool = page

const (
	// The spool's first page: whether it is valid, the offset of the write in the typed
	// input, its length, and its owner. The bytes are in the next page.
	spoolValid = 0
	spoolAt    = 8
	spoolSize  = 16
	spoolOwner = 24 // its length, then the text
	maxOwner   = 256
)

// Spool is memory from which ptys are written, so that after a host's death, at whatever
// instant, the next one knows which bytes a pty has taken. The kernel moves the file's position
// by these bytes in the same system call (sendfile), and the position belongs to the file, which
// the keeper holds, not to the process. A call that has begun completes in the kernel even if
// its process is killed.
//
// One Spool serves all terminals of a host. All methods may be called from any goroutine. Write
// never waits for a program, only for other writes. A nil Spool, and one on a system without
// sendfile to ttys, writes without that knowledge; then Landing.SetTyping tells what is in
// doubt.
type Spool struct {
	mu   sync.Mutex
	file *os.File
	fd   int
	mem  []byte
	off  bool // the system can't sendfile to ttys
}

// Spooled is the last write of a host that died.
type Spooled struct {
	Owner string
	// At is the offset in the typed input up to which the pty has taken it, Rest the part of
	// the write that it has not taken.
	At   uint64
	Rest string
}

// NewSpool makes a Spool, whose File the caller gives to the keeper. dir is the runtime
// directory.
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

// File is the file for the keeper to hold. The spool owns it.
func (s *Spool) File() *os.File { return s.file }

// Close unmaps and closes the spool, which nothing may use any more.
func (s *Spool) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off = true
	return errors.Join(Unmap(s.mem), s.file.Close())
}

// Write writes at most MaxSpool bytes of p to a pty, without waiting. p is the typed input of the
// owner's terminal from offset at on. Afterwards the landing has noted the new offset. If the
// spool can't write, Write calls plain.
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

// send is Write through the file; ok is false if the system can't.
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
	} // else the spool alone has the rest, until the caller journals that it waits
	clear(s.mem[page:][:n])
	return n, err, true
}

// ReadSpool reads what an earlier host left in a spool's file; ok is false if it was not writing.
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
