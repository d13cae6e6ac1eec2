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

// Source reads the pty into the landing: a goroutine of its own and, where a key was
// answered at once, who typed it.
type Source struct {
	Landing *journal.Landing
	raw     syscall.RawConn
	held    atomic.Pointer[func()] // of WithAnswer
	busy    atomic.Int64           // bytes read since the landing was trimmed

	turn  sync.Mutex // of who reads and processes; free while output is waited for, and at the end
	calm  int        // times in a row that little came
	rests bool       // so little came last that there is most likely nothing behind it
	flows bool       // so much came last that more is on its way
	took  bool       // WithAnswer has processed the chunk that was begun, and could not begin another

	waits bool // the goroutine has let go of its turn, to wait
	// Of Collect; kept, so that the functions are allocated once.
	gone func() bool
	step func(fd uintptr) bool // takeSome
	next func(l *journal.Landing, fd int) (int, error)
	err  error
}

// Begin makes it ready. The turn is the goroutine's. gone is whether the child is, as far as is
// known.
func (s *Source) Begin(raw syscall.RawConn, l *journal.Landing, gone func() bool) {
	s.raw, s.Landing, s.gone, s.step = raw, l, gone, s.takeSome
	s.turn.Lock()
}

// End gives the turn away for good.
func (s *Source) End() {
	s.turn.Unlock()
	s.Flush()
}

// Collect waits for output and takes what is there into the landing, up to a chunk. A pty
// gives at most 4 KiB at a time, and the kernel's worker has to run for the next: of a
// flood that is waited for, up to a batch.
// took says that WithAnswer has processed the chunk already.
func (s *Source) Collect() (took bool, err error) {
	s.err, s.next = nil, (*journal.Landing).Read // of what may be nothing; see package rawio
	if s.rests || s.flows {                      // as behind a key's echo, where nobody waits for the worker
		s.next, s.rests = (*journal.Landing).ReadReady, false
	}
	err = s.raw.Read(s.step)
	s.resume()
	took, s.took = s.took, false
	return took, cmp.Or(err, s.err)
}

// resume takes the turn back.
func (s *Source) resume() {
	if s.waits {
		s.turn.Lock()
		s.waits = false
	}
}

// Parked reports that output is waited for, or has ended.
func (s *Source) Parked() bool {
	free := s.turn.TryLock()
	if free {
		s.turn.Unlock()
	}
	return free
}

// takeSome is a step of Collect: false waits for the poller.
func (s *Source) takeSome(fd uintptr) bool {
	s.resume()
	if s.took {
		return true
	}
	n, err := s.readAvailable(int(fd), s.next)
	if n == 0 && err == nil && s.flows && rawio.WaitAlone(s.raw, fd, answerTime) { // Most print more slowly than it is processed here.
		n, err = s.readAvailable(int(fd), (*journal.Landing).ReadNow)
	}
	s.flows = n >= Much
	s.next = (*journal.Landing).ReadNow // the poller says that something is there
	if err == unix.EIO || err == io.EOF {
		// No process has the terminal open. While the child lives, or its
		// exit is not known yet, one may open it again.
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

// answerTime is how long the answer to a key is waited for, which nearly all programs that
// show it give sooner.
const answerTime = 400 * time.Microsecond

// WithAnswer calls flush, which writes the echo of input, behind what the program prints
// upon it if that comes at once: who watches is woken once for both. The caller sleeps
// in the kernel meanwhile, without the scheduler, as a timer of Go's would wake a thread, and
// reads what came, which the scheduler would wake the goroutine for a little later: process
// does what that does with it, and begins the next chunk, if more has room.
func (s *Source) WithAnswer(flush func(), process func() (more bool)) {
	s.hold(&flush)
	answered := false
	s.raw.Control(func(fd uintptr) { answered = s.Parked() && rawio.Wait(fd, answerTime) }) //nolint:errcheck // a closed pty answers nothing
	switch {
	case !answered:
		s.Flush()
	case s.turn.TryLock(): // else the goroutine is at it, which the poller wakes in any case
		defer s.turn.Unlock()
		if s.took {
			return
		}
		n := 0
		s.raw.Control(func(fd uintptr) { //nolint:errcheck // as above
			n, _ = s.readAvailable(int(fd), (*journal.Landing).ReadNow) // an error is the goroutine's, which meets it again
		})
		if n > 0 {
			s.next = (*journal.Landing).ReadReady // whatever woke the goroutine may be gone
			s.took = !process()
		}
	}
}

// Flush flushes what WithAnswer holds.
func (s *Source) Flush() { s.hold(nil) }

// hold flushes what is held, and holds something else.
func (s *Source) hold(flush *func()) {
	if before := s.held.Swap(flush); before != nil {
		(*before)()
	}
}

// Little is so few bytes that there is most likely nothing behind them. Finding
// that out makes the kernel wait for its own worker, while a key's echo waits.
const Little = 256

// Much is so much that more is on its way.
const Much = 2 << 10

// most is what a pty gives at a time at most: behind as much there is nothing until the
// kernel's worker has run.
const most = 4<<10 - 1

// batch is how much of a flood is waited for before it is processed.
const batch = 16 << 10

// readAvailable reads until the chunk is full or, likely, nothing is left. What
// was read before an error is given without it: the error comes again.
// first reads first, as it may have to wait.
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

// trimAfter is how much output uses so much of the landing that it is worth to
// give its memory back.
const trimAfter = 256 << 10

// Busy reports that a flood's memory is there still.
func (s *Source) Busy() bool { return s.busy.Load() > trimAfter }

// Trim gives back the memory that a flood needed, once little has come for a while, or nothing.
func (s *Source) Trim(n int) {
	if s.calm++; n >= Little {
		s.calm = 0
	}
	if busy := s.busy.Add(int64(n)); busy > trimAfter && (n == 0 || s.calm > 16) {
		s.busy.Store(0)
		s.Landing.Trim()
	}
}
