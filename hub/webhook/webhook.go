package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tandemux/host/auth"
	"tandemux/host/hooks"
	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/store"
	"tandemux/hub/front"
	"tandemux/hub/queue"
	"tandemux/hub/server"
)

const (
	bucket   = "tandemux_webhooks"
	maxHooks = 64
	maxURL   = 1024
)

// Kinds are the types of parts that a webhook may ask for.
var Kinds = []string{
	task.PartStart, task.PartFinish, task.PartStartStep, task.PartFinishStep, task.PartTextStart, task.PartTextDelta, task.PartTextEnd,
	task.PartReasoningStart, task.PartReasoningDelta, task.PartReasoningEnd, task.PartInputStart, task.PartInputDelta, task.PartInputEnd,
	task.PartToolCall, task.PartToolResult, task.PartQuestion, task.PartQuestionEnd, task.PartError,
}

// Wanted is what is asked for: an address, and which parts.
type Wanted struct {
	Name string   `json:"name"`
	URL  string   `json:"url"`
	On   []string `json:"on,omitempty"` // of Kinds; none: all
}

type webhook struct {
	Wanted
	Key     string    `json:"key"`
	Inside  bool      `json:"inside,omitempty"` // it may be on this machine, or in a private network
	By      string    `json:"by"`
	Created time.Time `json:"created"`
	// ID is its consumer's, From the first message that it gets.
	ID   string `json:"id"`
	From uint64 `json:"from"`
}

// Listed is a webhook without what is secret; stable.
type Listed struct {
	Name    string    `json:"name"`
	To      string    `json:"to" doc:"Its machine: paths may hold secrets"`
	On      []string  `json:"on" doc:"The types of parts that it is told; none: all"`
	By      string    `json:"by" doc:"Who made it"`
	Created time.Time `json:"created"`
	Waiting uint64    `json:"waiting" doc:"How many messages it was not told yet"`
	Failing bool      `json:"failing" doc:"The first of them was tried, and is tried again"`
}

// Made is a webhook with its secret, which is told once.
type Made struct {
	Listed
	Key string `json:"key" doc:"What its POSTs are signed with"`
}

// Options are what Hooks are made of.
type Options struct {
	Bus   *server.Bus
	Queue *queue.Queue
	Log   *slog.Logger
}

type Hooks struct {
	o      Options
	ctx    context.Context
	kv     jetstream.KeyValue
	pauses []time.Duration // between attempts; of all further ones the last

	mu    sync.Mutex
	all   map[string]*running // by name
	ended sync.WaitGroup
}

// running is a webhook that is known. stop ends its work.
type running struct {
	webhook
	stop context.CancelFunc
}

// Open begins; all ends with ctx.
func Open(ctx context.Context, o Options) (*Hooks, error) {
	hs := &Hooks{
		o: o, ctx: ctx, all: map[string]*running{},
		pauses: []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute},
	}
	return hs, hs.open(ctx)
}

func (hs *Hooks) open(ctx context.Context) (err error) {
	if hs.kv, err = hs.o.Bus.Bucket(ctx, jetstream.KeyValueConfig{Bucket: bucket, MaxValueSize: 16 << 10}, hs.changed); err != nil {
		return fmt.Errorf("open the hub's webhooks: %w", err)
	}
	return nil
}

// changed takes in a record as it is now.
func (hs *Hooks) changed(e jetstream.KeyValueEntry) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if old := hs.all[e.Key()]; old != nil {
		old.stop()
	}
	delete(hs.all, e.Key())
	r := &running{}
	if e.Operation() != jetstream.KeyValuePut {
		return
	}
	if err := json.Unmarshal(e.Value(), &r.webhook); err != nil {
		hs.o.Log.Error("read a webhook", "webhook", e.Key())
		return
	}
	var ctx context.Context
	ctx, r.stop = context.WithCancel(hs.ctx)
	hs.all[e.Key()] = r
	hs.ended.Go(func() { hs.run(ctx, r.webhook) })
}

