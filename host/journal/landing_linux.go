package journal

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// packet is the arguments of readv.
type packet struct {
	iov   [2]unix.Iovec
	there int32
}

// countable puts the pty into packet mode: the kernel then begins each read with a byte of its
// own, 0 for output, by which the next host sees whether a read took place. Programs in the
// terminal don't notice.
func countable(fd int) (bool, error) {
	if _, err := unix.IoctlGetInt(fd, unix.TIOCINQ); err != nil {
		return false, nil //nolint:nilerr // not all systems can; readMarked works there
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCPKT, 1); err != nil {
		return false, nil //nolint:nilerr // as above
	}
	return true, nil
}

// readExact reads as many bytes as there are. The kernel returns all of them, or none if the
// process dies before; the packet's byte tells which. A read whose process is killed still
// completes in the kernel.
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
		// If there are none, they may not have come through yet, or the output has ended.
		// Try to read one byte, which is also read as a whole or not at all.
		want := min(max(there, 1), slotSize-s.n)
		s.touch(want)
		s.head[16] = unset
		s.intend(uint32(want) | exactly)
		n, err := l.readv(s, fd, want, how != whileTold || there > 0) // what is there is copied at once
		if n > 0 && s.head[16] == 0 {
			s.done(n - 1)
			if total += n - 1; n == 1 || there == 0 {
				continue // a packet without data, or the first byte of what came through
			}
			return total, nil
		}
		s.done(0)
		if n <= 0 {
			return total, err
		}
		// A packet about flow control or flushing, which we ignore.
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

// ready reports whether a read has something without a wait for the kernel's worker.
func (l *Landing) ready(fd int) bool {
	n, err := l.available(fd)
	return err != nil || n > 0
}

// readv reads a packet: its first byte into the slot's header, its data to the slot's end.
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

// touch makes the pages present that a read will write to. Otherwise a read could fail on a
// missing page, after the kernel took the bytes from the pty, if the process is killed then.
func (s *slot) touch(want int) {
	for end := slotFront + s.n + want; s.touched < end; s.touched += page {
		s.mem[s.touched] = 0 // the page has no data yet
	}
}

func readPlain(fd int, p []byte) (int, error) { return unix.Read(fd, p) }
