package journal

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// spareArea is the initial area of journals without a pty, in bytes.
	spareArea = 1 << 20
	// landingSlots is how many slots of 64 KiB a terminal's journal has; only used ones
	// take memory.
	landingSlots = 32
	// storeTime is how long to wait for the keeper's answer.
	storeTime = 10 * time.Second
	// keptSpares is how many spare journals the keeper has already, so that a channel can be
	// journalled at once, under the host's lock.
	keptSpares = 3
	spareName  = "spare"
)

// Keeper holds journals' files for the next host.
type Keeper interface {
	Store(ctx context.Context, name string, f *os.File) error
	Discard(ctx context.Context, name string) error
	Err() error // why the connection has ended
}

// Shelf makes journals and hands them to the keeper. Its methods may be called from any
// goroutine; those that wait for the keeper say so.
type Shelf struct {
	Dir    string        // the runtime directory
	Keeper func() Keeper // the present keeper
	Now    func() time.Time
	Log    *slog.Logger
	// Failed is called, with no lock held, when spares can't be made.
	Failed func(error)

	work      sync.WaitGroup
	mu        sync.Mutex
	made      int64
	spares    []*Journal // the keeper has them already
	refilling bool       // more are being made
	closing   bool
}

// make makes a journal, which the keeper does not have yet. An error says that it will not
// survive the host; the journal can be used all the same, unless it is nil.
func (s *Shelf) make(about string, area, slots int) (*Journal, error) {
	s.mu.Lock()
	s.made++
	made := s.Now().UnixNano() + s.made
	s.mu.Unlock()
	m, err := NewMemory(s.Dir, Options{Name: about, Area: area, Slots: slots})
	if m == nil {
		return nil, err
	}
	return &Journal{Name: strings.ToLower(rand.Text()) + " " + about, Made: made, mem: m, Broken: err}, err
}

// Terminal makes the journal of a terminal and hands it to the keeper, under a name that begins
// with the child's id. It waits for the keeper. An error says that the journal, unless it is
// nil, would not survive the host.
func (s *Shelf) Terminal(child, about string) (*Journal, error) {
	j, err := s.make(about, 0, landingSlots)
	if j == nil {
		return nil, err
	}
	j.Name = child + " " + about
	if err == nil {
		err = s.hand(j, j.takeFile())
	}
	j.Broken = err
	return j, err
}

// Larger makes a journal to replace one that the state has outgrown: a terminal's, of child, or
// with child "" another channel's. It returns nil if it can't. A terminal's pty is still read
// into the old one. The caller calls HandOver when the state is in the new one.
func (s *Shelf) Larger(old *Journal, child, about string, area int) *Journal {
	j, err := s.make(about, area, 0)
	if j == nil || child != "" && err != nil {
		j.Close()
		s.Log.Error("journal a larger state", "channel", about, "err", err)
		return nil
	}
	if child != "" {
		j.Name = child + " " + j.Name // the next host finds the child by the name
	}
	j.replace(old, child != "")
	return j
}

// hand gives a journal's file to the keeper, and closes the file.
func (s *Shelf) hand(j *Journal, f *os.File) error {
	if f == nil {
		return j.Broken
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	if err := s.Keeper().Store(ctx, j.Name, f); err != nil {
		return fmt.Errorf("leave a journal with the keeper: %w", err)
	}
	return nil
}

// HandOver hands a journal to the keeper in the background, and then closes the journal that it
// replaces. To do so it calls locked, which must call left with the lock that guards the
// journal. If left returns an error, it has set the journal's Broken; the journal stays in use.
func (s *Shelf) HandOver(j *Journal, locked func(left func() error)) {
	f := j.takeFile() // the channel and its journal may be removed meanwhile
	s.work.Go(func() {
		err := s.hand(j, f)
		var names []string
		locked(func() error {
			names = j.left(err)
			if !j.Open() {
				return nil
			}
			return err
		})
		s.Discard(names...)
	})
}

// Discard has the keeper forget journals. It waits for the keeper.
func (s *Shelf) Discard(names ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	for _, name := range names {
		k := s.Keeper()
		if err := k.Discard(ctx, name); err != nil && k.Err() == nil && !s.isClosing() {
			s.Log.Warn("discard a journal", "err", err)
		}
	}
}

// Drop closes a journal and has the keeper forget it, in the background.
func (s *Shelf) Drop(j *Journal) {
	names := j.Close()
	s.work.Go(func() { s.Discard(names...) })
}

// Get returns a journal for a channel without waiting, mostly a spare that the keeper has. If
// kept is false, the caller must call HandOver. An error says why there is no journal.
func (s *Shelf) Get() (j *Journal, kept bool, err error) {
	s.mu.Lock()
	if n := len(s.spares); n > 0 {
		j, s.spares = s.spares[n-1], s.spares[:n-1]
	}
	s.mu.Unlock()
	s.Refill()
	if j != nil {
		return j, true, nil
	}
	if j, err = s.make(spareName, spareArea, 0); j != nil {
		err = nil // Broken has it
	}
	return j, false, err
}

// IsSpare reports whether a recovered journal was made as a spare; one with a state is in use.
func IsSpare(r Recovered) bool { return r.Name == spareName }

// Put adds a spare that an earlier host left. It returns false if there are enough.
func (s *Shelf) Put(j *Journal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.spares) >= keptSpares {
		return false
	}
	s.spares = append(s.spares, j)
	return true
}

// Fill makes the spares that are missing. It waits for the keeper.
func (s *Shelf) Fill() error {
	for {
		s.mu.Lock()
		enough := s.closing || len(s.spares) >= keptSpares
		s.mu.Unlock()
		if enough {
			return nil
		}
		k := s.Keeper()
		j, err := s.make(spareName, spareArea, 0)
		if err == nil {
			err = s.hand(j, j.takeFile())
		}
		switch {
		case k != s.Keeper(): // the file may be with the keeper before
			j.Close()
		case err != nil:
			j.Close()
			if k.Err() != nil {
				return nil // Refill follows with another keeper
			}
			return err
		case !s.Put(j):
			s.Discard(j.Close()...)
		}
	}
}

// Refill is Fill in the background.
func (s *Shelf) Refill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refilling || s.closing {
		return
	}
	s.refilling = true
	s.work.Go(func() {
		err := s.Fill()
		s.mu.Lock()
		s.refilling = false
		s.mu.Unlock()
		if err != nil {
			s.Failed(err)
		}
	})
}

// Empty closes the spares, whose keeper is gone.
func (s *Shelf) Empty() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.spares {
		j.Close()
	}
	s.spares = nil
}

func (s *Shelf) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// Close stops making spares. The keeper has the present ones for the next host.
func (s *Shelf) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
}

// Wait waits for the background work. The caller has called Close, and its channels have ended.
func (s *Shelf) Wait() { s.work.Wait() }
