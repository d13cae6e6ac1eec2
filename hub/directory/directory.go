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

// Invite says who was given a credential.
type Invite struct {
	Host    string    `json:"host"`
	User    string    `json:"user"` // the credential's public key
	Labels  []string  `json:"labels"`
	By      string    `json:"by"`
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires,omitzero"`
}

// Directory is the hub's view. Its methods may be called from any goroutine.
type Directory struct {
	bus                      *server.Bus
	log                      *slog.Logger
	now                      func() time.Time
	hosts, presence, invites jetstream.KeyValue

	mu      sync.Mutex
	known   map[string]Host
	seen    map[string]time.Time
	labels  map[string]map[string][]string // of invites, by host and user
	refused map[string]bool                // who wrote what can't be read
}

// Open makes the buckets where there are none, and has what is in them. It follows them
// until ctx ends.
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
	context.AfterFunc(ctx, func() { sub.Unsubscribe() }) //nolint:errcheck // it is over
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

// beat hears a host as it writes its key: a watch of the bucket would wait for another of
// its kind where the node that has it dies.
func (d *Directory) beat(m *nats.Msg) {
	name := strings.TrimPrefix(m.Subject, prefix+presenceBucket+".")
	d.mu.Lock()
	defer d.mu.Unlock()
	if m.Header.Get(operation) != "" {
		// When it was last here is known all the same.
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

// entry is a host's. The caller holds mu.
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

// Hosts are all, by name.
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

// Invited keeps that a host was given a credential.
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

// Users are the credentials of a host.
func (d *Directory) Users(host string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.labels[host]))
}

// Remove forgets a host and its invitations.
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
