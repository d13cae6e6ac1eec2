package roster

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"tandemux/ahp"
	"tandemux/host/keeper"
)

// fileName is the file's in the runtime directory.
const fileName = "programs.json"

type Program struct {
	Terminal ahp.URI `json:"terminal"`
	Name     string  `json:"name"` // of the program that was started
	keeper.Identity
}

// Roster is the file and the strays.
type Roster struct {
	path   string
	work   *sync.WaitGroup
	failed func(error)

	mu     sync.Mutex
	strays []Program
	last   []Program // written, or being written
	next   []Program // to be written
	busy   bool
}

// New makes the roster of a runtime directory. work counts what is being written, and
// failed is told, from a goroutine of its own, why it couldn't be.
func New(runtime string, work *sync.WaitGroup, failed func(error)) *Roster {
	return &Roster{path: filepath.Join(runtime, fileName), work: work, failed: failed}
}

// Find reads what the host before has written. The programs that still run and that the
// keeper does not have are the strays, which it gives. It is called once, before Put.
func (r *Roster) Find(children []keeper.Info) []Program {
	r.mu.Lock()
	defer r.mu.Unlock()
	os.Remove(r.path + ".new") // of a host that died while it wrote
	text, err := os.ReadFile(r.path)
	if err != nil || json.Unmarshal(text, &r.last) != nil {
		os.Remove(r.path) // damaged, or not there
		r.last = nil
	}
	for _, p := range r.last {
		kept := slices.ContainsFunc(children, func(c keeper.Info) bool { return c.Pid == p.Pid && c.Exit == nil })
		if !kept && p.Alive() {
			r.strays = append(r.strays, p)
		}
	}
	return slices.Clone(r.strays)
}

// Strays are those that still run.
func (r *Roster) Strays() []Program {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.strays = slices.DeleteFunc(r.strays, func(p Program) bool { return !p.Alive() })
	return slices.Clone(r.strays)
}

// Put has the file hold the strays and these programs, if it does not already.
func (r *Roster) Put(programs []Program) {
	all := append(r.Strays(), programs...)
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
	r.work.Go(func() {
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
				r.failed(err)
			}
		}
	})
}

// Forget has the next Put write, whatever was written before.
func (r *Roster) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = nil
}

func (r *Roster) End(ctx context.Context) error {
	all := r.Strays()
	failed := make([]error, len(all))
	var ending sync.WaitGroup
	for i, p := range all {
		ending.Go(func() { failed[i] = p.End(ctx) })
	}
	ending.Wait()
	return errors.Join(failed...)
}

func (r *Roster) write(all []Program) error {
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
	temp := r.path + ".new" // of one name: a host that is killed leaves one at most
	if err = os.WriteFile(temp, text, 0o600); err == nil {
		err = os.Rename(temp, r.path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}
