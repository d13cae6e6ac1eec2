package host

import (
	"context"
	"sync"
	"time"
)

const (
	// maxStates is how many connections are given states at the same time: a
	// state is put together, encoded and queued, up to ReplyBytes each time, and
	// when a hundred viewers fall behind together, they all come back together.
	maxStates = 4
	// smallReply is what may be left in a connection's queue when the next one's
	// turn comes.
	smallReply = 256 << 10
	// stateTime is how long a peer that takes its state slowly keeps the others
	// waiting.
	stateTime = 250 * time.Millisecond
)

// admission lets maxStates in, the others wait in the order in which they came.
// The zero value is ready. It has its own lock, which is taken after h.mu.
type admission struct {
	mu      sync.Mutex
	in      int
	waiting []chan struct{}
	most    int // that were in at the same time, for tests
}

// enter waits for a turn, which leave gives back.
func (a *admission) enter(ctx context.Context) error {
	a.mu.Lock()
	if a.in < maxStates {
		a.in++
		a.most = max(a.most, a.in)
		a.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	a.waiting = append(a.waiting, turn)
	a.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	for i, w := range a.waiting {
		if w == turn {
			a.waiting = append(a.waiting[:i], a.waiting[i+1:]...)
			a.mu.Unlock()
			return ctx.Err()
		}
	}
	a.mu.Unlock()
	a.leave() // The turn came meanwhile.
	return ctx.Err()
}

// leave passes the turn on.
func (a *admission) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) == 0 {
		a.in--
		return
	}
	close(a.waiting[0])
	a.waiting = a.waiting[1:]
}

// sent waits until most of a state has left, for stateTime at most, and gives
// the turn back.
func (a *admission) sent(c *conn) {
	if c.rpc.Queued() <= smallReply {
		a.leave()
		return
	}
	c.h.serving.Add(1)
	go func() {
		defer c.h.serving.Done()
		defer a.leave()
		slow := time.NewTimer(stateTime)
		defer slow.Stop()
		for {
			moved := c.moved.next()
			if c.rpc.Queued() <= smallReply {
				return
			}
			select {
			case <-moved:
			case <-c.rpc.Done():
				return
			case <-slow.C:
				return
			}
		}
	}()
}
