package pane

import (
	"fmt"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/ui/predict"
)

// SyncTimeout is how long a program may hold back drawing with synchronised
// output (mode 2026).
const SyncTimeout = 100 * time.Millisecond

// Feed is a terminal's screen, kept up to date by the connection. All methods
// may be called from any goroutine.
type Feed struct {
	// Whole, if not nil, asks the connection to Reset the feed to the whole state; without
	// it the feed is never skimmed. Set it before any call of a method. It must not block.
	Whole  func()
	notify func() // called without mu, after a change that was not yet drawn

	mu     sync.Mutex // guards the following
	engine string
	limit  int // emulator.Options.History
	em     emulator.Emulator
	told   bool // notify was called and nothing was drawn since

	// Changes are counted in generations: a view that last drew before a line's
	// generation must draw the line again.
	gen     uint64
	all     uint64
	lines   []uint64
	lineOff int // lines scrolled off since the reset
	epoch   int // changes when lines are renumbered

	sync     time.Time // when a drawing was first put off, zero if none was
	events   []emulator.Event
	commands commands
	marks    []emulator.Mark // scratch
	bad      error           // why the engine gave up
	predict  predict.Predictor
	skimmed
}

// NewFeed makes an empty feed, which Reset fills. engine is a name that engine.New knows;
// notify may be nil and must not block.
func NewFeed(engine string, notify func()) *Feed {
	if notify == nil {
		notify = func() {}
	}
	return &Feed{engine: engine, notify: notify}
}

// Reset makes the feed show a snapshot's state in place of what it had.
func (f *Feed) Reset(s ahp.TerminalState) error { return f.reset(s, false) }

// reset is Reset; part says that s has only the screen.
func (f *Feed) reset(s ahp.TerminalState, part bool) (err error) {
	cols, rows := s.Cols, s.Rows
	if cols <= 0 {
		cols = 80
	}
	if rows <= 0 {
		rows = 24
	}
	f.change(func() {
		f.keep(all)
		em := f.em
		if !part || em == nil || !engine.Renew(em, cols, rows) {
			if em, err = engine.New(f.engine, emulator.Options{Cols: cols, Rows: rows, History: f.limit}); err != nil {
				err = fmt.Errorf("show terminal: %w", err)
				return
			}
		}
		begun := f.begun
		f.begun = part && (f.em == nil || begun)
		f.em, f.lineOff = em, 0 // events and what is put off outlive it
		if !part {
			f.sync = time.Time{}
		}
		f.gen++
		f.all = f.gen
		f.epoch++
		f.predict.Reset()
		f.predict.Allow(s.Meta.Echo)
		if !part && (f.whole == nil || begun) { // else those are known that have scrolled off
			f.commands = commands{}
		}
		f.commands.detects = s.SupportsCommandDetection
		for i := range s.Content {
			f.part(em, &s.Content[i], i == 0 || s.Content[i-1].CommandID != s.Content[i].CommandID)
		}
		em.Events() // drop the events, which are old
		em.Damage()
		f.note(part)
	})
	return err
}

// LimitHistory changes how many lines that have scrolled off are kept, as
// emulator.Options.History has it.
func (f *Feed) LimitHistory(lines int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if lines == f.limit {
		return
	}
	f.limit = lines
	if f.em != nil {
		f.guard(func() { f.em.LimitHistory(lines) })
	}
}

// change runs fn under the lock and calls notify if there is something to draw, or a first
// event. A panic of the engine affects only this feed.
func (f *Feed) change(fn func()) {
	f.mu.Lock()
	quiet := len(f.events) == 0
	f.guard(fn)
	tell := !f.told || quiet && len(f.events) > 0
	f.told = true
	f.mu.Unlock()
	if tell {
		f.notify()
	}
}

func (f *Feed) guard(fn func()) {
	defer func() {
		if r := recover(); r != nil {
			f.em, f.bad = nil, fmt.Errorf("the emulator broke: %v", r)
		}
	}()
	fn()
}

