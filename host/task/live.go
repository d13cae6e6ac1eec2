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

// live is a task that has not ended, with its runner. Fields without a comment are used by the runner
// only.
type live struct {
	s    *Service
	id   string        // immutable
	wake chan struct{} // gets a value when the runner has to look again; immutable
	done chan struct{} // closed when the runner has ended; immutable

	told    told              // what the stream has of the open turn
	loaded  bool              // told has been read from the store
	left    workspace.Removed // what deleting kept and dropped; others may read it once done is closed
	facts   store.Facts
	due     time.Duration // after which the running turn's use is counted again; 0: at the next change
	weighed weighed       // the last measurement of the files
	full    time.Time     // since when the current step has had no disk space; zero if it has
	asked   struct {      // about the version that was launched
		version string
		hooks   bool
	}

	mu      sync.Mutex // Protects following.
	session ahp.URI    // the session that is watched, or will be
	seen    seen
	stop    context.CancelFunc // interrupts the current step; nil between steps
	stuck   string             // why the runner can't go on at the moment, or ""
}

// seen is the state of a task's session and chat, as the host has sent it.
type seen struct {
	session    ahp.SessionState
	chat       ahp.ChatState
	hasSession bool
	hasChat    bool
	lost       bool // the session no longer exists
}

// retryTime is how long a runner waits after an error that may pass, such as a full disk or a busy
// host.
const retryTime = 2 * time.Second

// run does the task's work until nothing is left to do, or the service ends.
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

// stuckBy returns why a runner can't go on, for those who may see the task. Other errors are only in
// the host's log.
func stuckBy(err error) string {
	switch {
	case err == nil:
		return ""
	case isFull(err):
		return "the disk is full"
	}
	return "the host's log says why"
}

// errInterrupted is the error of a step that interrupt ended.
var errInterrupted = errors.New("interrupted")

// step does what is to be done now. over says that nothing will be left to do. After an error the step
// is repeated.
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

// begin returns the context of a step, which interrupt ends, and a function to call at the step's end.
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

// interrupt ends the current step, and has the runner look again.
func (l *live) interrupt() {
	l.mu.Lock()
	if l.stop != nil {
		l.stop()
	}
	l.mu.Unlock()
	l.poke()
}

// look returns what the host has said last.
func (l *live) look() seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen
}

// runner returns a task's runner, and starts it if there is none. The runner reads the record again.
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

// forget removes a runner that ends from the list. It returns false if the runner was woken meanwhile,
// for example because a task that was cancelled is to be deleted.
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

// Changed has the runners of tasks read their records again, for example after a deploy that moved the
// tasks to another version.
func (s *Service) Changed(ids ...string) {
	for _, id := range ids {
		s.runner(id)
	}
}

// enter takes a place for the task among those that work. If it returns false, the runner is woken
// when there is a place.
func (l *live) enter(w queue.Waiter) bool {
	ok := l.s.queue.Enter(w)
	if l.s.changed(l.id); ok {
		l.s.Changed(l.s.queue.Next()...) // there may be room for more
	}
	return ok
}

// leave frees the task's place for the next one.
func (l *live) leave() { l.s.Changed(l.s.queue.Leave(l.id)...) }

// LimitsChanged wakes the tasks for which the new limits have places.
func (s *Service) LimitsChanged() { s.Changed(s.queue.Next()...) }
