package terminal

import (
	"time"

	"tandemux/ahp"
	"tandemux/host/terminal/output"
)

// maxData bounds the output in one action, in bytes. Half a megabyte in a piece
// goes through no processor's caches and makes each buffer on its way as large.
const maxData = 64 << 10

// pending is what waits for Take, in stream order: actions, then data, then the
// title and the directory that came with it. Of several titles the last counts.
type pending struct {
	actions []ahp.Action
	data    []byte // in the store
	title   *string
	cwd     *string
	noticed *Noticed
	size    int // of all output, in bytes
	last    int // how many actions were taken last
}

// full reports that no more is taken until Take: the reader waits.
func (p *pending) full() bool { return p.size >= maxPending || len(p.actions) >= maxActions }

func (p *pending) empty() bool {
	return len(p.actions) == 0 && len(p.data) == 0 && p.title == nil && p.cwd == nil && p.noticed == nil
}

// push queues an action behind all that is there.
func (p *pending) push(a ahp.Action) {
	p.settle()
	p.actions = append(p.actions, a)
}

// output queues output, in the store, behind all that is there but title and
// directory. What lies behind the last in memory becomes one action with it.
func (p *pending) output(b []byte) {
	p.size += len(b)
	both, ok := output.Join(p.data, b)
	if !ok {
		p.tell(len(p.data))
		both = b
	}
	for p.data = both; len(p.data) > maxData; {
		p.tell(output.Boundary(p.data, maxData))
	}
}

// tell makes an action of the first n bytes of data.
func (p *pending) tell(n int) {
	if n > 0 {
		if p.actions == nil {
			p.actions = make([]ahp.Action, 0, p.last)
		}
		p.actions = append(p.actions, ahp.TerminalData{Data: output.Text(p.data[:n])})
		p.data = p.data[n:]
	}
}

// settle makes actions of what came in pieces.
func (p *pending) settle() {
	p.tell(len(p.data))
	if p.title != nil {
		p.actions = append(p.actions, ahp.TerminalTitleChanged{Title: *p.title})
		p.title = nil
	}
	if p.cwd != nil {
		p.actions = append(p.actions, ahp.TerminalCwdChanged{Cwd: *p.cwd})
		p.cwd = nil
	}
	if p.noticed != nil {
		p.actions = append(p.actions, *p.noticed)
		p.noticed = nil
	}
}

// take gives everything and empties p.
func (p *pending) take() []ahp.Action {
	p.settle()
	all := p.actions
	p.actions, p.data, p.size, p.last = nil, nil, 0, len(all)
	return all
}

// wake decides when Config.Wake is called.
type wake struct {
	called bool // and Take was not, since
	armed  bool // timer runs
	last   time.Time
	timer  *time.Timer // calls wakeLate
}

// Take returns everything pending, in stream order, and empties it: output
// (TerminalData, decoded and filtered), TerminalTitleChanged,
// TerminalCwdChanged, TerminalCommandDetectionAvailable, -Executed, -Finished,
// TerminalResized, TerminalCleared, TerminalExited; and Declined, which is for
// the holder alone; and how far they have come. It calls it under its sequencing
// lock. Nil when nothing is pending.
func (t *Terminal) Take() ([]ahp.Action, Taken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wake.called = false
	all, k := t.pending.take(), t.takeMark()
	if t.cfg.Landing == nil {
		t.landing.Release(k.Offset)
	}
	t.room.Signal()
	return all, k
}

// due reports whether Wake is to be called now; otherwise it sees to it that it
// will be, if there is a reason. With later set, now is not possible: the
// caller's caller holds a lock. The caller holds mu.
func (t *Terminal) due(later bool) bool {
	w := &t.wake
	crowded := t.crowded()
	if t.pending.empty() && !crowded || w.called || !t.running.Load() {
		return false
	}
	now := time.Now()
	wait := frame - now.Sub(w.last)
	switch {
	case later:
		wait = frame
	case crowded || t.pending.full(): // The reader waits for Take.
		wait = 0
		w.timer.Stop()
		w.armed = false
	}
	if w.armed {
		return false
	}
	if wait > 0 {
		w.armed = true
		w.timer.Reset(wait)
		return false
	}
	w.called, w.last = true, now
	return true
}

// wakeUp calls Wake with no lock held, if it was found due.
func (t *Terminal) wakeUp(due bool) {
	if due && t.cfg.Wake != nil {
		t.cfg.Wake()
	}
}

// wakeLate is the end of a frame in which output came.
func (t *Terminal) wakeLate() {
	t.mu.Lock()
	w := &t.wake
	w.armed = false
	due := (!t.pending.empty() || t.crowded()) && !w.called && t.running.Load()
	if due {
		w.called, w.last = true, time.Now()
	}
	t.mu.Unlock()
	t.wakeUp(due)
}

// crowded reports that half of the landing is not released, or that it is full:
// the holder is to take, if only the mark. The caller holds mu.
func (t *Terminal) crowded() bool {
	return t.starved || t.progress.offset-t.landing.Released() >= t.half
}

// waitRoom waits until pending output is below its bound and the landing has
// room, and begins a chunk there; false when closed.
func (t *Terminal) waitRoom() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.closed.Load() {
		if !t.pending.full() {
			if t.starved = !t.landing.Begin(); !t.starved {
				return true
			}
			if t.due(false) {
				t.mu.Unlock()
				t.wakeUp(true)
				t.mu.Lock()
				continue
			}
		}
		t.room.Wait()
	}
	return false
}
