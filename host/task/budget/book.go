package budget

import (
	"errors"
	"sync"
	"time"
)

// keepTime is how long what a running turn uses may go unsaved.
const keepTime = 5 * time.Second

// Record is a task's budget as it is stored.
type Record struct {
	Limits  Limits
	Account Account
}

// Book has the budgets of all tasks. Its methods may be called from any goroutine.
type Book struct {
	keep func(task string, r Record) error // immutable
	now  func() time.Time                  // immutable

	mu  sync.Mutex // Protects following.
	all map[string]*entry
}

type entry struct {
	Record
	since time.Time // when the turn began or was last counted; zero if no turn runs or it waits for a person
	kept  time.Time
	stale bool // the record has changes that are not saved
}

// NewBook returns a Book of stored records. keep has to store a record durably; it is called while the
// Book is locked.
func NewBook(all map[string]Record, keep func(task string, r Record) error, now func() time.Time) *Book {
	b := &Book{keep: keep, now: now, all: map[string]*entry{}}
	for task, r := range all {
		b.all[task] = &entry{Record: r}
	}
	return b
}

// of returns a task's entry, and makes it if there is none.
func (b *Book) of(task string) *entry {
	e := b.all[task]
	if e == nil {
		e = &entry{}
		b.all[task] = e
	}
	return e
}

func (b *Book) save(task string, e *entry) error {
	e.stale = true
	if err := b.keep(task, e.Record); err != nil {
		return err
	}
	e.stale, e.kept = false, b.now()
	return nil
}

// Limit sets those limits of a task that are given, and returns its budget.
func (b *Book) Limit(task string, l Limits) (View, error) {
	if l == (Limits{}) {
		return b.View(task), nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.of(task)
	was := e.Limits
	e.Limits = l.Or(was)
	if err := b.save(task, e); err != nil {
		e.Limits = was
		return View{}, err
	}
	return ViewOf(e.Limits, e.Account), nil
}

// View returns a task's current budget.
func (b *Book) View(task string) View {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.all[task]
	if e == nil {
		return View{}
	}
	a := e.Account
	if !e.since.IsZero() {
		a.Last.Millis += b.now().Sub(e.since).Milliseconds()
	}
	return ViewOf(e.Limits, a)
}

// Count takes account of what a task's turn has used. asks says that the turn waits for a person; that
// time is not counted. Count returns the task's budget and after how long to call it again, 0 if only
// when something changes. What it fails to save is saved with the next call.
func (b *Book) Count(task string, s Seen, asks bool) (v View, again time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, now := b.of(task), b.now()
	ran := time.Duration(0)
	fresh := s.Turn != e.Account.Last.ID
	switch {
	case fresh && !s.Began:
		return ViewOf(e.Limits, e.Account), 0, nil
	case fresh && s.Ended:
		ran = s.Took // it ended before it was seen
	case !fresh && !e.since.IsZero():
		ran = now.Sub(e.since).Truncate(time.Millisecond)
	}
	ended := s.Ended && !(e.Account.Last.Ended && !fresh)
	switch {
	case s.Ended || asks:
		e.since = time.Time{}
	case fresh || e.since.IsZero():
		e.since = now
	default: // the rest of a millisecond counts the next time
		e.since = e.since.Add(ran) // less than a millisecond is left for later
	}
	anew := s.Cost != nil && *s.Cost < e.Account.Meter // without saving, the next host would count that cost again
	e.Account.Count(s, ran)
	if e.stale = true; fresh || ended || anew || now.Sub(e.kept) >= keepTime {
		err = b.save(task, e)
	}
	v = ViewOf(e.Limits, e.Account)
	if !e.since.IsZero() {
		again = keepTime
		if most := e.Limits.Seconds; most != nil && *most > 0 && v.Over == "" {
			left := time.Duration(*most)*time.Second - time.Duration(v.Used.Seconds*float64(time.Second))
			again = min(again, max(left, time.Millisecond))
		}
	}
	return v, again, err
}

// Weigh sets the size of a task's files, and returns its budget.
func (b *Book) Weigh(task string, bytes int64) (View, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.of(task)
	before := ViewOf(e.Limits, e.Account).Over
	e.Account.Bytes, e.stale = &bytes, true
	v := ViewOf(e.Limits, e.Account)
	if v.Over == before {
		return v, nil // the next Count saves it
	}
	return v, b.save(task, e)
}

// Stop notes that a turn is stopped because a limit was reached.
func (b *Book) Stop(task, turn string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.of(task)
	if e.Account.Stopped == turn {
		return nil
	}
	e.Account.Stopped = turn
	return b.save(task, e)
}

func (b *Book) Stopped(task, turn string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.all[task]
	return e != nil && turn != "" && e.Account.Stopped == turn
}

// Forget removes a task that was deleted.
func (b *Book) Forget(task string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, task)
}

// Close saves what is not saved.
func (b *Book) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for task, e := range b.all {
		if e.stale {
			errs = append(errs, b.save(task, e))
		}
	}
	return errors.Join(errs...)
}
