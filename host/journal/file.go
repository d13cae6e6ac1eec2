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

// Memory is a log and a landing with the memory that they are in.
type Memory struct {
	Log     *Log
	Landing *Landing
	// File is the memory's, for keeper.Client.Store; nil for one that does not
	// outlive the process.
	File *os.File
	mem  []byte
}

// NewMemory makes a journal in memory that outlives the process once its File is
// stored. When such memory can't be had the journal is of the process's own,
// good for everything but a crash, and the error says why: the host goes on,
// and tells.
func NewMemory(dir string, o Options) (*Memory, error) {
	if err := o.withDefaults().check(); err != nil {
		return nil, err
	}
	f, err := CreateFile(dir, o.Size())
	if err == nil {
		m := &Memory{File: f}
		if m.mem, err = Map(f, 0); err == nil {
			if m.Log, m.Landing, err = Create(m.mem, o); err == nil {
				return m, nil
			}
		}
		m.Close()
	}
	m := new(Memory)
	var perr error
	if m.Log, m.Landing, perr = Create(make([]byte, o.Size()), o); perr != nil {
		return nil, perr
	}
	return m, fmt.Errorf("what terminals show will not survive a crash of the host: %w", err)
}

// AdoptMemory opens the journal of an earlier host, and takes f over. On an error f
// is closed.
func AdoptMemory(f *os.File) (*Memory, Recovered, error) {
	m := &Memory{File: f}
	var err error
	if m.mem, err = Map(f, 0); err != nil {
		m.Close()
		return nil, Recovered{}, err
	}
	var r Recovered
	if m.Log, m.Landing, r, err = Open(m.mem); err != nil {
		m.Close()
		return nil, r, err
	}
	return m, r, nil
}

// Close lets go of the memory; what is stored with the keeper stays. Nothing of
// the journal may be in use, nor be used afterwards: not a record that was
// recovered, not a chunk, not by the terminal's reader.
func (m *Memory) Close() error {
	mem, f := m.mem, m.File
	m.mem, m.File, m.Log, m.Landing = nil, nil, nil, nil
	err := Unmap(mem)
	if f != nil {
		err = errors.Join(err, f.Close())
	}
	return err
}
