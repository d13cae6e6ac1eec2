//go:build !linux

package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func memoryFile(int) (*os.File, error) { return nil, errors.ErrUnsupported }

func sealed(_ int, named bool) bool { return !named }

// allocate writes zeros: writing to a mapped sparse file would fault on a full disk.
func allocate(f *os.File, size int) error {
	zeros := make([]byte, 1<<20)
	for size > 0 {
		n, err := f.Write(zeros[:min(size, len(zeros))])
		if err != nil {
			return err
		}
		size -= n
	}
	return nil
}

// remove does nothing: other systems can't free a part of a file's memory.
func remove([]byte) {}

// sendfile fails: on other systems it writes to sockets only.
func sendfile(uintptr, int, int) (int, error) { return 0, unix.ENOSYS }

func rewind(int, int) error { return unix.ENOSYS }

type packet struct{}

// countable reports false: readMarked counts reads instead.
func countable(int) (bool, error) { return false, nil }

func (l *Landing) readExact(s *slot, fd int, _ manner) (int, error) { return l.readMarked(s, fd) }

func readPlain(fd int, p []byte) (int, error) { return unix.Read(fd, p) }

func (l *Landing) ready(int) bool { return true }
