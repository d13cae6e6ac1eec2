package journal

import (
	"errors"
	"os"
	"time"
)

// A journal of which a state fills more than half is replaced by one of growth times the
// state's size.
const growth = 3

// Journal is a channel's journal: memory whose file the keeper has under a name. A journal may
// replace another one that the state has outgrown. Until the keeper has the new one, records
// go to both. One goroutine at a time may call its methods, as under the host's sequencing
// lock.
type Journal struct {
	// Name is the keeper's name of the file.
	Name string
	// Made orders a channel's journals: it is higher in the later one.
	Made int64
	// Broken says why a crash of the host would lose state, nil when it would not.
	Broken error

	mem *Memory // nil once it is closed
	// former is the journal that this one replaces, until the keeper has this one.
	former *Journal
	// landing is the replaced journal whose landing a terminal's pty is still read into;
	// nil when that is this one.
	landing *Journal

	// lent is Lend's share, to be called with nil before the checkpoint's memory changes;
	// nil when the memory is not lent.
	lent func(saved []byte)

	// Retry says when a checkpoint that does not fit is tried again.
	Retry Retry

	bare     bool      // the latest checkpoint has no history
	used     time.Time // time of the last write
	appended int       // bytes since the memory was trimmed
	timer    *time.Timer
}

// Adopt takes over a journal of an earlier host. f is the keeper's file of that name. On an
// error Adopt closes it.
func Adopt(name string, f *os.File) (*Journal, Recovered, error) {
	m, r, err := AdoptMemory(f)
	if err != nil {
		return nil, r, err
	}
	j := &Journal{Name: name, mem: m, bare: !r.Whole, appended: m.Log.at}
	j.takeFile().Close()
	return j, r, nil
}

// takeFile removes the file and returns it. The mapping stays: one descriptor for each
// terminal would be too many.
func (j *Journal) takeFile() *os.File {
	f := j.mem.File
	j.mem.File = nil
	return f
}

// Open reports whether the journal is not nil and not closed.
func (j *Journal) Open() bool { return j != nil && j.mem != nil }

// Close unmaps the memory, which nothing may use any more. It returns the names of the
// journal's files at the keeper. The journal may be nil.
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
	j.mem.Close() //nolint:errcheck // the keeper has the file, or nothing needs it
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

// LandIn makes the later of a terminal's two journals from an earlier host use the landing of
// the one before, if that has one. It reports whether the one before is still needed for that.
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

// RetireLanding retires the log of the journal that has the landing, in case the last host
// died before it did.
func (j *Journal) RetireLanding() {
	if j.landing != nil {
		j.landing.mem.Log.Retire()
	}
}

// Append appends all records or none.
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

// Room is how many bytes of records fit before a checkpoint must be made.
func (j *Journal) Room() int { return j.mem.Log.Room() }

// Due reports whether a checkpoint is due.
func (j *Journal) Due() bool { return j.mem.Log.Due() }

// Lend calls share with the checkpoint's memory. The borrower may read it until share is called
// with nil, before the next checkpoint or the journal's end. The borrower must compare: the
// memory need not have the bytes that it looks for.
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

// Checkpoint writes a state, and makes room for the log behind it.
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

// Outgrown reports whether a state takes more than half of the journal, and the area that a
// journal for it needs, at most most bytes.
func (j *Journal) Outgrown(state []Record, most int) (area int, yes bool) {
	size := 0
	for _, r := range state {
		size += len(r.Data) + 128
	}
	have := len(j.mem.Log.areas[0].mem)
	return min(most, growth*size), size >= have/2 && have < most && j.former == nil
}

// replace makes j replace a former journal. With a pty the former one's landing stays in use.
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

// GiveUp closes a journal that could not replace another.
func (j *Journal) GiveUp() {
	j.former, j.landing = nil, nil
	j.Close()
}

// left is called when the keeper has the journal's file, or with the error if it has not. On
// success it closes the former journal; after an error that stays. It returns the names of the
// files that the keeper is to discard.
func (j *Journal) left(err error) (names []string) {
	old := j.former
	switch {
	case j.mem == nil: // it has been closed meanwhile
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
	// tidyAfter is how long a channel must be quiet before Tidy is due.
	tidyAfter = time.Second
	// trimBytes is how many bytes must have been appended before freeing memory is
	// worthwhile.
	trimBytes = 256 << 10
)

// Touch notes that the journal was used, and schedules a call of tidy, on its own goroutine,
// for when Tidy may be due. Without Touch no timer runs.
func (j *Journal) Touch(now time.Time, tidy func()) {
	j.used = now
	if j.timer == nil {
		j.timer = time.AfterFunc(tidyAfter, tidy)
	}
}

// Rests reports whether the channel is quiet and memory is to be freed.
func (j *Journal) Rests(now time.Time) bool {
	return j.Open() && j.appended > trimBytes && now.Sub(j.used) >= tidyAfter
}

// Tidy, once the channel has been quiet, replaces a checkpoint without history by a whole one,
// and frees memory. checkpoint makes a checkpoint and returns the channel's journal after it.
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

// Retry says when to try again after a checkpoint that did not fit.
type Retry struct {
	again time.Time // when to try again
	full  time.Time // when to try again with the history
}

const (
	// retryAfter is the least time between two attempts. Attempts take at most one
	// retryShare-th of the time.
	retryAfter = time.Second
	retryShare = 50
)

// ErrBare says that a terminal's checkpoint has no history, for lack of room.
var ErrBare = errors.New("the history is larger than its journal may be")

// Waits reports whether no checkpoint is to be tried now, since one has just failed.
func (r *Retry) Waits(now time.Time) bool { return now.Before(r.again) }

// Bare reports whether only a bare checkpoint is to be tried.
func (r *Retry) Bare(now time.Time) bool { return now.Before(r.full) }

// Note takes the result of an attempt that took from began to end. It returns why a crash
// would lose state, ErrBare if only the history, nil for nothing.
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
