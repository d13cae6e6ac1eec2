package task

import (
	"context"
	"errors"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/host/task/queue"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
)

// live is a task that is not done with: its runner and what that knows. Fields
// without a note are the runner's alone.
type live struct {
	s    *Service
	id   string        // immutable
	wake chan struct{} // holds one when there is something to look at; immutable
	done chan struct{} // closed when the runner has ended; immutable

	told    told              // what the stream tells of the open turn
	loaded  bool              // told is as the store says
	left    workspace.Removed // what deleting left and dropped; for others once done is closed
	facts   store.Facts
	due     time.Duration // after which to look again at what the turn uses; 0: not by itself
	weighed weighed       // of its files
	full    time.Time     // since when there is no room for what it is at; zero: there is
	asked   struct {      // of the version that it was launched with
		version string
		hooks   bool
	}

	mu      sync.Mutex // Protects following.
	session ahp.URI    // that is watched, or about to be
	seen    seen
	stop    context.CancelFunc // ends what the runner is at; nil between
	stuck   string             // why it can't go on for now, or empty
}

// seen is what the host says of the task's session.
type seen struct {
	session    ahp.SessionState
	chat       ahp.ChatState
	hasSession bool
	hasChat    bool
	lost       bool // it is there no more
}

// retryTime is how long a runner waits after something failed that may go by
// itself: a full disk, a host that is busy.
const retryTime = 2 * time.Second

// run does what is to be done for the task until nothing ever will be, or the
// service ends.
func (l *live) run() {
	defer close(l.done)
	for l.s.ctx.Err() == nil {
		over, err := l.step()
		if over && l.s.forget(l) {
			return
		}
		err = l.noRoom(err)
		if errors.Is(err, errInterrupted) {
			continue
		}
		l.mu.Lock()
		l.stuck = stuckBy(err)
		l.mu.Unlock()
		var again <-chan time.Time
		if err != nil && l.s.ctx.Err() == nil {
			l.s.Log.Warn("a task can't go on; it is tried again", "task", l.id, "err", err)
			again = time.After(retryTime)
		} else if l.due > 0 {
			again = time.After(l.due)
		}
		select {
		case <-l.wake:
		case <-again:
		case <-l.s.ctx.Done():
		}
	}
	l.s.forget(l)
}

// stuckBy says why a runner can't go on for now, to whoever may see the task: what else is
// wrong with the host is in its log.
func stuckBy(err error) string {
	switch {
	case err == nil:
		return ""
	case isFull(err):
		return "the disk is full"
	}
	return "the host's log says why"
}

// errInterrupted is what a step fails with that was interrupted: there is news.
var errInterrupted = errors.New("interrupted")

// step does what is to be done now. over: nothing will be any more. An error is
// tried again, sooner or later.
func (l *live) step() (over bool, err error) {
	ctx, end := l.begin()
	defer end()
	l.due = 0
	defer func() {
		if err != nil && ctx.Err() != nil && l.s.ctx.Err() == nil {
			err = errInterrupted
		}
	}()
	t, err := l.s.Store.Tasks.Find(ctx, l.id)
	if errors.Is(err, store.NotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	l.facts = t.Facts
	switch {
	case t.Status == store.Deleting:
		err := l.remove(l.s.ctx, t)
		return err == nil, err
	case t.Status.Final():
		err := l.finish(l.s.ctx, t)
		return err == nil, err
	case t.Status == store.Creating:
		return false, l.create(ctx, t)
	}
	return false, l.work(ctx, t)
}

// begin makes the context of a step, which a cancel ends.
func (l *live) begin() (context.Context, func()) {
	ctx, cancel := context.WithCancel(l.s.ctx)
	l.mu.Lock()
	l.stop = cancel
	l.mu.Unlock()
	return ctx, func() {
		l.mu.Lock()
		l.stop = nil
		l.mu.Unlock()
		cancel()
	}
}

// interrupt ends what the runner is at, and has it look again.
func (l *live) interrupt() {
	l.mu.Lock()
	if l.stop != nil {
		l.stop()
	}
	l.mu.Unlock()
	l.poke()
}

// look is what the host says now.
func (l *live) look() seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen
}

// runner gives a task's runner, begun if there is none, which looks at the task's record once more.
func (s *Service) runner(id string) *live {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.live[id]; l != nil {
		l.poke() // before forget can take it from the list
		return l
	}
	l := &live{s: s, id: id, wake: make(chan struct{}, 1), done: make(chan struct{})}
	if s.closed {
		close(l.done)
		return l
	}
	s.live[id] = l
	s.work.Go(l.run)
	return l
}

// forget takes a runner that ends from the list; false: it was asked meanwhile to look again,
// such as at a task that was cancelled and is to be deleted.
func (s *Service) forget(l *live) bool {
	l.leave()
	l.unwatch()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(l.wake) > 0 && s.ctx.Err() == nil {
		return false
	}
	delete(s.live, l.id)
	return true
}

// Changed has the runners of tasks look at their records again, such as after a deploy that
// moved them to another version.
func (s *Service) Changed(ids ...string) {
	for _, id := range ids {
		s.runner(id)
	}
}

// enter takes a place for the task among those that work; false: it is woken when there is
// one.
func (l *live) enter(w queue.Waiter) bool {
	ok := l.s.queue.Enter(w)
	if l.s.changed(l.id); ok {
		l.s.Changed(l.s.queue.Next()...) // there may be room for more
	}
	return ok
}

// leave gives the task's place to the next.
func (l *live) leave() { l.s.Changed(l.s.queue.Leave(l.id)...) }

// LimitsChanged has those begin that there is room for now.
func (s *Service) LimitsChanged() { s.Changed(s.queue.Next()...) }
