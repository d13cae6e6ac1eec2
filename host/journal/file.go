package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrSize is Map's error for a file that could be truncated while it is mapped, or was.
var ErrSize = errors.New("the journal's file is not sealed or not whole")

// CreateFile makes memory for a journal: a sealed memory file on Linux; on other systems, or
// if that fails, an unlinked file of mode 0600 in dir, the runtime directory. It has size
// bytes of zeros, and exists until its last descriptor and mapping are closed; the keeper
// holds a descriptor (keeper.Client.Store).
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

// unlinkedFile makes an unlinked file with all its blocks allocated: if the disk is full it
// fails here, and not with a fault when the memory is written.
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

// Map maps size bytes of a journal's file, or all of it if size is 0. The caller unmaps the
// memory when no log, landing or record uses it any more.
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

// Unmap unmaps the memory of Map.
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
	// File is the memory's file, for keeper.Client.Store; nil if the memory does not
	// outlive the process.
	File *os.File
	mem  []byte
}

// NewMemory makes a journal in memory that outlives the process once its File is stored. If
// it can't make such memory, it returns a journal in the process's own memory, which works
// but does not survive a crash, and an error that says why.
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

// AdoptMemory opens the journal of an earlier host, and owns f. On an error it closes f.
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

// Close unmaps the memory; the keeper's file stays. Nothing of the journal may be in use, then
// or later: no recovered record, no chunk, no landing of a terminal's reader.
func (m *Memory) Close() error {
	mem, f := m.mem, m.File
	m.mem, m.File, m.Log, m.Landing = nil, nil, nil, nil
	err := Unmap(mem)
	if f != nil {
		err = errors.Join(err, f.Close())
	}
	return err
}
