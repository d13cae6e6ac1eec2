package terminal

import (
	"sync"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/host/journal"
	"tandemux/host/terminal/output"
	"tandemux/internal/pace"
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
	rest    int // of the records of all else, in bytes, at most
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
	p.add(a)
}

// recordBytes is what the record of an action takes besides its texts, at most, where
// the channel has no long name.
const recordBytes = 512

// add queues an action behind those that are there.
func (p *pending) add(a ahp.Action) {
	texts := 0
	switch a := a.(type) {
	case ahp.TerminalCommandExecuted:
		texts = len(a.CommandLine)
	case ahp.TerminalTitleChanged:
		texts = len(a.Title)
	case ahp.TerminalCwdChanged:
		texts = len(a.Cwd)
	}
	p.rest += recordBytes + 6*texts // as JSON
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
		p.rest += recordBytes
	}
}

// settle makes actions of what came in pieces.
func (p *pending) settle() {
	p.tell(len(p.data))
	if p.title != nil {
		p.add(ahp.TerminalTitleChanged{Title: *p.title})
		p.title = nil
	}
	if p.cwd != nil {
		p.add(ahp.TerminalCwdChanged{Cwd: *p.cwd})
		p.cwd = nil
	}
	if p.noticed != nil {
		p.actions = append(p.actions, *p.noticed)
		p.noticed = nil
	}
}

// queue is what waits for Take, and who waits for that.
type queue struct {
	call    func() // Config.Wake
	landing *journal.Landing
	own     bool   // the landing is released by Take
	half    uint64 // of the landing, in bytes
	in      *input
	running atomic.Bool // started and not closed

	// mu guards what is below. It is taken after screen.
	mu       sync.Mutex
	pending  pending
	progress progress
	over     bool // closed
	starved  bool // the reader waits for the landing
	wake     wake
	bound    int // see Bound
	echo     echo
	room     sync.Cond // pending has shrunk, or the landing was released, or closed
}

// end wakes who waits: nothing is taken any more.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.wake.timer.Stop()
	q.room.Broadcast()
}

// take gives everything and empties p.
func (p *pending) take() []ahp.Action {
	p.settle()
	all := p.actions
	p.actions, p.data, p.size, p.rest, p.last = nil, nil, 0, 0, len(all)
	return all
}

// wake decides when Config.Wake is called.
type wake struct {
	called bool        // and Take was not, since
	armed  bool        // timer runs
	pace   pace.Pace   // of the calls
	timer  *time.Timer // calls wakeLate
}

// progress is the mark that belongs to what is pending. Guarded by mu.
type progress struct {
	offset uint64
	stream []byte // reused, in turn with spare, which the last Taken may have
	spare  []byte
	facts  facts
	learnt bool // facts have changed since the last take
}

// takeMark gives the mark that belongs to what was published. The caller holds
// mu.
func (q *queue) takeMark() Taken {
	p := &q.progress
	k := Taken{Offset: p.offset}
	if q.in.changed.Load() {
		q.in.changed.Store(false)
		p.facts.Typed, p.facts.Entered, p.learnt = q.in.line.on.Load(), q.in.entered.on.Load(), true
	}
	if len(p.stream) > 0 {
		k.Stream = p.stream
		p.stream, p.spare = append(p.spare[:0], p.stream...), p.stream
	}
	if p.learnt {
		k.Facts, p.learnt = encode(p.facts), false
	}
	return k
}

// Take returns everything pending, in stream order, and empties it: output
// (TerminalData, decoded and filtered), TerminalTitleChanged,
// TerminalCwdChanged, TerminalCommandDetectionAvailable, -Executed, -Finished,
// TerminalResized, TerminalCleared, TerminalExited; and Declined, which is for
// the holder alone; and how far they have come. It calls it under its sequencing
// lock. Nil when nothing is pending, or more than
// Bound allows.
func (q *queue) Take() ([]ahp.Action, Taken) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.records() > q.bound {
		return nil, Taken{Full: true}
	}
	return q.take()
}

// Bound says how many bytes of records a Take may bring from here on, so that the
// holder can make room for it before: where there is more it brings nothing and says
// so (Taken.Full), and a Checkpoint takes it. Without it as many as there are.
func (q *queue) Bound(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bound = n
}

// records is how many bytes the records of a Take have, at most. The caller holds mu.
func (q *queue) records() int {
	const each = 128 // of facts.Skip and facts.Clears, as JSON
	f := &q.progress.facts
	return q.pending.size + q.pending.rest + len(q.progress.stream) + 16*recordBytes + each*(len(f.Skip)+len(f.Clears))
}

// take is Take without a bound. The caller holds mu.
func (q *queue) take() ([]ahp.Action, Taken) {
	q.wake.called = false
	all, k := q.pending.take(), q.takeMark()
	if q.own {
		q.landing.Release(k.Offset)
	}
	q.room.Signal()
	return all, k
}

// due reports whether Wake is to be called now; otherwise it sees to it that it
// will be, if there is a reason. With later set, now is not possible, but soon: the
// caller's caller holds a lock. The caller holds mu.
func (q *queue) due(later bool) bool {
	w := &q.wake
	crowded := q.crowded()
	if q.pending.empty() && !crowded || w.called || !q.running.Load() {
		return false
	}
	waited := !later && (crowded || q.pending.full()) // by the reader
	if w.armed && !waited {
		return false
	}
	now := time.Now()
	wait := w.pace.Left(now)
	if waited {
		wait = 0
		w.timer.Stop()
		w.armed = false
	}
	if wait > 0 || later {
		w.armed = true
		w.timer.Reset(max(wait, 0))
		return false
	}
	w.called = true
	w.pace.Took(now)
	return true
}

// wakeUp calls Wake with no lock held, if it was found due.
func (q *queue) wakeUp(due bool) {
	if due && q.call != nil {
		q.call()
	}
}

// wakeLate is the end of a frame in which output came.
func (q *queue) wakeLate() {
	q.mu.Lock()
	q.wake.armed = false
	due := q.due(false)
	q.mu.Unlock()
	q.wakeUp(due)
}

// crowded reports that half of the landing is not released, or that it is full:
// the holder is to take, if only the mark. The caller holds mu.
func (q *queue) crowded() bool {
	return q.starved || q.progress.offset-q.landing.Released() >= q.half
}

// waitRoom waits until pending output is below its bound and the landing has
// room, and begins a chunk there; false when closed.
func (q *queue) waitRoom() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.over {
		if !q.pending.full() {
			if q.starved = !q.landing.Begin(); !q.starved {
				return true
			}
			if q.due(false) {
				q.mu.Unlock()
				q.wakeUp(true)
				q.mu.Lock()
				continue
			}
		}
		q.room.Wait()
	}
	return false
}

// beginNext begins a chunk if there is room at once.
func (q *queue) beginNext() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.over && !q.pending.full() && q.landing.Begin()
}

// Released says that what came before an offset, a Taken's, is in the journal or
// lost to a full one: the landing's memory up to there may be used again. The
// reader waits for it when the landing is full. It is to be called after each
// Take, also by a holder without a journal if it gave a landing.
func (q *queue) Released(offset uint64) {
	if q.own {
		return
	}
	q.landing.Release(offset)
	q.mu.Lock()
	q.room.Signal()
	q.mu.Unlock()
}
