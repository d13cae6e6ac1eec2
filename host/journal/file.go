package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrSize is Map's answer to a file that could be cut short under its reader,
// or has been.
var ErrSize = errors.New("the journal's file is not sealed or not whole")

// CreateFile makes memory for a journal: a sealed memory file on Linux, elsewhere
// or when that fails an unlinked file, 0600, in dir, the runtime directory. The
// file has size bytes of zeros. It goes when the last descriptor and mapping
// do; the keeper holds one (keeper.Client.Store).
func CreateFile(dir string, size int) (*os.File, error) {
	f, err := memoryFile(size)
	if err == nil {
		return f, nil
	}
	f, ferr := unlinkedFile(dir, size)
	if ferr != nil {
		return nil, fmt.Errorf("make a journal: %w", errors.Join(err, ferr))
	}
	return f, nil
}

// unlinkedFile has all its blocks: with a full disk it fails here, and not with
// a fault when the memory is written to.
func unlinkedFile(dir string, size int) (*os.File, error) {
	f, err := os.CreateTemp(dir, "journal.*")
	if err != nil {
		return nil, err
	}
	if err = os.Remove(f.Name()); err == nil {
		err = allocate(f, size)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Base(f.Name()), err)
	}
	return f, nil
}

// Map maps a journal's file; size 0 means all of it. Unmap when nothing uses
// the memory any more: not a log, not a landing, not a record.
func Map(f *os.File, size int) (mem []byte, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("map a journal: %w", err)
	}
	var merr error
	err = raw.Control(func(fd uintptr) { mem, merr = mapFD(int(fd), size) })
	if err = errors.Join(err, merr); err != nil {
		return nil, fmt.Errorf("map a journal: %w", err)
	}
	return mem, nil
}

func mapFD(fd, size int) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if size == 0 {
		size = int(st.Size)
	}
	if size <= 0 || int64(size) > st.Size || !sealed(fd, st.Nlink > 0) {
		return nil, ErrSize
	}
	return unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// Unmap gives back what Map gave.
func Unmap(mem []byte) error {
	if mem == nil {
		return nil
	}
	return unix.Munmap(mem)
}
