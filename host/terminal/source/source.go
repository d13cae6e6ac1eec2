package source

import (
	"cmp"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/host/journal"
	"tandemux/internal/rawio"
)

// Source reads the pty into the landing. Its callers are the terminal's reader goroutine
// and, for the answer to a key, the goroutine that typed the key.
type Source struct {
	Landing *journal.Landing
	raw     syscall.RawConn
	held    atomic.Pointer[func()] // WithAnswer's flush, until it is called
	busy    atomic.Int64           // bytes read since the landing was trimmed

	turn  sync.Mutex // held while reading and processing; free while the reader waits, and after End
	calm  int        // reads in a row of less than Little
	rests bool       // the last read was less than Little: most likely nothing follows
	flows bool       // the last read was at least Much: more follows
	took  bool       // WithAnswer has processed the reader's chunk, and could not begin another

	waits bool // the reader has released turn, to wait
	// State of Collect; the functions are fields so that they are allocated once.
	gone func() bool
	step func(fd uintptr) bool // takeSome
	next func(l *journal.Landing, fd int) (int, error)
	err  error
}

// Begin prepares the source and takes turn for the reader goroutine, which calls it. gone
// reports whether the child process is known to have ended.
func (s *Source) Begin(raw syscall.RawConn, l *journal.Landing, gone func() bool) {
	s.raw, s.Landing, s.gone, s.step = raw, l, gone, s.takeSome
	s.turn.Lock()
}

// End releases turn for good.
func (s *Source) End() {
	s.turn.Unlock()
	s.Flush()
}

// Collect waits for output and reads what is there into the landing, up to a chunk. A pty
// returns at most 4 KiB per read, and the kernel's worker has to run before the next. In a
// flood Collect waits for that, up to a batch. took says that WithAnswer has processed the
// chunk already. Only the reader goroutine may call it.
func (s *Source) Collect() (took bool, err error) {
	s.err, s.next = nil, (*journal.Landing).Read // may wait for the kernel's worker; see package rawio
	if s.rests || s.flows {                      // after a key's echo don't wait for the worker
		s.next, s.rests = (*journal.Landing).ReadReady, false
	}
	err = s.raw.Read(s.step)
	s.resume()
	took, s.took = s.took, false
	return took, cmp.Or(err, s.err)
}

// resume takes turn back after a wait.
func (s *Source) resume() {
	if s.waits {
		s.turn.Lock()
		s.waits = false
	}
}

// Parked reports whether the reader waits for output, or has ended.
func (s *Source) Parked() bool {
	free := s.turn.TryLock()
	if free {
		s.turn.Unlock()
	}
	return free
}

// takeSome is a step of Collect. It returns false to wait in the poller.
func (s *Source) takeSome(fd uintptr) bool {
	s.resume()
	if s.took {
		return true
	}
	n, err := s.readAvailable(int(fd), s.next)
	if n == 0 && err == nil && s.flows && rawio.WaitAlone(s.raw, fd, answerTime) { // most programs print more slowly than we process
		n, err = s.readAvailable(int(fd), (*journal.Landing).ReadNow)
	}
	s.flows = n >= Much
	s.next = (*journal.Landing).ReadNow // for the next step: the poller has found output
	if err == unix.EIO || err == io.EOF {
		// No process has the terminal open. As long as the child is not known to have
		// ended, a process may open it again.
		if err = nil; n == 0 && s.gone() {
			err = io.EOF
		}
	}
	s.err = err
	if s.waits = n == 0 && err == nil; s.waits {
		s.turn.Unlock()
	}
	return !s.waits
}

// answerTime is how long to wait for a program's answer to a key. Nearly all programs that
// answer do so sooner.
const answerTime = 400 * time.Microsecond

// WithAnswer calls flush, which writes the echo of input to viewers, after the program's
// answer if that comes within answerTime, so that viewers wake once for both. The caller
// sleeps in the kernel, as a Go timer would wake another thread. It then reads the answer
// itself, before the scheduler would wake the reader. process handles what was read and
// begins the next chunk; more says that it could begin one.
func (s *Source) WithAnswer(flush func(), process func() (more bool)) {
	s.hold(&flush)
	answered := false
	s.raw.Control(func(fd uintptr) { answered = s.Parked() && rawio.Wait(fd, answerTime) }) //nolint:errcheck // a closed pty answers nothing
	switch {
	case !answered:
		s.Flush()
	case s.turn.TryLock(): // else the reader, which the poller wakes too, is processing it
		defer s.turn.Unlock()
		if s.took {
			return
		}
		n := 0
		s.raw.Control(func(fd uintptr) { //nolint:errcheck // as above
			n, _ = s.readAvailable(int(fd), (*journal.Landing).ReadNow) // the reader meets the error again
		})
		if n > 0 {
			s.next = (*journal.Landing).ReadReady // what the poller wakes the reader for may have been read here
			s.took = !process()
		}
	}
}

// Flush calls WithAnswer's flush, if that has not been called yet.
func (s *Source) Flush() { s.hold(nil) }

// hold calls the held flush and holds another one.
func (s *Source) hold(flush *func()) {
	if before := s.held.Swap(flush); before != nil {
		(*before)()
	}
}

// After a read of less than Little bytes most likely nothing follows. Another read would
// wait for the kernel's worker, and delay a key's echo.
const Little = 256

// After a read of at least Much bytes more follows.
const Much = 2 << 10

// most is the most that a pty returns per read. After so much there is nothing until the
// kernel's worker has run.
const most = 4<<10 - 1

// batch is how many bytes of a flood are collected before they are processed.
const batch = 16 << 10

// readAvailable reads until the chunk is full or most likely nothing is left. If it has
// read something, it leaves out an error, which the next read meets again. first is used
// for the first read, ReadReady for the others.
func (s *Source) readAvailable(fd int, first func(*journal.Landing, int) (int, error)) (n int, err error) {
	for read := first; !s.Landing.Full(); read = (*journal.Landing).ReadReady {
		m, err := read(s.Landing, fd)
		switch {
		case m > 0 && n == 0 && m < Little:
			s.rests = true
			return m, nil
		case m > 0:
			if n += m; m == most && s.flows && (n >= batch || !rawio.WaitAlone(s.raw, uintptr(fd), answerTime)) {
				return n, nil
			}
		case err == unix.EINTR:
		case n > 0 || err == unix.EAGAIN:
			return n, nil
		case err == nil:
			return 0, io.EOF
		default:
			return 0, err
		}
	}
	return n, nil
}

// trimAfter is the bytes of output after which freeing the landing's memory is worthwhile.
const trimAfter = 256 << 10

// Busy reports whether the landing still has the memory of a flood.
func (s *Source) Busy() bool { return s.busy.Load() > trimAfter }

// Trim is called after each read, with its bytes. It frees the memory that a flood needed
// once nothing was read, or little for a while.
func (s *Source) Trim(n int) {
	if s.calm++; n >= Little {
		s.calm = 0
	}
	if busy := s.busy.Add(int64(n)); busy > trimAfter && (n == 0 || s.calm > 16) {
		s.busy.Store(0)
		s.Landing.Trim()
	}
}
