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
	// A host sends a beat every BeatTime, and counts as away once it has sent none for AwayTime.
	BeatTime = time.Second
	AwayTime = 4 * time.Second
	// gather is the least time between two writes of the host's entry.
	gather = time.Second
	// again is how long Run waits for the hub to store the entry before it writes it again.
	again = 2 * time.Second
)

// Announcer tells the hub what a host is and that it is here. Its methods may be called from any
// goroutine.
type Announcer struct {
	nc   *nats.Conn
	name string
	id   string // tells its beats from those of another host of the same name

	mu      sync.Mutex
	host    *Host // nil: the host is away
	changed chan struct{}
}

// NewAnnouncer returns an Announcer that tells nothing until Set is called.
func NewAnnouncer(nc *nats.Conn, name string) *Announcer {
	return &Announcer{nc: nc, name: name, id: rand.Text(), changed: make(chan struct{}, 1)}
}

// Set sets what the host is from now on; nil means that it is away.
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

// Run tells the hub until ctx ends, and then that the host is away. It writes the host's entry again
// until the hub has stored it: while the hub's nodes change, no node may accept a write. If another
// host of the same name is here already, Run ends with an error.
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
	defer sub.Unsubscribe() //nolint:errcheck // it has ended
	beats := make(chan *nats.Msg, 16)
	heard, err := a.nc.ChanSubscribe(prefix+presenceBucket+"."+a.name, beats)
	if err != nil {
		return fmt.Errorf("say what this host is: %w", err)
	}
	defer heard.Unsubscribe() //nolint:errcheck // it has ended
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
			// The host that came later ends; the other writes its entry again, as this one has
			// overwritten it. A single beat may come from a process that was killed just before.
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

// beat sends one beat. No acknowledgement is needed, as the next beat follows; while the connection is
// down none is queued, because it would arrive too late.
func (a *Announcer) beat() {
	if a.nc.IsConnected() {
		a.nc.Publish(prefix+presenceBucket+"."+a.name, []byte(a.id)) //nolint:errcheck // the next one follows
	}
}

// leave tells the hub that the host is away.
func (a *Announcer) leave() {
	if a.nc.IsConnected() {
		m := nats.NewMsg(prefix + presenceBucket + "." + a.name)
		m.Header.Set(operation, "DEL")
		a.nc.PublishMsg(m)             //nolint:errcheck // if it fails, the key's time to live tells the same
		a.nc.FlushTimeout(time.Second) //nolint:errcheck // if it fails, the key's time to live tells the same
	}
}
