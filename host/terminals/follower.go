package terminals

import (
	"context"
	"sync"
	"time"

	"tandemux/host/core"
	"tandemux/host/requests"
)

// awaitTime is how long output waits for its follower.
const awaitTime = 10 * time.Second

// follower is the client that must see all output of the command that it runs in a terminal.
// While it is away (its connection or the host was lost, or it has not subscribed yet) the
// pty is not read, so that it never misses more than the replay log has. A client that stays
// away for awaitTime, or unsubscribes, is no longer the follower. The next host knows it.
//
// The zero value is no follower. It has its own lock, as the terminal's reader waits here and
// must not take the host's lock for that.
type follower struct {
	mu   sync.Mutex
	id   string        // the client's id, "" for no follower
	here chan struct{} // closed while the client watches
	gone bool          // the client stayed away for awaitTime: id does not count
}

func (f *follower) who() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return ""
	}
	return f.id
}

// expect makes a client, which is away, the follower. "" means no follower.
func (f *follower) expect(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.id == id && !f.gone {
		return
	}
	f.release()
	f.id, f.gone = id, false
	if id != "" {
		f.here = make(chan struct{})
	}
}

// release ends waits for the follower. The caller holds mu.
func (f *follower) release() {
	if f.here == nil {
		return
	}
	select {
	case <-f.here:
	default:
		close(f.here)
	}
}

// arrived notes that a client has subscribed.
func (f *follower) arrived(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == f.id {
		f.release()
	}
}

// left notes that a client is no longer subscribed.
func (f *follower) left(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == f.id && id != "" && !f.gone {
		f.release()
		f.here = make(chan struct{})
	}
}

// wait returns when the follower watches, there is none, or awaitTime has passed.
func (f *follower) wait(ctx context.Context) {
	f.mu.Lock()
	here := f.here
	f.mu.Unlock()
	if here == nil {
		return
	}
	select {
	case <-here:
		return
	default:
	}
	select {
	case <-here:
	case <-ctx.Done():
	case <-time.After(awaitTime):
		f.mu.Lock()
		if f.here == here {
			f.release()
			f.gone = true
		}
		f.mu.Unlock()
	}
}

// SetFollower makes the connection's client, if it is subscribed, the follower of the command
// that is about to begin.
func (t *Terminal) SetFollower(tx core.Tx, c *requests.Conn) {
	if c.Client.Watches(t.ch.URI) {
		t.follower.expect(c.Client.ID)
		t.follower.arrived(c.Client.ID)
		t.dirty = true
	}
}

// clearFollower removes the follower. It takes no Tx, as Reduce, which calls it, has none.
func (t *Terminal) clearFollower() {
	if t.follower.who() != "" {
		t.follower.expect("")
		t.dirty = true
	}
}

// LooksAway tells a terminal that a link is no longer subscribed. lost says that the
// connection was lost.
func LooksAway(tx core.Tx, c *core.Link, ch *core.Channel, lost bool) {
	t, ok := ch.Body.(*Terminal)
	switch {
	case !ok || c.Client == nil || c.Client.Watches(ch.URI):
	case lost:
		t.follower.left(c.Client.ID)
	case t.follower.who() == c.Client.ID:
		t.clearFollower()
	}
}

// Watched says that a link has subscribed.
func (t *Terminal) Watched(_ core.Tx, l *core.Link) { t.follower.arrived(l.Client.ID) }
