package terminals

import (
	"context"
	"sync"
	"time"

	"tandemux/host/core"
	"tandemux/host/requests"
)

// awaitTime bounds how long output waits for its follower to come, or to come
// back.
const awaitTime = 10 * time.Second

// follower is the client that must see all of a terminal's output: that of the
// command which it has run there. While it is away, because its connection or the
// host was lost, or it has not subscribed yet, nothing is read from the pty, so
// that what it missed is never more than the replay log has. One that stays away
// for awaitTime, or unsubscribes, is none any more. The next host knows it.
//
// The zero value is nobody. It has a lock of its own as the terminal's reader
// asks it, and that takes no lock of the host's while it waits.
type follower struct {
	mu   sync.Mutex
	id   string        // the client's; "" for nobody
	here chan struct{} // closed while it watches
	gone bool          // it stayed away: who said so forgets it
}

func (f *follower) who() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return ""
	}
	return f.id
}

// expect makes a client the follower, one that is away. "" makes it nobody.
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

// release lets those go on who wait. The caller holds mu.
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

// arrived notes that a client watches.
func (f *follower) arrived(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == f.id {
		f.release()
	}
}

// left notes that a client watches no more.
func (f *follower) left(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == f.id && id != "" && !f.gone {
		f.release()
		f.here = make(chan struct{})
	}
}

// wait returns once the follower is there, is none any more, or takes too long.
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

// Followed makes the connection's client, if it watches, the follower of the command
// that is about to begin.
func (t *Terminal) Followed(tx core.Tx, c *requests.Conn) {
	if c.Client.Watches(t.ch.URI) {
		t.follower.expect(c.Client.ID)
		t.follower.arrived(c.Client.ID)
		t.dirty = true
	}
}

// unfollowed ends that. Reduce, which calls it, has no Tx.
func (t *Terminal) unfollowed() {
	if t.follower.who() != "" {
		t.follower.expect("")
		t.dirty = true
	}
}

// LooksAway tells a terminal that a link watches it no more: for good, or
// because it was lost.
func LooksAway(tx core.Tx, c *core.Link, ch *core.Channel, lost bool) {
	t, ok := ch.Body.(*Terminal)
	switch {
	case !ok || c.Client == nil || c.Client.Watches(ch.URI):
	case lost:
		t.follower.left(c.Client.ID)
	case t.follower.who() == c.Client.ID:
		t.unfollowed()
	}
}

// Watched says that a link has subscribed.
func (t *Terminal) Watched(_ core.Tx, l *core.Link) { t.follower.arrived(l.Client.ID) }
