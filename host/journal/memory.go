package journal

import (
	"errors"
	"fmt"
	"os"
)

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
