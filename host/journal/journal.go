package journal

import (
	"errors"
	"os"
	"time"
)

// growth times the size of a state that fills more than half of a journal is how
// large the one is that replaces it.
const growth = 3

// Journal is a channel's journal: memory that the keeper has under a name. One that
// replaces another, as the state outgrew it, is written to along with it until the
// keeper has the new one. Its methods are for one goroutine at a time, as under the
// host's sequencing lock.
type Journal struct {
	// Name is the keeper's, of the file.
	Name string
	// Made is higher in the later of two journals.
	Made int64
	// Broken says why a crash of the host would lose something, nil when it would
	// not.
	Broken error

	mem *Memory // nil once it is closed
	// former is the journal that this one replaces, until the keeper has this one.
	former *Journal
	// landing is the journal that a terminal's pty is read into, where this one has
	// replaced it for all else; nil when this one is it.
	landing *Journal

	// lent has who reads the checkpoint's memory read it no more; nil when nobody does.
	lent func(saved []byte)

	// Retry says when a checkpoint that does not fit is tried again.
	Retry Retry

	bare     bool      // the latest checkpoint has no history
	used     time.Time // when something was written last
	appended int       // bytes since the memory was trimmed
	timer    *time.Timer
}

// Adopt takes a journal over from an earlier host, of the keeper's file of a name. On
// an error f is closed.
func Adopt(name string, f *os.File) (*Journal, Recovered, error) {
	m, r, err := AdoptMemory(f)
	if err != nil {
		return nil, r, err
	}
	j := &Journal{Name: name, mem: m, bare: !r.Whole, appended: m.Log.at}
	j.takeFile().Close()
	return j, r, nil
}

// takeFile takes the file out. The mapping stays; a descriptor for each terminal
// would be too many.
func (j *Journal) takeFile() *os.File {
	f := j.mem.File
	j.mem.File = nil
	return f
}

// Open reports whether there is a journal that was not closed.
func (j *Journal) Open() bool { return j != nil && j.mem != nil }

// Close lets go of the memory, and gives the names under which the keeper has what
// belongs together. Nothing may use it any more. It may be nil.
func (j *Journal) Close() (names []string) {
	if j == nil {
		return nil
	}
	names = []string{j.Name}
	if j.mem == nil {
		return names
	}
	j.takeBack()
	if j.timer != nil {
		j.timer.Stop()
	}
	if j.former != j.landing {
		names = append(names, j.former.Close()...)
	}
	names = append(names, j.landing.Close()...)
	j.mem.Close() //nolint:errcheck // the keeper has it, or nobody needs it
	j.mem = nil
	return names
}

// Landing is what the terminal's pty is read into.
func (j *Journal) Landing() *Landing {
	if j.landing != nil {
		return j.landing.mem.Landing
	}
	return j.mem.Landing
}

// LandIn makes a terminal's journal, of two that an earlier host left, go on with the
// landing that the one before has, if it has one. It reports whether that one is
// still needed for it.
func (j *Journal) LandIn(before *Journal) bool {
	switch {
	case before.landing != nil:
		j.landing, before.landing = before.landing, nil
	case before.mem != nil && before.mem.Landing.Size() > 0:
		j.landing = before
		return true
	}
	return false
}

// RetireLanding gives up the log of the journal that the landing is in, in case that
// the last host did not come to it.
func (j *Journal) RetireLanding() {
	if j.landing != nil {
		j.landing.mem.Log.Retire()
	}
}

// Append writes records, all or none.
func (j *Journal) Append(records ...Record) error {
	if j.former != nil {
		if err := j.former.Append(records...); errors.Is(err, ErrFenced) {
			return err
		}
	}
	before := j.mem.Log.Room()
	err := j.mem.Log.Append(records...)
	j.appended += max(0, before-j.mem.Log.Room())
	return err
}

// Room is how many bytes of records there is room for until a checkpoint must be made.
func (j *Journal) Room() int { return j.mem.Log.Room() }

// Due reports that it is time for a checkpoint.
func (j *Journal) Due() bool { return j.mem.Log.Due() }

// Lend gives the checkpoint's memory, in which there need not be what is looked for, to be
// read until share is called with nil, before the next checkpoint or the journal's end.
func (j *Journal) Lend(share func(saved []byte)) {
	if !j.Open() {
		return
	}
	j.takeBack()
	l := j.mem.Log
	share(l.areas[l.current].mem[:l.info.start])
	j.lent = share
}

func (j *Journal) takeBack() {
	if j.lent != nil {
		j.lent(nil)
		j.lent = nil
	}
}

