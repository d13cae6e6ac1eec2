package journal

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// packet is what readv needs.
type packet struct {
	iov   [2]unix.Iovec
	there int32
}

// countable puts the pty into packet mode: each read then begins with a byte of
// its own, 0 for output, so that the next host sees whether a read took place.
// The programs on the other side notice nothing.
func countable(fd int) (bool, error) {
	if _, err := unix.IoctlGetInt(fd, unix.TIOCINQ); err != nil {
		return false, nil //nolint:nilerr // some systems can't; the marked way works there
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCPKT, 1); err != nil {
		return false, nil //nolint:nilerr // as above
	}
	return true, nil
}

// readExact reads as many bytes as there are. The kernel gives all of them or,
// when the process dies before, none, and says which with the packet's byte; a
// read that was killed in the kernel still comes to its end there.
func (l *Landing) readExact(s *slot, fd int, how manner) (total int, err error) {
	for s.n < slotSize {
		there, err := l.available(fd)
		if err != nil {
			return total, err
		}
		switch {
		case there > 0:
		case total > 0:
			return total, nil
		case how == ifReady:
			return 0, syscall.EAGAIN
		}
		// None may mean that they have not come through yet, or the end: one
		// byte can't be read by halves either.
		want := min(max(there, 1), slotSize-s.n)
		s.touch(want)
		s.head[16] = unset
		s.intend(uint32(want) | exactly)
		n, err := l.readv(s, fd, want, how != whileTold || there > 0) // what is there is copied at once
		if n > 0 && s.head[16] == 0 {
			s.done(n - 1)
			if total += n - 1; n == 1 || there == 0 {
				continue // a packet without bytes, or the first of what came through
			}
			return total, nil
		}
		s.done(0)
		if n <= 0 {
			return total, err
		}
		// A packet about flow control or flushing: nobody here wants to know.
	}
	return total, nil
}

// available is how many bytes there are to read. It never waits.
func (l *Landing) available(fd int) (int, error) {
	there := unsafe.Pointer(&l.scratch.there)
	_, _, errno := syscall.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCINQ, uintptr(there))
	runtime.KeepAlive(l)
	if errno != 0 {
		return 0, errno
	}
	return int(l.scratch.there), nil
}

// ready reports whether a read would not have to wait for the kernel's worker.
func (l *Landing) ready(fd int) bool {
	n, err := l.available(fd)
	return err != nil || n > 0
}

// readv reads a packet: its first byte into the slot's header, the rest to the
// slot's end.
func (l *Landing) readv(s *slot, fd, want int, now bool) (int, error) {
	v := &l.scratch.iov
	v[0].Base, v[1].Base = &s.head[16], &s.bytes()[s.n]
	v[0].SetLen(1)
	v[1].SetLen(want)
	var n uintptr
	var errno syscall.Errno
	if now {
		n, _, errno = syscall.RawSyscall(unix.SYS_READV, uintptr(fd), uintptr(unsafe.Pointer(&v[0])), 2)
	} else {
		n, _, errno = syscall.Syscall(unix.SYS_READV, uintptr(fd), uintptr(unsafe.Pointer(&v[0])), 2)
	}
	runtime.KeepAlive(l)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// touch makes the pages that a read will write to: one that is missing could
// fail the read, after the kernel took the bytes from the pty, if the process
// is killed just then.
func (s *slot) touch(want int) {
	for end := slotFront + s.n + want; s.touched < end; s.touched += page {
		s.mem[s.touched] = 0 // nothing was read into this page yet
	}
}

func readPlain(fd int, p []byte) (int, error) { return unix.Read(fd, p) }
