package directory

import (
	"context"
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

	mu      sync.Mutex
	host    *Host // nil: it is away
	changed chan struct{}
}

// NewAnnouncer makes one that says nothing yet.
func NewAnnouncer(nc *nats.Conn, name string) *Announcer {
	return &Announcer{nc: nc, name: name, changed: make(chan struct{}, 1)}
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
// again until the hub has stored it: while nodes change nobody may.
func (a *Announcer) Run(ctx context.Context) error {
	defer a.leave()
	inbox := a.nc.NewInbox()
	acks := make(chan *nats.Msg, 16)
	sub, err := a.nc.ChanSubscribe(inbox+".*", acks)
	if err != nil {
		return fmt.Errorf("say what this host is: %w", err)
	}
	defer sub.Unsubscribe() //nolint:errcheck // it is over
	count, stored := 0, true
	beat := time.NewTicker(BeatTime)
	defer beat.Stop()
	var told time.Time
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
			here = true
			a.beat()
		}
	}
}

// beat is not acknowledged: the next one follows. One that waits for a connection that is
// down would come too late.
func (a *Announcer) beat() {
	if a.nc.IsConnected() {
		a.nc.Publish(prefix+presenceBucket+"."+a.name, nil) //nolint:errcheck // the next one follows
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
