package journal

import (
	"errors"
	"fmt"
	"os"
)

// Journal is a log and a landing with their memory.
type Journal struct {
	Log     *Log
	Landing *Landing
	// File is the memory's, for keeper.Client.Store; nil for one that does not
	// outlive the process.
	File *os.File
	mem  []byte
}

// New makes a journal in memory that outlives the process once its File is
// stored. When such memory can't be had the journal is of the process's own,
// good for everything but a crash, and the error says why: the host goes on,
// and tells.
func New(dir string, o Options) (*Journal, error) {
	if err := o.withDefaults().check(); err != nil {
		return nil, err
	}
	f, err := CreateFile(dir, o.Size())
	if err == nil {
		j := &Journal{File: f}
		if j.mem, err = Map(f, 0); err == nil {
			if j.Log, j.Landing, err = Create(j.mem, o); err == nil {
				return j, nil
			}
		}
		j.Close()
	}
	j := new(Journal)
	var perr error
	if j.Log, j.Landing, perr = Create(make([]byte, o.Size()), o); perr != nil {
		return nil, perr
	}
	return j, fmt.Errorf("what terminals show will not survive a crash of the host: %w", err)
}

// Adopt opens the journal of an earlier host, and takes f over. On an error f
// is closed.
func Adopt(f *os.File) (*Journal, Recovered, error) {
	j := &Journal{File: f}
	var err error
	if j.mem, err = Map(f, 0); err != nil {
		j.Close()
		return nil, Recovered{}, err
	}
	var r Recovered
	if j.Log, j.Landing, r, err = Open(j.mem); err != nil {
		j.Close()
		return nil, r, err
	}
	return j, r, nil
}

// Close lets go of the memory; what is stored with the keeper stays. Nothing of
// the journal may be in use, nor be used afterwards: not a record that was
// recovered, not a chunk, not by the terminal's reader.
func (j *Journal) Close() error {
	mem, f := j.mem, j.File
	j.mem, j.File, j.Log, j.Landing = nil, nil, nil, nil
	err := Unmap(mem)
	if f != nil {
		err = errors.Join(err, f.Close())
	}
	return err
}
