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

// maxData bounds the output in one action, in bytes. Half a megabyte fits into no processor
// cache and makes each buffer on its way as large.
const maxData = 64 << 10

// pending is what waits for Take, in stream order: actions, then data, then the title and
// the directory that came with it. Only the last of several titles is kept.
type pending struct {
	actions []ahp.Action
	data    []byte // in the store
	title   *string
	cwd     *string
	noticed *Noticed
	size    int // bytes of all output
	rest    int // upper bound of the records of all else, in bytes
	last    int // number of actions in the last Take
}

// full reports whether the reader must wait for Take.
func (p *pending) full() bool { return p.size >= maxPending || len(p.actions) >= maxActions }

func (p *pending) empty() bool {
	return len(p.actions) == 0 && len(p.data) == 0 && p.title == nil && p.cwd == nil && p.noticed == nil
}

// push queues an action behind all that is there.
func (p *pending) push(a ahp.Action) {
	p.settle()
	p.add(a)
}

// recordBytes bounds the record of an action without its texts, in bytes, if the channel's
// name is not long.
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

// output queues output, which lies in the store, behind all but title and directory. If it
// follows the last output in memory, both become one action.
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

// settle makes actions of data, title and directory.
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

// queue is what waits for Take, and the reader's wait for it.
type queue struct {
	call    func() // Config.Wake
	landing *journal.Landing
	own     bool   // the landing is the terminal's own: Take releases it
	half    uint64 // half of the landing, in bytes
	in      *input
	running atomic.Bool // started and not closed

	// mu guards the following. It is taken after screen.
	mu       sync.Mutex
	pending  pending
	progress progress
	over     bool // closed
	starved  bool // the reader waits for the landing
	wake     wake
	bound    int // see Bound
	echo     echo
	room     sync.Cond // signals that pending shrank, the landing was released, or Close
}

// end wakes the reader: nothing is taken any more.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.wake.timer.Stop()
	q.room.Broadcast()
}

// take returns everything and empties p.
func (p *pending) take() []ahp.Action {
	p.settle()
	all := p.actions
	p.actions, p.data, p.size, p.rest, p.last = nil, nil, 0, 0, len(all)
	return all
}

// wake decides when Config.Wake is called.
type wake struct {
	called bool        // Wake was called, and Take not since
	armed  bool        // timer runs
	pace   pace.Pace   // of the calls
	timer  *time.Timer // calls wakeLate
}

// progress is the mark that belongs to what is pending. mu guards it.
type progress struct {
	offset uint64
	stream []byte // reused in turn with spare, which the last Taken may refer to
	spare  []byte
	facts  facts
	learnt bool // facts have changed since the last take
}

// takeMark returns the mark that belongs to what was published. The caller holds mu.
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

// Take returns everything pending, in stream order, and removes it: output (TerminalData,
// decoded and filtered), TerminalTitleChanged, TerminalCwdChanged,
// TerminalCommandDetectionAvailable, -Executed, -Finished, TerminalResized, TerminalCleared,
// TerminalExited, and actions for the holder only, such as Declined. Taken is the mark that
// belongs to them. The holder calls it under its sequencing lock. The actions are nil when
// nothing is pending, or more than Bound allows.
func (q *queue) Take() ([]ahp.Action, Taken) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.records() > q.bound {
		return nil, Taken{Full: true}
	}
	return q.take()
}

// Bound sets how many bytes of records a Take may return from now on. If more is pending,
// Take returns nothing but Taken.Full, and the holder calls Checkpoint instead. Without
// Bound there is no limit.
func (q *queue) Bound(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bound = n
}

// records is an upper bound of the bytes of a Take's records. The caller holds mu.
func (q *queue) records() int {
	const each = 128 // of facts.Skip and facts.Clears, as JSON
	f := &q.progress.facts
	return q.pending.size + q.pending.rest + len(q.progress.stream) + 16*recordBytes + each*(len(f.Skip)+len(f.Clears))
}

// take is Take without the bound. The caller holds mu.
func (q *queue) take() ([]ahp.Action, Taken) {
	q.wake.called = false
	all, k := q.pending.take(), q.takeMark()
	if q.own {
		q.landing.Release(k.Offset)
	}
	q.room.Signal()
	return all, k
}

// due reports whether Wake is to be called now. If not, it sets a timer when Wake is to be
// called at all. later says that Wake can't be called now, but soon, as the caller of the
// caller holds a lock. The caller holds mu.
func (q *queue) due(later bool) bool {
	w := &q.wake
	crowded := q.crowded()
	if q.pending.empty() && !crowded || w.called || !q.running.Load() {
		return false
	}
	waited := !later && (crowded || q.pending.full()) // the reader waits for Take
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

// wakeUp calls Wake if due. The caller holds no lock.
func (q *queue) wakeUp(due bool) {
	if due && q.call != nil {
		q.call()
	}
}

// wakeLate is called by the timer, at the end of a frame in which output came.
func (q *queue) wakeLate() {
	q.mu.Lock()
	q.wake.armed = false
	due := q.due(false)
	q.mu.Unlock()
	q.wakeUp(due)
}

// crowded reports whether half of the landing is not released, or it is full. Then the
// holder must call Take, even if only for the mark. The caller holds mu.
func (q *queue) crowded() bool {
	return q.starved || q.progress.offset-q.landing.Released() >= q.half
}

// waitRoom waits until pending output is below its bound and the landing has room, and
// begins a chunk in the landing. It returns false after Close.
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

// beginNext begins a chunk if there is room, and reports whether it did.
func (q *queue) beginNext() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.over && !q.pending.full() && q.landing.Begin()
}

// Released says that the output before a Taken's Offset is in the journal, or lost because
// the journal is full. The landing reuses the memory before it; when the landing is full,
// the reader waits for Released. The holder calls it after each Take if it has set
// Config.Landing, also without a journal.
func (q *queue) Released(offset uint64) {
	if q.own {
		return
	}
	q.landing.Release(offset)
	q.mu.Lock()
	q.room.Signal()
	q.mu.Unlock()
}
