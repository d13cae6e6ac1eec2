package host

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"tandemux/ahp"
	"tandemux/host/core"
)

// rosterName is the file in the runtime directory with the programs that run, for a
// host that finds neither the keeper that started them nor another host.
const rosterName = "programs.json"

// roster writes that file, in the background.
type roster struct {
	path string

	mu   sync.Mutex
	last []program // written, or being written
	next []program // to be written
	busy bool
}

// read gives what the host before has written.
func (r *roster) read() []program {
	text, err := os.ReadFile(r.path)
	if err != nil || json.Unmarshal(text, &r.last) != nil {
		os.Remove(r.path) // damaged, or not there
		r.last = nil
	}
	return r.last
}

// put has the file hold these programs, if it does not already. begin is called
// before a goroutine starts, end when it is done.
func (r *roster) put(all []program, begin, end func(), failed func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.busy && slices.Equal(all, r.last) {
		return
	}
	r.next = all
	if r.busy {
		return
	}
	r.busy = true
	begin()
	go func() {
		defer end()
		for {
			r.mu.Lock()
			if slices.Equal(r.next, r.last) {
				r.busy = false
				r.mu.Unlock()
				return
			}
			now := r.next
			r.last = now
			r.mu.Unlock()
			if err := r.write(now); err != nil {
				failed(err)
			}
		}
	}()
}

// forget has the next put write, whatever was written before.
func (r *roster) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = nil
}

func (r *roster) write(all []program) error {
	if len(all) == 0 {
		err := os.Remove(r.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	temp := r.path + ".new"
	if err = os.WriteFile(temp, text, 0o600); err == nil {
		err = os.Rename(temp, r.path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// enroll writes down which programs run.
func (h *Host) enroll(tx core.Tx) {
	if tx.Closing() {
		return
	}
	all := h.strays.list()
	for _, t := range h.terms {
		if t.value.Lifecycle.Exited() || t.identity.Pid == 0 || h.stopping && !t.identity.Alive() {
			continue
		}
		all = append(all, program{t.ch.URI, t.programName(), t.identity})
	}
	h.roster.put(all, func() { h.ending.Add(1) }, h.ending.Done, func(err error) {
		h.log.Warn("programs will not be found again if the keeper and the host die", "err", err)
	})
}

// programName is what people know a terminal's process by.
func (t *term) programName() string {
	if len(t.meta.Command) > 0 {
		return filepath.Base(t.meta.Command[0])
	}
	return filepath.Base(t.shell)
}

// orphans are the programs without a terminal, for x-tandemux/host.
func (h *Host) orphans() []ahp.Orphan {
	var all []ahp.Orphan
	for _, p := range h.strays.list() {
		all = append(all, ahp.Orphan{Terminal: p.Terminal, Pid: p.Pid, Name: p.Name})
	}
	return all
}