// Err returns once why the engine failed; nil if it has not.
func (f *Feed) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.bad
	f.bad = nil
	return err
}

// Write takes output of the terminal.
func (f *Feed) Write(data string) { f.Print([]byte(data)) }

// Print is Write; it does not keep data.
func (f *Feed) Print(data []byte) {
	if len(data) == 0 {
		return
	}
	f.change(func() {
		if f.em == nil {
			return
		}
		f.keep(f.drops(data))
		f.em.Write(data)
		for _, ev := range f.em.Events() {
			// The host sends the replies; titles come as actions.
			if ev.Kind == emulator.EventBell || ev.Kind == emulator.EventClipboard || ev.Kind == emulator.EventNotify {
				if len(f.events) < 64 {
					f.events = append(f.events, ev)
				}
			}
		}
	})
}

// Resize takes the terminal's new size.
func (f *Feed) Resize(cols, rows int) {
	part := false
	f.change(func() {
		if f.em == nil {
			return
		}
		part = f.whole != nil
		f.collect()
		f.anchor()
		f.em.Resize(cols, rows)
		f.gen++
		f.all = f.gen
		f.epoch++
		f.predict.Reset()
	})
	if part { // the host may have taken lines back from history
		f.Whole()
	}
}

// Clear empties screen and history, keeping the line that the cursor is on, as
// the host does for terminal/cleared.
func (f *Feed) Clear() {
	f.change(func() {
		if f.em == nil {
			return
		}
		f.keep(all)
		f.em.Write([]byte(ClearSequence))
		f.gen++
		f.all = f.gen
		f.predict.Reset()
	})
}

// ClearSequence empties an emulator's screen and history.
const ClearSequence = "\x1b[H\x1b[2J\x1b[3J"

// collect takes over the emulator's damage. The lock must be held.
func (f *Feed) collect() {
	d := f.em.Damage()
	if !d.Any() && d.Scrolled == 0 {
		return
	}
	f.gen++
	f.lineOff += d.Scrolled
	if d.All {
		f.all = f.gen
		return
	}
	if len(f.lines) < len(d.Lines) {
		f.lines = append(f.lines, make([]uint64, len(d.Lines)-len(f.lines))...)
	}
	for y, s := range d.Lines {
		if s.To > s.From {
			f.lines[y] = f.gen
		}
	}
}

// Fresh reports whether something changed that was not drawn yet.
func (f *Feed) Fresh() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.told || f.predict.Any()
}

// read returns get's result, or the zero value while there is no screen.
func read[T any](f *Feed, get func(em emulator.Emulator) T) (v T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em != nil {
		v = get(f.em)
	}
	return v
}

// Ready reports whether there is a screen to show.
func (f *Feed) Ready() bool { return read(f, func(emulator.Emulator) bool { return true }) }

// Modes is what the program has asked of its terminal.
func (f *Feed) Modes() emulator.Modes { return read(f, emulator.Emulator.Modes) }

// History is the number of lines of history that are kept.
func (f *Feed) History() int { return read(f, emulator.Emulator.HistoryLen) + f.missing() }

// Events gives the bells, clipboard writes and notifications since the last
// call. A feed keeps 64 and drops further ones.
func (f *Feed) Events() []emulator.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	ev := f.events
	f.events = nil
	return ev
}

// Hold reports whether drawing is to wait because the program is in the middle of a frame
// (mode 2026), and for how long at most.
func (f *Feed) Hold(now time.Time) (wait time.Duration, hold bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil || !f.em.Modes().Sync {
		f.sync = time.Time{}
		return 0, false
	}
	if f.sync.IsZero() {
		f.sync = now
	}
	if wait = SyncTimeout - now.Sub(f.sync); wait <= 0 {
		f.sync = now // the next frame gets its own time
		return 0, false
	}
	f.told = false // notify at the end of the frame
	return wait, true
}
