package pane

import (
	"time"

	"tandemux/ahp"
)

// wholeWait is how long a view waits for the text that a skimmed feed lacks.
const wholeWait = 250 * time.Millisecond

// maxSkimmed is the longest history, in lines, of a feed that may be skimmed. A state has room
// for so many lines, so all of them can be restored.
const maxSkimmed = 10_000

// skimmed is the state of a feed that may lack text because its output was skipped. The feed's mu
// guards it.
type skimmed struct {
	// whole is closed when the feed has all text again, and nil while it has.
	whole   chan struct{}
	begun   bool               // the feed has had only a screen since it was made
	readers map[*View]struct{} // views that need more than the newest output
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

// Skims reports whether nobody reads more than the screen, so that the host may skip output that
// is too fast and send the screen.
func (f *Feed) Skims() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Whole == nil || f.em == nil || len(f.readers) > 0 || f.limit > maxSkimmed {
		return false
	}
	m := f.em.Modes()
	return !m.AltScreen && !m.Sync
}

// Skim replaces the screen with a newer one, in place of the output that led to it.
func (f *Feed) Skim(screen ahp.TerminalState) error {
	err := f.reset(screen, true)
	f.mu.Lock()
	read := len(f.readers) > 0
	f.mu.Unlock()
	if read { // a view needed more after the screen was requested
		f.Whole()
	}
	return err
}

// needHistory must be called before the view reads more than the screen. It has a skimmed feed
// fetch its text and waits for that, for at most wholeWait.
func (v *View) needHistory() {
	f := v.Feed
	f.mu.Lock()
	if (v.back || v.Held) && v.reader.frozen != nil {
		f.mu.Unlock()
		return
	}
	f.setReader(v, true)
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

// setReader notes whether a view needs more than the newest output.
func (s *skimmed) setReader(v *View, on bool) {
	switch {
	case !on:
		delete(s.readers, v)
	case s.readers == nil:
		s.readers = map[*View]struct{}{v: {}}
	default:
		s.readers[v] = struct{}{}
	}
}

// Drop forgets a view that will not be drawn again, so that the feed keeps no text for it.
func (f *Feed) Drop(v *View) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setReader(v, false)
}

// missing returns 1 if the feed lacks lines of its history, else 0.
func (f *Feed) missing() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.whole == nil {
		return 0
	}
	return 1
}
