package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tandemux/hub/lease"
	"tandemux/hub/server"
	"tandemux/internal/pace"
)

type Options struct {
	NATS     *nats.Conn
	JS       jetstream.JetStream
	Replicas int
	Terms    lease.Terms // zero: lease.DefaultTerms
	// Labels returns the labels that a host's credential grants, which replace those that the host
	// sends. If it is nil or returns none, the host's own count.
	Labels func(host string) []string
	Log    *slog.Logger
}

// Queue holds the tasks of a fleet. It implements lease.Store.
type Queue struct {
	o     Options
	start time.Time

	tasks, events, settings jetstream.KeyValue
	parts                   jetstream.Stream
	files                   stored

	stop   context.CancelFunc
	ended  sync.WaitGroup
	subs   []*nats.Subscription
	look   chan struct{} // wakes the dispatcher
	ctx    context.Context
	mu     sync.Mutex
	known  map[string]*entry
	hosts  map[string]*member
	watch  *lease.Watch
	limits Limits
	drain  map[string]bool
	ends   map[string]end // of the tasks' streams
	back   map[[2]string]time.Time
}

// entry is a task's record as this hub last saw it.
type entry struct {
	revision uint64
	record   lease.Record
	spec     Spec
	news     chan struct{} // closed when something of the task changes
}

// member is a host that has sent a beat.
type member struct {
	labels, agents []string
	room           int
	heard          time.Time
}

const (
	// callTime bounds each request to NATS.
	callTime = 10 * time.Second
	// awayTime is how long a host is not offered a task that it gave back.
	awayTime = 15 * time.Second
)

// Open starts a queue, which runs until Close.
func Open(ctx context.Context, o Options) (*Queue, error) {
	if o.Terms == (lease.Terms{}) {
		o.Terms = lease.DefaultTerms
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	q := &Queue{
		o: o, start: time.Now(), look: make(chan struct{}, 1), known: map[string]*entry{}, hosts: map[string]*member{}, watch: lease.NewWatch(o.Terms),
		drain: map[string]bool{}, ends: map[string]end{}, back: map[[2]string]time.Time{},
	}
	if err := q.open(ctx); err != nil {
		return nil, fmt.Errorf("open the fleet's tasks: %w", err)
	}
	q.ctx, q.stop = context.WithCancel(context.Background())
	if err := q.begin(ctx); err != nil {
		q.Close()
		return nil, fmt.Errorf("open the fleet's tasks: %w", err)
	}
	return q, nil
}

func (q *Queue) begin(ctx context.Context) error {
	defer context.AfterFunc(ctx, q.stop)() // until all of it was read
	err := server.Follow(q.ctx, q.tasks, q.task)
	if err == nil {
		err = server.Follow(q.ctx, q.settings, q.setting)
	}
	if err == nil {
		err = q.followParts()
	}
	if err == nil {
		err = q.listen()
	}
	if err != nil {
		return err
	}
	q.ended.Go(q.dispatch)
	q.ended.Go(q.sweepFiles)
	return nil
}

// Close stops the queue. Tasks go on where they are.
func (q *Queue) Close() {
	for _, s := range q.subs {
		s.Unsubscribe() //nolint:errcheck // if it fails, the connection is gone
	}
	q.stop()
	q.ended.Wait()
}

// now returns the monotonic time since the queue was opened.
func (q *Queue) now() time.Duration { return time.Since(q.start) }

// task follows the changes of tasks' records.
func (q *Queue) task(e jetstream.KeyValueEntry) {
	if e.Operation() == jetstream.KeyValuePut {
		q.see(e.Key(), e.Revision(), e.Value())
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.known[e.Key()]; k != nil && k.revision < e.Revision() {
		delete(q.known, e.Key())
		delete(q.ends, e.Key())
		q.watch.See(e.Key(), lease.Record{}, q.now())
		close(k.news)
	}
}

// setting follows the changes of settings.
func (q *Queue) setting(e jetstream.KeyValueEntry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.wake()
	put := e.Operation() == jetstream.KeyValuePut
	if host, is := strings.CutPrefix(e.Key(), drainKey); is {
		if q.drain[host] = put; !put {
			delete(q.drain, host)
		}
		return
	}
	if e.Key() == limitsKey {
		q.limits = Limits{}
		if err := json.Unmarshal(e.Value(), &q.limits); put && err != nil {
			q.o.Log.Error("read the limits", "err", err)
		}
	}
}

// see stores a record in memory as it is at a revision.
func (q *Queue) see(id string, revision uint64, text []byte) {
	var r lease.Record
	if err := json.Unmarshal(text, &r); err != nil {
		q.o.Log.Error("read a task", "task", id, "err", err)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.known[id]
	switch {
	case k == nil:
		k = &entry{news: make(chan struct{})}
		if err := json.Unmarshal(r.Task, &k.spec); err != nil {
			q.o.Log.Error("read a task", "task", id, "err", err)
			return
		}
		q.known[id] = k
	case revision <= k.revision:
		return
	}
	k.revision, k.record = revision, r
	q.watch.See(id, r, q.now())
	q.changed(k)
	q.wake()
}

// changed wakes those who wait for news of a task.
func (q *Queue) changed(k *entry) {
	close(k.news)
	k.news = make(chan struct{})
}

func (q *Queue) wake() { pace.Wake(q.look) }

// dispatch hands out waiting tasks and reclaims lost leases. It runs when something changes and when
// the next lease may be lost.
func (q *Queue) dispatch() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-q.ctx.Done():
			return
		case <-q.look:
		case <-timer.C:
		}
		q.mu.Lock()
		lost := q.watch.Lost(q.now())
		all := q.choose()
		q.mu.Unlock()
		var work sync.WaitGroup
		var failed atomic.Bool
		for id, op := range lost {
			work.Go(func() {
				if _, err := q.own(id, op); err != nil {
					failed.Store(true)
				}
			})
		}
		for _, g := range all {
			work.Go(func() {
				r, err := q.own(g.id, lease.Op{Verb: lease.Claim, Host: g.host})
				if err != nil {
					failed.Store(true)
					return
				}
				q.tell(g.host, Tell{ID: g.id, Record: &r})
			})
		}
		work.Wait()
		timer.Reset(q.pause(failed.Load()))
	}
}

