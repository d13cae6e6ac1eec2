package runner

import (
	"sync"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/pace"
)

const (
	// runAhead is how much output in bytes may wait to be printed before the
	// connection is held up, so that the host slows the command down.
	runAhead = 1 << 20
	// runTrickle is how long it is held up at a time, and runStep how much is
	// taken then: the host closes a holder that takes nothing for longer. That is
	// kept, up to runMost.
	runTrickle = time.Second
	runStep    = 512 << 10
	runMost    = 512 << 20
)

// follower is the sink of a run: the mirror of the list, and the events of one
// command, in order.
type follower struct {
	*client.Mirror
	came   chan struct{} // holds one when events may have come
	taken  chan struct{} // holds one when events were taken
	done   chan struct{} // closed when nobody takes events any more
	closed chan struct{} // closed when the connection has ended
	err    error         // then why
	lost   atomic.Bool   // the connection was, once

	uri   ahp.URI
	id    string // of the command that runs now
	begun bool   // a state has come
	// free is how much may come before it is held up again.
	free int

	mu    sync.Mutex // guards the following
	queue []runEvent
	bytes int
}

type runEvent struct {
	kind runEventKind
	id   string
	data string
	code *int
	seq  int64 // of the action
}

type runEventKind uint8

const (
	outputCame runEventKind = iota
	commandEnded
	terminalEnded
	stateCame // after a gap: what is missing has to be asked for
)

func newFollower() *follower {
	return &follower{
		Mirror: client.NewMirror(0), came: make(chan struct{}, 1), taken: make(chan struct{}, 1),
		done: make(chan struct{}), closed: make(chan struct{}),
	}
}

// want names the terminal, and the command if it runs already. It is called
// before the terminal is subscribed to.
func (f *follower) want(uri ahp.URI, id string) { f.uri, f.id = uri, id }

// tell queues an event, and waits while much is queued.
func (f *follower) tell(e runEvent) {
	f.mu.Lock()
	f.queue = append(f.queue, e)
	f.bytes += len(e.data)
	f.mu.Unlock()
	pace.Wake(f.came)
	if f.free -= len(e.data); f.free > 0 {
		return
	}
	for late := time.After(runTrickle); f.waiting() > runAhead; {
		select {
		case <-f.taken:
		case <-f.done:
			return
		case <-late:
			if f.waiting() <= runMost {
				f.free = runStep
				return
			}
			late = nil
		}
	}
}

func (f *follower) waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bytes
}

// next takes an event, if there is one; came is filled when there is more.
func (f *follower) next() (e runEvent, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return e, false
	}
	e, f.queue = f.queue[0], f.queue[1:]
	f.bytes -= len(e.data)
	if len(f.queue) > 0 {
		pace.Wake(f.came)
	}
	pace.Wake(f.taken)
	return e, true
}

// Snapshot implements client.Sink: a command that was begun before we watched
// has its output in its part. A later state comes where the host could not say
// what we had missed.
func (f *follower) Snapshot(s ahp.Snapshot) {
	if s.Resource != f.uri || s.Resource == "" {
		f.Mirror.Snapshot(s)
		return
	}
	var state ahp.TerminalState
	if ahp.Unmarshal(s.State, &state) != nil {
		return
	}
	if f.begun {
		f.resume(state)
		return
	}
	f.begun = true
	if f.id == "" {
		return
	}
	for _, p := range state.Content {
		if p.CommandID != f.id {
			continue
		}
		f.tell(runEvent{id: f.id, data: p.Output})
		if p.IsComplete {
			f.tell(runEvent{kind: commandEnded, id: f.id, code: p.ExitCode})
		}
	}
}

// resume goes on after a gap: which command runs is in the state, what it printed
// meanwhile has to be asked for, also of one that has ended.
func (f *follower) resume(state ahp.TerminalState) {
	for _, p := range state.Content {
		switch {
		case p.CommandID == "":
		case !p.IsComplete:
			f.id = p.CommandID
		case p.CommandID == f.id:
			f.id = ""
		}
	}
	f.tell(runEvent{kind: stateCame})
	if state.Lifecycle.Exited() {
		f.tell(runEvent{kind: terminalEnded})
	}
}

// Gone implements client.Sink: the terminal was removed while we were away.
func (f *follower) Gone(uri ahp.URI) {
	if uri == f.uri && uri != "" {
		f.tell(runEvent{kind: terminalEnded})
	}
	f.Mirror.Gone(uri)
}

func (f *follower) Action(e ahp.Envelope) {
	if e.Channel != f.uri || e.Channel == "" {
		f.Mirror.Action(e)
		return
	}
	if e.RejectionReason != "" {
		return
	}
	switch a := e.Action.(type) {
	case ahp.TerminalData:
		if f.id != "" {
			f.tell(runEvent{id: f.id, data: a.Data, seq: e.ServerSeq})
		}
	case ahp.TerminalCommandExecuted:
		f.id = a.CommandID
	case ahp.TerminalCommandFinished:
		f.tell(runEvent{kind: commandEnded, id: a.CommandID, code: a.ExitCode, seq: e.ServerSeq})
		f.id = ""
	case ahp.TerminalExited:
		f.tell(runEvent{kind: terminalEnded})
	}
}

func (f *follower) Status(s client.Status, err error) {
	if s != client.Connected {
		f.lost.Store(true)
	}
	if s == client.Closed {
		f.err = err
		close(f.closed)
	}
}
