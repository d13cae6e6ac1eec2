package directory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tandemux/hub/server"
)

// Invite records to which host a credential was given, and by whom.
type Invite struct {
	Host    string    `json:"host"`
	User    string    `json:"user"` // the credential's public key
	Labels  []string  `json:"labels"`
	By      string    `json:"by"`
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires,omitzero"`
}

// Directory is the hub's view of the fleet's hosts. Its methods may be called from any goroutine.
type Directory struct {
	bus                      *server.Bus
	log                      *slog.Logger
	now                      func() time.Time
	hosts, presence, invites jetstream.KeyValue

	mu      sync.Mutex
	known   map[string]Host
	seen    map[string]time.Time
	labels  map[string]map[string][]string // of credentials, by host and public key
	refused map[string]bool                // the hosts whose unreadable entry was logged
}

// Open makes the buckets that are missing, reads them, and follows their changes until ctx ends.
func Open(ctx context.Context, b *server.Bus, log *slog.Logger) (*Directory, error) {
	d := &Directory{
		bus: b, log: log, now: time.Now, known: map[string]Host{}, seen: map[string]time.Time{},
		labels: map[string]map[string][]string{}, refused: map[string]bool{},
	}
	for _, o := range []struct {
		to  *jetstream.KeyValue
		c   jetstream.KeyValueConfig
		got func(jetstream.KeyValueEntry)
	}{
		{&d.invites, jetstream.KeyValueConfig{Bucket: invitesBucket, MaxValueSize: maxEntry}, d.invited},
		{&d.hosts, jetstream.KeyValueConfig{Bucket: hostsBucket, MaxValueSize: maxEntry}, d.told},
		{&d.presence, jetstream.KeyValueConfig{Bucket: presenceBucket, Storage: jetstream.MemoryStorage, TTL: AwayTime, MaxValueSize: maxWords}, nil},
	} {
		var err error
		if *o.to, err = b.Bucket(ctx, o.c, o.got); err != nil {
			return nil, fmt.Errorf("open the directory: %w", err)
		}
	}
	sub, err := b.Subscribe(prefix+presenceBucket+".*", d.beat)
	if err != nil {
		return nil, fmt.Errorf("open the directory: %w", err)
	}
	context.AfterFunc(ctx, func() { sub.Unsubscribe() }) //nolint:errcheck // it has ended
	return d, nil
}

func gone(e jetstream.KeyValueEntry) bool { return e.Operation() != jetstream.KeyValuePut }

func (d *Directory) told(e jetstream.KeyValueEntry) {
	name := e.Key()
	d.mu.Lock()
	defer d.mu.Unlock()
	if gone(e) {
		delete(d.known, name)
		return
	}
	h, err := read(name, e.Value())
	if err != nil {
		if !d.refused[name] && len(d.refused) < maxEntry {
			d.refused[name] = true
			d.log.Warn("a host says of itself what can't be read", "host", name, "err", err)
		}
		return
	}
	d.known[name] = h
}

// beat notes a host's beat from the message that writes its presence key. It subscribes to the
// messages, as a watch of the bucket would stall when the node that serves the watch dies.
func (d *Directory) beat(m *nats.Msg) {
	name := strings.TrimPrefix(m.Subject, prefix+presenceBucket+".")
	d.mu.Lock()
	defer d.mu.Unlock()
	if m.Header.Get(operation) != "" {
		// Seen keeps the time of the last beat, moved back so far that the host counts as away.
		if last := d.now().Add(-AwayTime); d.seen[name].After(last) {
			d.seen[name] = last
		}
		return
	}
	d.seen[name] = d.now()
}

func (d *Directory) invited(e jetstream.KeyValueEntry) {
	host, user, _ := strings.Cut(e.Key(), ".")
	d.mu.Lock()
	defer d.mu.Unlock()
	if gone(e) {
		delete(d.labels[host], user)
		if len(d.labels[host]) == 0 {
			delete(d.labels, host)
		}
		return
	}
	var i Invite
	if err := json.Unmarshal(e.Value(), &i); err != nil {
		d.log.Warn("an invitation can't be read", "host", host, "err", err)
		return
	}
	if d.labels[host] == nil {
		d.labels[host] = map[string][]string{}
	}
	d.labels[host][user] = i.Labels
}

// entry returns the Entry of a host. The caller holds mu.
func (d *Directory) entry(h Host, now time.Time) Entry {
	e := Entry{Host: h, Seen: d.seen[h.Name]}
	e.Present = now.Sub(e.Seen) < AwayTime
	if given, is := d.labels[h.Name]; is {
		e.Labels = nil
		for _, labels := range given {
			e.Labels = append(e.Labels, labels...)
		}
		slices.Sort(e.Labels)
		e.Labels = slices.Compact(e.Labels)
	}
	return e
}

// Hosts returns all hosts, sorted by name.
func (d *Directory) Hosts() []Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	all := make([]Entry, 0, len(d.known))
	for _, name := range slices.Sorted(maps.Keys(d.known)) {
		all = append(all, d.entry(d.known[name], now))
	}
	return all
}

func (d *Directory) Host(name string) (Entry, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, ok := d.known[name]
	return d.entry(h, d.now()), ok
}

// Invited stores that a host was given a credential.
func (d *Directory) Invited(ctx context.Context, i Invite) error {
	text, err := json.Marshal(i)
	if err == nil {
		err = d.bus.Again(ctx, func(ctx context.Context) error { _, err := d.invites.Put(ctx, i.Host+"."+i.User, text); return err })
	}
	if err != nil {
		return fmt.Errorf("keep who was invited: %w", err)
	}
	return nil
}

// Users returns the public keys of a host's credentials, sorted.
func (d *Directory) Users(host string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.labels[host]))
}

// Remove deletes a host's entry, its presence and its invitations.
func (d *Directory) Remove(ctx context.Context, host string) error {
	purge := func(kv jetstream.KeyValue, key string) error {
		return d.bus.Again(ctx, func(ctx context.Context) error { return kv.Purge(ctx, key) })
	}
	err := errors.Join(purge(d.hosts, host), purge(d.presence, host))
	for _, user := range d.Users(host) {
		err = errors.Join(err, purge(d.invites, host+"."+user))
	}
	if err != nil {
		return fmt.Errorf("forget host %s: %w", host, err)
	}
	return nil
}
