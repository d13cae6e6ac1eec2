package directory

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/internal/pace"
)

const (
	// BeatTime is how often a host says that it is here, AwayTime after how long without it
	// counts as away.
	BeatTime = time.Second
	AwayTime = 4 * time.Second
	// gather is how long changes of a host are gathered until they are told.
	gather = time.Second
	// again is after how long what was not stored is told again.
	again = 2 * time.Second
)

// Announcer says what a host is, and that it is here. Its methods may be called from any
// goroutine.
type Announcer struct {
	nc   *nats.Conn
	name string
	id   string // tells its beats from another's of the same name

	mu      sync.Mutex
	host    *Host // nil: it is away
	changed chan struct{}
}

// NewAnnouncer makes one that says nothing yet.
func NewAnnouncer(nc *nats.Conn, name string) *Announcer {
	return &Announcer{nc: nc, name: name, id: rand.Text(), changed: make(chan struct{}, 1)}
}

// Set is what the host is from now on; nil says that it is away.
func (a *Announcer) Set(h *Host) {
	a.mu.Lock()
	a.host = h
	a.mu.Unlock()
	pace.Wake(a.changed)
}

func (a *Announcer) current() *Host {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.host
}

// Run tells until ctx ends; then it says that the host is away. What the host is it tells
// again until the hub has stored it: while nodes change nobody may. Where another is
// here under the name, it ends with an error.
func (a *Announcer) Run(ctx context.Context) error {
	taken := false
	defer func() {
		if !taken {
			a.leave()
		}
	}()
	inbox := a.nc.NewInbox()
	acks := make(chan *nats.Msg, 16)
	sub, err := a.nc.ChanSubscribe(inbox+".*", acks)
	if err != nil {
		return fmt.Errorf("say what this host is: %w", err)
	}
	defer sub.Unsubscribe() //nolint:errcheck // it is over
	beats := make(chan *nats.Msg, 16)
	heard, err := a.nc.ChanSubscribe(prefix+presenceBucket+"."+a.name, beats)
	if err != nil {
		return fmt.Errorf("say what this host is: %w", err)
	}
	defer heard.Unsubscribe() //nolint:errcheck // it is over
	count, stored, others := 0, true, 0
	beat := time.NewTicker(BeatTime)
	defer beat.Stop()
	var told, since time.Time // since: it is here
	var last string
	here := false
	var wait <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			if here {
				a.beat()
			}
			if stored || !here || time.Since(told) < again {
				continue
			}
			last = ""
		case m := <-acks:
			if m.Subject == fmt.Sprint(inbox, ".", count) && len(m.Header) == 0 && !strings.Contains(string(m.Data), `"error"`) {
				stored = true
			}
			continue
		case m := <-beats:
			if id := string(m.Data); id == "" || id == a.id || !here {
				continue
			}
			// Who came later goes; who stays tells again what the other has written over. One
			// beat alone may have been under way as its host was killed.
			others++
			if taken = others > 1 && time.Since(since) < AwayTime; taken {
				return fmt.Errorf("a host has joined as %s already and is here: stop its `tandemux join`, or give this one another name by `tandemux hub invite NAME` on the hub's machine", a.name)
			}
			stored = false
			continue
		case <-a.changed:
			h := a.current()
			if h == nil {
				if here {
					a.leave()
				}
				here = false
				continue
			}
			if pause := gather - time.Since(told); here && pause > 0 {
				if wait == nil {
					wait = time.After(pause)
				}
				continue
			}
		case <-wait:
		}
		wait = nil
		h := a.current()
		if h == nil {
			continue
		}
		text, err := write(*h)
		if err != nil {
			return fmt.Errorf("say what this host is: %w", err)
		}
		if last != string(text) || !here {
			count++
			stored = false
			if err := a.nc.PublishRequest(prefix+hostsBucket+"."+a.name, fmt.Sprint(inbox, ".", count), text); err != nil {
				return fmt.Errorf("say what this host is: %w", err)
			}
			last, told = string(text), time.Now()
		}
		if !here {
			here, since, others = true, time.Now(), 0
			a.beat()
		}
	}
}

// beat is not acknowledged: the next one follows. One that waits for a connection that is
// down would come too late.
func (a *Announcer) beat() {
	if a.nc.IsConnected() {
		a.nc.Publish(prefix+presenceBucket+"."+a.name, []byte(a.id)) //nolint:errcheck // the next one follows
	}
}

// leave says that the host is away.
func (a *Announcer) leave() {
	if a.nc.IsConnected() {
		m := nats.NewMsg(prefix + presenceBucket + "." + a.name)
		m.Header.Set(operation, "DEL")
		a.nc.PublishMsg(m)             //nolint:errcheck // else its time to live says so
		a.nc.FlushTimeout(time.Second) //nolint:errcheck // else its time to live says so
	}
}