// Checkpoint writes a state, and makes room for a log behind it.
func (j *Journal) Checkpoint(records []Record, bare bool) error {
	j.takeBack()
	c, err := j.mem.Log.Begin(!bare)
	if err != nil {
		return err
	}
	for _, r := range records {
		if err = c.Add(r); err != nil {
			c.Abort()
			return err
		}
	}
	if err = c.Commit(); err != nil {
		return err
	}
	j.bare = bare
	return nil
}

// Outgrown reports that a state takes more than half of the journal, and gives the
// size of one that it would fit into, up to a most.
func (j *Journal) Outgrown(state []Record, most int) (area int, yes bool) {
	size := 0
	for _, r := range state {
		size += len(r.Data) + 128
	}
	have := len(j.mem.Log.areas[0].mem)
	return min(most, growth*size), size >= have/2 && have < most && j.former == nil
}

// replace makes j the journal in place of a former one. With a pty that one's landing
// stays in use.
func (j *Journal) replace(former *Journal, pty bool) {
	former.takeBack()
	j.former = former
	if !pty {
		return
	}
	if j.landing = former.landing; j.landing == nil {
		j.landing = former
	}
}

// GiveUp lets go of a journal that has not come to replace another.
func (j *Journal) GiveUp() {
	j.former, j.landing = nil, nil
	j.Close()
}

// left deals with what became of leaving the journal with the keeper: then the one
// before is let go of, and after an error it stays, as good as it is. It gives the
// names of what the keeper is to discard.
func (j *Journal) left(err error) (names []string) {
	old := j.former
	switch {
	case j.mem == nil: // it was closed meanwhile
		return []string{j.Name}
	case err != nil:
		j.Broken = err
	case old == nil:
	case old == j.landing:
		j.former = nil
		old.mem.Log.Retire()
	default:
		j.former, old.landing = nil, nil
		return old.Close()
	}
	return nil
}

const (
	// tidyAfter is how long a channel must be quiet for a bare checkpoint to be made
	// whole, and for memory that only a busy time needed to be given back.
	tidyAfter = time.Second
	// trimBytes is how much must have been appended for that to be worth while.
	trimBytes = 256 << 10
)

// Touch notes that the journal was used, and has tidy called, on a goroutine of its
// own, when it may be time for Tidy. There is no timer while nothing happens.
func (j *Journal) Touch(now time.Time, tidy func()) {
	j.used = now
	if j.timer == nil {
		j.timer = time.AfterFunc(tidyAfter, tidy)
	}
}

// Rests reports that the channel is quiet and memory is to be given back.
func (j *Journal) Rests(now time.Time) bool {
	return j.Open() && j.appended > trimBytes && now.Sub(j.used) >= tidyAfter
}

// Tidy has a checkpoint made whole that was made in haste, and gives memory back, when
// the channel has been quiet. checkpoint makes one and gives the channel's journal after
// that.
func (j *Journal) Tidy(now time.Time, checkpoint func() *Journal) {
	if left := tidyAfter - now.Sub(j.used); left > 0 {
		j.timer.Reset(left)
		return
	}
	j.timer = nil
	big := j.appended > trimBytes
	if !big && !j.bare {
		return
	}
	if j = checkpoint(); j.Open() && big {
		j.mem.Log.Trim()
		j.appended = 0
	}
}

// Retry says when a checkpoint is to be tried again that did not fit.
type Retry struct {
	again time.Time // not to be tried before, after an attempt that failed
	full  time.Time // not to be tried with the history before, as it did not fit
}

const (
	// retryAfter is the least time between two attempts, which take a retryShare of
	// the time at most.
	retryAfter = time.Second
	retryShare = 50
)

// ErrBare says that a terminal's checkpoint has no history, as there is no room.
var ErrBare = errors.New("the history is larger than its journal may be")

// Waits reports that no checkpoint is to be tried now: one failed just before.
func (r *Retry) Waits(now time.Time) bool { return now.Before(r.again) }

// Bare reports that only a bare checkpoint is to be tried.
func (r *Retry) Bare(now time.Time) bool { return now.Before(r.full) }

// Note takes how an attempt went that took from began to end. It gives why a crash
// would lose something, ErrBare if only the history.
func (r *Retry) Note(began, end time.Time, bare bool, err error) error {
	pause := max(retryAfter, retryShare*end.Sub(began))
	switch {
	case err == nil && bare:
		r.full, err = end.Add(pause), ErrBare
	case err != nil:
		r.again = end.Add(pause)
	}
	return err
}
