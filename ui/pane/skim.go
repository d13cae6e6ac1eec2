package pane

import (
	"time"

	"tandemux/ahp"
)

// wholeWait bounds how long a reader waits for what was skimmed.
const wholeWait = 250 * time.Millisecond

// maxSkimmed is the longest history, in lines, that is left out of a flood: a state has
// room for it, so that all of it comes back.
const maxSkimmed = 10_000

// skimmed is what a feed knows of the text that it was not given. Guarded by the feed's mu.
type skimmed struct {
	// whole is closed when all is there again, nil while it is.
	whole   chan struct{}
	begun   bool               // there never was more than a screen
	readers map[*View]struct{} // that show or mark more than the newest output
}

func (s *skimmed) note(part bool) {
	switch {
	case part && s.whole == nil:
		s.whole = make(chan struct{})
	case !part && s.whole != nil:
		close(s.whole)
		s.whole = nil
	}
}

// Skims reports whether nobody reads more than the screen, so that output that comes too
// fast need not all be given.
func (f *Feed) Skims() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Whole == nil || f.em == nil || len(f.readers) > 0 || f.limit > maxSkimmed {
		return false
	}
	m := f.em.Modes()
	return !m.AltScreen && !m.Sync
}

// Skim makes the feed show a screen in place of all that was printed up to there.
func (f *Feed) Skim(screen ahp.TerminalState) error {
	err := f.reset(screen, true)
	f.mu.Lock()
	read := len(f.readers) > 0
	f.mu.Unlock()
	if read { // since it was asked for
		f.Whole()
	}
	return err
}

// entire is called before the view reads more than the screen: the feed then has it.
func (v *View) entire() {
	f := v.Feed
	f.mu.Lock()
	if (v.back || v.Held) && v.reader.still != nil {
		f.mu.Unlock()
		return
	}
	f.reads(v, true)
	whole := f.whole
	f.mu.Unlock()
	if whole == nil {
		return
	}
	f.Whole()
	select {
	case <-whole:
	case <-time.After(wholeWait):
	}
}

// reads notes whether a view shows or marks more than the newest output.
func (s *skimmed) reads(v *View, on bool) {
	switch {
	case !on:
		delete(s.readers, v)
	case s.readers == nil:
		s.readers = map[*View]struct{}{v: {}}
	default:
		s.readers[v] = struct{}{}
	}
}

// Drop keeps no text for a view any more: it is not drawn again.
func (f *Feed) Drop(v *View) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads(v, false)
}

// missing is a sign that there is history beside what the feed has.
func (f *Feed) missing() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.whole == nil {
		return 0
	}
	return 1
}
