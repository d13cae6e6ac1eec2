package outbox

import (
	"context"
	"sync"
	"time"
)

const (
	// maxStates is how many connections are given states at the same time: a
	// state is put together, encoded and queued, up to ReplyBytes each time, and
	// when a hundred viewers fall behind together, they all come back together.
	maxStates = 2
	// smallReply is what may be left in a connection's queue when the next one's
	// turn comes.
	smallReply = 256 << 10
	// stateTime is how long a peer that takes its state slowly keeps the others
	// waiting.
	stateTime = 250 * time.Millisecond
)

// Gate lets maxStates in, the others wait in the order in which they came.
type Gate chan struct{}

// NewGate makes a Gate that nobody is in.
func NewGate() Gate { return make(Gate, maxStates) }

// Enter waits for a turn, which Leave gives back.
func (g Gate) Enter(ctx context.Context) error {
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave gives the turn to the next one.
func (g Gate) Leave() { <-g }

// LeaveWhenSent gives the turn back when most of a state has left, or after stateTime.
// work counts what waits for that.
func (g Gate) LeaveWhenSent(c *Conn, work *sync.WaitGroup) {
	if c.Behind(smallReply) == nil {
		g.Leave()
		return
	}
	work.Go(func() {
		defer g.Leave()
		slow := time.NewTimer(stateTime)
		defer slow.Stop()
		for {
			moved := c.Behind(smallReply)
			if moved == nil {
				return
			}
			select {
			case <-moved:
			case <-c.RPC.Done():
				return
			case <-slow.C:
				return
			}
		}
	})
}