// pause returns how long dispatch may wait if nothing changes. After a failure, as while two of three
// nodes are down, it is one second.
func (q *Queue) pause(failed bool) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	least, long := 10*time.Millisecond, time.Hour
	if failed {
		least, long = time.Second, time.Second
	}
	if at, any := q.watch.Next(); any {
		long = min(long, at-q.now())
	}
	for _, until := range q.back {
		long = min(long, time.Until(until))
	}
	return max(least, long)
}

// own makes a change on the queue's own initiative.
func (q *Queue) own(id string, op lease.Op) (lease.Record, error) {
	ctx, done := context.WithTimeout(q.ctx, callTime)
	defer done()
	r, err := q.change(ctx, id, op)
	if err != nil && q.ctx.Err() == nil {
		q.o.Log.Warn("change a task", "task", id, "verb", op.Verb, "err", err)
	}
	return r, err
}

// sorted returns the known tasks, oldest first. The caller holds mu.
func (q *Queue) sorted() []*entry {
	all := make([]*entry, 0, len(q.known))
	for _, k := range q.known {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b *entry) int {
		return cmp.Or(a.spec.Created.Compare(b.spec.Created), strings.Compare(a.spec.ID, b.spec.ID))
	})
	return all
}

// choose decides which host is to take which task. The caller holds mu.
func (q *Queue) choose() []given {
	maps.DeleteFunc(q.back, func(_ [2]string, until time.Time) bool { return time.Now().After(until) })
	var working, waiting []wish
	at := map[string]int{}
	waits := false
	for _, k := range q.known {
		waits = waits || k.record.State == lease.Pending
	}
	if !waits {
		return nil
	}
	for _, k := range q.sorted() {
		w := wish{spec: &k.spec, home: k.record.Home, not: map[string]bool{}}
		switch {
		case k.record.State.Held():
			working = append(working, w)
			at[k.record.Host]++
		case k.record.State == lease.Pending:
			for pair := range q.back {
				if pair[0] == k.spec.ID {
					w.not[pair[1]] = true
				}
			}
			waiting = append(waiting, w)
		}
	}
	var places []*place
	for name, m := range q.hosts {
		if q.drain[name] || time.Since(m.heard) > q.o.Terms.Claimed/2 {
			continue
		}
		places = append(places, &place{name: name, labels: slices.Concat(m.labels, m.agents), room: m.room, working: at[name]})
	}
	slices.SortFunc(places, func(a, b *place) int { return strings.Compare(a.name, b.name) })
	all := pick(working, waiting, places, q.limits)
	for _, g := range all {
		q.hosts[g.host].room-- // until its next beat says how much it has
	}
	return all
}

func (q *Queue) tell(host string, t Tell) {
	text, err := json.Marshal(t)
	if err == nil {
		err = q.o.NATS.Publish(Subject("tell", host), text)
	}
	if err != nil {
		q.o.Log.Warn("tell a host", "host", host, "err", err)
	}
}