// check says what is wrong with what is asked for.
func (w Wanted) check(inside bool) error {
	if err := access.CheckName("a webhook", w.Name); err != nil {
		return err
	}
	u, err := url.Parse(w.URL)
	switch {
	case len(w.URL) > maxURL:
		return fmt.Errorf("the address has more than %d bytes", maxURL)
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("the address is such as https://example.org/events")
	case !inside && u.Scheme != "https":
		return errors.New("the address is https: only the hub's own user, on its machine, names others")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !inside && !hooks.IsPublic(ip) {
		return errors.New("the address is of a private network: only the hub's own user, on its machine, names such a one")
	}
	for _, kind := range w.On {
		if !slices.Contains(Kinds, kind) {
			return fmt.Errorf("%.40q is no type of a part: there are %s", kind, strings.Join(Kinds, ", "))
		}
	}
	if len(w.On) > len(Kinds) {
		return errors.New("it names types of parts more than once")
	}
	return nil
}

// add makes a webhook, which is told what tasks do from now on.
func (hs *Hooks) add(ctx context.Context, w Wanted, by front.Person) (Made, error) {
	if err := w.check(by.Local); err != nil {
		return Made{}, err
	}
	hs.mu.Lock()
	full := len(hs.all) >= maxHooks
	hs.mu.Unlock()
	if full {
		return Made{}, fmt.Errorf("there are %d webhooks, as many as there may be: `tandemux hub webhook rm` removes one", maxHooks)
	}
	h := webhook{Wanted: w, Key: hooks.NewKey(), Inside: by.Local, By: by.Name, Created: time.Now().UTC().Truncate(time.Millisecond), ID: store.NewID("whk")}
	err := hs.o.Bus.Again(ctx, func(ctx context.Context) error {
		s, err := hs.o.Bus.JS.Stream(ctx, queue.Stream)
		if err == nil {
			h.From = s.CachedInfo().State.LastSeq + 1
			var text []byte
			if text, err = json.Marshal(h); err == nil {
				_, err = hs.kv.Create(ctx, w.Name, text)
			}
			if errors.Is(err, jetstream.ErrKeyExists) && hs.has(ctx, w.Name, h.ID) {
				err = nil // by an attempt that was not answered in time
			}
		}
		return err
	})
	if errors.Is(err, jetstream.ErrKeyExists) {
		return Made{}, fmt.Errorf("there is a webhook %s already: `tandemux hub webhook rm %s` removes it", w.Name, w.Name)
	}
	if err != nil {
		return Made{}, fmt.Errorf("make a webhook: %w", err)
	}
	return Made{h.listed(), h.Key}, nil
}

// has reports whether a name is the webhook's of an id.
func (hs *Hooks) has(ctx context.Context, name, id string) bool {
	var h webhook
	e, err := hs.kv.Get(ctx, name)
	return err == nil && json.Unmarshal(e.Value(), &h) == nil && h.ID == id
}

// listed is what may be shown.
func (h webhook) listed() Listed {
	to := ""
	if u, err := url.Parse(h.URL); err == nil {
		to = u.Scheme + "://" + u.Host
	}
	return Listed{Name: h.Name, To: to, On: append([]string{}, h.On...), By: h.By, Created: h.Created}
}

// list is all of them, by name.
func (hs *Hooks) list(ctx context.Context) ([]Listed, error) {
	hs.mu.Lock()
	all := make([]webhook, 0, len(hs.all))
	for _, r := range hs.all {
		all = append(all, r.webhook)
	}
	hs.mu.Unlock()
	slices.SortFunc(all, func(a, b webhook) int { return strings.Compare(a.Name, b.Name) })
	list := []Listed{}
	for _, h := range all {
		l := h.listed()
		switch i, err := hs.consumer(ctx, h.ID); {
		case err == nil:
			l.Waiting, l.Failing = i.NumPending+uint64(i.NumAckPending), i.NumRedelivered > 0 //nolint:gosec // never negative
		case !errors.Is(err, jetstream.ErrConsumerNotFound): // which was just made
			return nil, fmt.Errorf("ask how far a webhook is: %w", err)
		}
		list = append(list, l)
	}
	return list, nil
}

func (hs *Hooks) consumer(ctx context.Context, id string) (*jetstream.ConsumerInfo, error) {
	c, err := hs.o.Bus.JS.Consumer(ctx, queue.Stream, consumerName(id))
	if err != nil {
		return nil, err
	}
	return c.CachedInfo(), nil
}

// remove removes a webhook; what it was not told it is never told.
func (hs *Hooks) remove(ctx context.Context, name string) error {
	missing := fmt.Errorf("there is no webhook %.100q: `tandemux hub webhook ls` lists them", name)
	if access.CheckName("a webhook", name) != nil {
		return missing
	}
	found := false
	err := hs.o.Bus.Again(ctx, func(ctx context.Context) error {
		e, err := hs.kv.Get(ctx, name)
		if errors.Is(err, jetstream.ErrKeyNotFound) && found {
			return nil // an attempt that was not answered in time has removed it
		}
		if err != nil {
			return err
		}
		found = true
		var h webhook
		if err := json.Unmarshal(e.Value(), &h); err != nil {
			return err
		}
		if err := hs.kv.Delete(ctx, name, jetstream.LastRevision(e.Revision())); err != nil {
			return err
		}
		hs.o.Bus.JS.DeleteConsumer(ctx, queue.Stream, consumerName(h.ID)) //nolint:errcheck // then a place is left that nobody goes on from
		return nil
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return missing
	}
	if err != nil {
		return fmt.Errorf("remove the webhook %s: %w", name, err)
	}
	return nil
}

// Routes are the front's, for who administers the hub.
func (hs *Hooks) Routes() []front.Route {
	return []front.Route{
		{Pattern: "GET /api/v1/webhooks", Scope: auth.ScopeAdmin, Serve: front.Does(func(r *http.Request) ([]Listed, error) { return hs.list(r.Context()) })},
		{Pattern: "POST /api/v1/webhooks", Does: "webhook add", Scope: auth.ScopeAdmin, Serve: front.Takes(func(r *http.Request, by front.Person, in Wanted) (Made, error) {
			front.On(r.Context(), in.Name)
			return hs.add(r.Context(), in, by)
		})},
		{Pattern: "DELETE /api/v1/webhooks/{name}", Does: "webhook rm", Scope: auth.ScopeAdmin, Serve: front.Does(func(r *http.Request) (struct{}, error) {
			return struct{}{}, hs.remove(r.Context(), r.PathValue("name"))
		})},
	}
}
