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
	maxStates = 4
	// smallReply is what may be left in a connection's queue when the next one's
	// turn comes.
	smallReply = 256 << 10
	// stateTime is how long a peer that takes its state slowly keeps the others
	// waiting.
	stateTime = 250 * time.Millisecond
)

// Gate lets maxStates in, the others wait in the order in which they came. The zero
// value is ready.
type Gate struct {
	mu      sync.Mutex
	in      int
	waiting []chan struct{}
	most    int // that were in at the same time, for tests
}

// Enter waits for a turn, which Leave gives back.
func (g *Gate) Enter(ctx context.Context) error {
	g.mu.Lock()
	if g.in < maxStates {
		g.in++
		g.most = max(g.most, g.in)
		g.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	g.waiting = append(g.waiting, turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	for i, w := range g.waiting {
		if w == turn {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			g.mu.Unlock()
			return ctx.Err()
		}
	}
	g.mu.Unlock()
	g.Leave() // The turn came meanwhile.
	return ctx.Err()
}

// Leave passes the turn on.
func (g *Gate) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.in--
		return
	}
	close(g.waiting[0])
	g.waiting = g.waiting[1:]
}

// LeaveWhenSent gives the turn back when most of a state has left, or after stateTime.
// work counts what waits for that.
func (g *Gate) LeaveWhenSent(c *Conn, work *sync.WaitGroup) {
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
