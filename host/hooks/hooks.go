package hooks

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandemux/internal/pace"
)

// maxWaiting bounds the events that wait for a hook.
const maxWaiting = 256

// pauses are those between attempts of a POST.
var pauses = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute}

// Hooks are those that run. Its methods may be called from any goroutine.
type Hooks struct {
	log    *slog.Logger
	wanted atomic.Pointer[map[string]bool] // kinds that a hook asks for
	ended  sync.WaitGroup

	hears func(Event)
	heard []string // kinds

	mu  sync.Mutex // guards all
	all map[string]*queue
}

// New makes Hooks that have none; log gets how they went.
func New(log *slog.Logger) *Hooks { return &Hooks{log: log} }

// Hear has f told of events of these kinds, too: it must not wait. It is called before Set.
func (hs *Hooks) Hear(kinds []string, f func(Event)) { hs.heard, hs.hears = kinds, f }

type queue struct {
	name string
	hook Hook
	stop context.CancelFunc
	news chan struct{} // holds one when something waits

	mu      sync.Mutex // guards the rest
	waiting []Event
	dropped int // since the last that was taken
}

// Set has these run and ends others, with what waits for them.
func (hs *Hooks) Set(t Tables) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	next, kinds := map[string]*queue{}, map[string]bool{}
	for _, kind := range hs.heard {
		kinds[kind] = true
	}
	for name, h := range t {
		q := hs.all[name]
		if q == nil || !reflect.DeepEqual(q.hook, h) {
			q = hs.start(name, h)
		}
		next[name] = q
		for _, kind := range h.On {
			kinds[kind] = true
		}
	}
	for name, q := range hs.all {
		if next[name] != q {
			q.stop()
		}
	}
	hs.all = next
	hs.wanted.Store(&kinds)
}

func (hs *Hooks) start(name string, h Hook) *queue {
	ctx, stop := context.WithCancel(context.Background())
	q := &queue{name: name, hook: h, stop: stop, news: make(chan struct{}, 1)}
	hs.ended.Go(func() { q.run(ctx, hs.log) })
	return q
}

// Close ends all hooks, and waits for it.
func (hs *Hooks) Close() {
	hs.Set(nil)
	hs.ended.Wait()
}

// Wants reports whether a hook asks for a kind of events. It costs next to nothing.
func (hs *Hooks) Wants(kind string) bool {
	kinds := hs.wanted.Load()
	return kinds != nil && (*kinds)[kind]
}

// Tell queues an event for those who ask for its kind. It waits for nobody.
func (hs *Hooks) Tell(e Event) {
	if !hs.Wants(e.Event) {
		return
	}
	if slices.Contains(hs.heard, e.Event) {
		hs.hears(e)
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for q := range maps.Values(hs.all) {
		if slices.Contains(q.hook.On, e.Event) {
			q.put(e)
		}
	}
}

// put queues an event. One of a layout that has changed again takes the place of the last.
func (q *queue) put(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.waiting); n > 0 && e.Event == Layout && q.waiting[n-1].Event == Layout && q.waiting[n-1].Layout == e.Layout {
		q.waiting[n-1] = e
		return
	}
	if len(q.waiting) == maxWaiting {
		q.waiting = slices.Delete(q.waiting, 0, 1)
		q.dropped++
	}
	q.waiting = append(q.waiting, e)
	pace.Wake(q.news)
}

// take takes the event that waits longest.
func (q *queue) take() (e Event, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return e, false
	}
	e = q.waiting[0]
	e.Dropped, q.dropped = q.dropped, 0
	q.waiting = slices.Delete(q.waiting, 0, 1)
	return e, true
}

// run carries one event after the other until ctx ends.
func (q *queue) run(ctx context.Context, log *slog.Logger) {
	for {
		select {
		case <-q.news:
		case <-ctx.Done():
			return
		}
		for e, ok := q.take(); ok && ctx.Err() == nil; e, ok = q.take() {
			begun := time.Now()
			err := q.send(ctx, e)
			switch about := []any{"hook", q.name, "event", e.Event, "took", time.Since(begun), "dropped", e.Dropped}; {
			case ctx.Err() != nil:
			case err != nil:
				log.Warn("a hook failed", append(about, "err", err)...)
			default:
				log.Info("a hook was told", about...)
			}
		}
	}
}

// send carries an event; an address that fails is tried again.
func (q *queue) send(ctx context.Context, e Event) error {
	id := "msg_" + strings.ToLower(rand.Text())
	for _, pause := range pauses {
		err := q.hook.send(ctx, id, e)
		if _, refused := errors.AsType[refusedError](err); err == nil || q.hook.URL == "" || refused {
			return err
		}
		if !pace.Sleep(ctx, pause) {
			return err
		}
	}
	return q.hook.send(ctx, id, e)
}
