//go:build !linux

package terminal

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
	"tandemux/internal/pty"
)

// openPair opens a pty: a master as the keeper hands it out, and the slave.
func openPair(t testing.TB) (master *os.File, slave int) {
	t.Helper()
	m, s, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	defer s.Close()
	dup := func(f *os.File) (fd int) {
		raw, err := f.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 3) })
		if err != nil {
			t.Fatal(fmt.Errorf("duplicate: %w", err))
		}
		return fd
	}
	mfd, slave := dup(m), dup(s)
	unix.SetNonblock(mfd, true)
	unix.SetNonblock(slave, false)
	return os.NewFile(uintptr(mfd), "master"), slave
}

func makeRaw(t testing.TB, fd int) {
	t.Helper()
	tio, err := unix.IoctlGetTermios(fd, unix.TIOCGETA)
	if err != nil {
		t.Fatal(err)
	}
	tio.Iflag, tio.Oflag, tio.Lflag = 0, 0, 0
	if err := unix.IoctlSetTermios(fd, unix.TIOCSETA, tio); err != nil {
		t.Fatal(err)
	}
}
