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

// SyncTimeout is how long synchronised output (mode 2026) may delay drawing.
const SyncTimeout = 100 * time.Millisecond

// Feed is a terminal's screen and history, kept up to date by the connection. All methods may be
// called from any goroutine.
type Feed struct {
	// Whole asks the connection to call Reset with the whole state. If it is nil the feed is
	// never skimmed. It must be set before any method is called, and must not block.
	Whole  func()
	notify func() // called without mu after the first change since the last drawing

	mu     sync.Mutex // guards the following
	engine string
	limit  int // emulator.Options.History
	em     emulator.Emulator
	told   bool // notify was called and nothing has been drawn since

	// gen counts changes. lines has, for each line of the screen, the gen at its last change, and
	// all the gen at which everything changed: a view whose own gen is older draws them again.
	gen     uint64
	all     uint64
	lines   []uint64
	lineOff int // number of lines that have scrolled off since the last Reset
	epoch   int // changes whenever lines are renumbered

	sync     time.Time // when a drawing was first delayed; zero if none is
	events   []emulator.Event
	commands commands
	marks    []emulator.Mark // scratch
	bad      error           // why the engine failed
	predict  predict.Predictor
	skimmed
}

// NewFeed makes an empty feed, which Reset fills. engine is a name that engine.New knows. notify
// may be nil and must not block.
func NewFeed(engine string, notify func()) *Feed {
	if notify == nil {
		notify = func() {}
	}
	return &Feed{engine: engine, notify: notify}
}

// Reset replaces the feed's contents with a snapshot.
func (f *Feed) Reset(s ahp.TerminalState) error { return f.reset(s, false) }

// reset is Reset. part says that s has only the screen, without the history.
func (f *Feed) reset(s ahp.TerminalState, part bool) (err error) {
	cols, rows := s.Cols, s.Rows
	if cols <= 0 {
		cols = 80
	}
	if rows <= 0 {
		rows = 24
	}
	f.change(func() {
		f.freeze(everyReader)
		em := f.em
		if !part || em == nil || !engine.Renew(em, cols, rows) {
			if em, err = engine.New(f.engine, emulator.Options{Cols: cols, Rows: rows, History: f.limit}); err != nil {
				err = fmt.Errorf("show terminal: %w", err)
				return
			}
		}
		begun := f.begun
		f.begun = part && (f.em == nil || begun)
		f.em, f.lineOff = em, 0 // events and a delayed drawing survive
		if !part {
			f.sync = time.Time{}
		}
		f.gen++
		f.all = f.gen
		f.epoch++
		f.predict.Reset()
		f.predict.Allow(s.Meta.Echo)
		if !part && (f.whole == nil || begun) { // else the commands in the missing history are still needed
			f.commands = commands{}
		}
		f.commands.detects = s.SupportsCommandDetection
		for i := range s.Content {
			f.part(em, &s.Content[i], i == 0 || s.Content[i-1].CommandID != s.Content[i].CommandID)
		}
		em.Events() // drop old events
		em.Damage()
		f.note(part)
	})
	return err
}

// LimitHistory sets how many lines of history are kept, with the values of
// emulator.Options.History.
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

// change runs fn under the lock. It calls notify if no change or no event was waiting before. A
// panic of the engine ends only this feed.
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

// Err returns the engine's failure, once; nil if it has not failed.
func (f *Feed) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.bad
	f.bad = nil
	return err
}

// Write takes output of the terminal's program.
func (f *Feed) Write(data string) { f.Print([]byte(data)) }

// Print is Write. It doesn't keep data.
func (f *Feed) Print(data []byte) {
	if len(data) == 0 {
		return
	}
	f.change(func() {
		if f.em == nil {
			return
		}
		f.freeze(f.mayDrop(data))
		f.em.Write(data)
		for _, ev := range f.em.Events() {
			// The host sends replies, and titles come as actions.
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
	if part { // the host may have moved lines from history back to the screen
		f.Whole()
	}
}

// Clear clears the screen and the history, as the host does for terminal/cleared.
func (f *Feed) Clear() {
	f.change(func() {
		if f.em == nil {
			return
		}
		f.freeze(everyReader)
		f.em.Write([]byte(ClearSequence))
		f.gen++
		f.all = f.gen
		f.predict.Reset()
	})
}

// ClearSequence clears an emulator's screen and history and moves the cursor home.
const ClearSequence = "\x1b[H\x1b[2J\x1b[3J"

// collect updates the generations from the emulator's damage. The lock must be held.
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

// Fresh reports whether there may be a change that was not drawn yet.
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

// Modes returns the modes that the program has set.
func (f *Feed) Modes() emulator.Modes { return read(f, emulator.Emulator.Modes) }

// History returns the number of lines of history, at least 1 if a skimmed feed lacks some.
func (f *Feed) History() int { return read(f, emulator.Emulator.HistoryLen) + f.missing() }

// Events returns the bells, clipboard writes and notifications since the last call, at most the
// first 64.
func (f *Feed) Events() []emulator.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	ev := f.events
	f.events = nil
	return ev
}

// Hold reports whether drawing must wait because the program is in the middle of a frame (mode
// 2026), and for how long at most.
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
		f.sync = now // the next frame may be delayed as long
		return 0, false
	}
	f.told = false // so that the end of the frame calls notify
	return wait, true
}
