package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tandemux/hub/lease"
)

const (
	limitsKey = "limits"
	drainKey  = "drain."
	// maxTasks bounds the known tasks, and maxWaiting a person's waiting ones.
	maxTasks = 100_000
)

type Task struct {
	Spec   Spec
	Record lease.Record
}

// Event is something that was sent to a task.
type Event struct {
	ID      string          `json:"id"`
	Task    string          `json:"task"`
	Content json.RawMessage `json:"content"`
	Author  string          `json:"author"`
	Created time.Time       `json:"created"`
}

// Create makes a task that has no events yet. The caller chooses its id; a second call with the same
// id returns the same task.
func (q *Queue) Create(ctx context.Context, s Spec, policy lease.Policy) (Task, error) {
	q.mu.Lock()
	full := len(q.known) >= maxTasks
	taken := ""
	for id, k := range q.known {
		if k.spec.Name == s.Name && id != s.ID {
			taken = id
		}
	}
	q.mu.Unlock()
	switch {
	case taken != "":
		return Task{}, lease.Stale.Errorf("another task is named %s (%s)", s.Name, taken)
	case full:
		return Task{}, lease.Stale.Errorf("the fleet has %d tasks: delete some (`tandemux task cleanup`)", maxTasks)
	}
	if s.Files != nil {
		q.files.making.Lock() // so that two at once don't count on the same room
		defer q.files.making.Unlock()
		if err := q.room(s.Person, s.Files.Size, s.ID); err != nil {
			return Task{}, err
		}
	}
	spec, err := json.Marshal(s)
	if err != nil {
		return Task{}, err
	}
	if len(spec) > MaxContent {
		return Task{}, Invalid.Errorf("what the task is made of has %d bytes, more than %d", len(spec), MaxContent)
	}
	r := lease.Record{State: lease.Idle, Policy: policy, Task: spec}
	text, err := json.Marshal(r)
	if err != nil {
		return Task{}, err
	}
	revision, err := q.tasks.Create(ctx, s.ID, text)
	switch {
	case moved(err) || errors.Is(err, jetstream.ErrKeyExists):
		if r, _, err = q.Get(ctx, s.ID); err == nil {
			err = json.Unmarshal(r.Task, &s)
		}
		return Task{s, r}, err
	case err != nil:
		return Task{}, fmt.Errorf("store a task: %w", err)
	}
	q.see(s.ID, revision, text)
	return Task{s, r}, nil
}

// Send sends a task something to do. The caller chooses the event's id.
func (q *Queue) Send(ctx context.Context, e Event) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if len(text) > MaxContent {
		return Invalid.Errorf("it has %d bytes; up to %d go through a hub", len(text), MaxContent)
	}
	if t, known := q.Task(e.Task); known && t.Spec.Files != nil {
		there, err := q.files.Has(ctx, filesName(e.Task))
		if err != nil {
			return fmt.Errorf("look for the task's files: %w", err)
		}
		if !there {
			return lease.Stale.Errorf("the files of %s were not sent: delete it (`tandemux task rm`), and begin another", t.Spec.Name)
		}
	}
	// An event that is stored but missing in the record is sent again or never; nothing waits for it.
	if _, err := q.events.Put(ctx, e.Task+"."+e.ID, text); err != nil {
		return fmt.Errorf("store an event: %w", err)
	}
	_, err = q.change(ctx, e.Task, lease.Op{Verb: lease.Send, Work: e.ID})
	return err
}

// Event returns an event that was sent to a task.
func (q *Queue) Event(ctx context.Context, task, id string) (e Event, err error) {
	v, err := q.events.Get(ctx, task+"."+id)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return e, NotFound.Errorf("there is no event %q", id)
	case err != nil:
		return e, fmt.Errorf("read an event: %w", err)
	}
	return e, json.Unmarshal(v.Value(), &e)
}

// Events returns all events that were sent to a task, oldest first.
func (q *Queue) Events(ctx context.Context, task string) (all []Event, err error) {
	w, err := q.events.Watch(ctx, task+".*", jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("read a task's events: %w", err)
	}
	defer w.Stop() //nolint:errcheck // all was read
	for {
		select {
		case v := <-w.Updates():
			if v == nil {
				slices.SortStableFunc(all, func(a, b Event) int { return a.Created.Compare(b.Created) })
				return all, nil
			}
			var e Event
			if json.Unmarshal(v.Value(), &e) == nil {
				all = append(all, e)
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// EventTask returns the task to which an event was sent.
func (q *Queue) EventTask(ctx context.Context, id string) (string, error) {
	w, err := q.events.Watch(ctx, "*."+id, jetstream.IgnoreDeletes(), jetstream.MetaOnly())
	if err != nil {
		return "", fmt.Errorf("find an event: %w", err)
	}
	defer w.Stop() //nolint:errcheck // all was read
	select {
	case v := <-w.Updates():
		if v == nil {
			return "", NotFound.Errorf("there is no event %q", id)
		}
		task, _, _ := strings.Cut(v.Key(), ".")
		return task, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Cancel ends a task for good, on whichever host it is.
func (q *Queue) Cancel(ctx context.Context, id string) (lease.Record, error) {
	r, err := q.change(ctx, id, lease.Op{Verb: lease.Cancel})
	if err == nil && r.Host != "" {
		q.tell(r.Host, Tell{})
	}
	return r, err
}

// Delete removes a task and all that is stored of it.
func (q *Queue) Delete(ctx context.Context, id string) error {
	if _, err := q.Cancel(ctx, id); err != nil && !errors.Is(err, lease.Stale) {
		return err
	}
	t, known := q.Task(id)
	all, err := q.Events(ctx, id)
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := q.events.Purge(ctx, id+"."+e.ID); err != nil {
			return fmt.Errorf("delete an event: %w", err)
		}
	}
	if err := q.parts.Purge(ctx, jetstream.WithPurgeSubject(Subjects+id)); err != nil {
		return fmt.Errorf("delete a task's stream: %w", err)
	}
	if known {
		if err := q.files.Delete(ctx, filesName(id), resultName(id, t.Note().Kept), resultName(id, t.Record.Lease)); err != nil {
			return err
		}
	}
	if err := q.tasks.Purge(ctx, id); err != nil {
		return fmt.Errorf("delete a task: %w", err)
	}
	ctx, done := context.WithTimeout(ctx, callTime)
	defer done()
	for { // until this hub's copy is gone, too
		news := q.News(id)
		if _, known := q.Task(id); !known {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil
		}
	}
}

// Note returns what the task's host last said about it.
func (t *Task) Note() (n Note) {
	if len(t.Record.Note) > 0 {
		json.Unmarshal(t.Record.Note, &n) //nolint:errcheck // an unreadable note is an empty one
	}
	return n
}

// Task returns a task as this hub last saw it.
func (q *Queue) Task(id string) (Task, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.known[id]
	if k == nil {
		return Task{}, false
	}
	return Task{k.spec, k.record}, true
}

// Spec returns a task's Spec, also of a task that was made just now by another hub.
func (q *Queue) Spec(ctx context.Context, id string) (s Spec, err error) {
	if t, known := q.Task(id); known {
		return t.Spec, nil
	}
	r, _, err := q.Get(ctx, id)
	if err == nil {
		err = json.Unmarshal(r.Task, &s)
	}
	return s, err
}

// Tasks returns all tasks, oldest first.
func (q *Queue) Tasks() []Task {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]Task, 0, len(q.known))
	for _, k := range q.sorted() {
		all = append(all, Task{k.spec, k.record})
	}
	return all
}

// Find returns a task by its id, its name, or a unique beginning of its id.
func (q *Queue) Find(ref string) (Task, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var found *entry
	for id, k := range q.known {
		switch {
		case id == ref || k.spec.Name == ref:
			return Task{k.spec, k.record}, nil
		case !strings.HasPrefix(id, ref) || ref == "":
		case found != nil:
			return Task{}, NotFound.Errorf("several tasks begin with %q", ref)
		default:
			found = k
		}
	}
	if found == nil {
		return Task{}, NotFound.Errorf("there is no task %q", ref)
	}
	return Task{found.spec, found.record}, nil
}

// News returns a channel that is closed when something of a task changes; it is closed already if
// there is no such task.
func (q *Queue) News(id string) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.known[id]; k != nil {
		return k.news
	}
	gone := make(chan struct{})
	close(gone)
	return gone
}

// Waits says why a pending task waits, "" for others.
func (q *Queue) Waits(id string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.known[id]
	if k == nil || k.record.State != lease.Pending {
		return ""
	}
	c := counts{map[string]int{}, map[string]int{}, map[string]int{}}
	for _, other := range q.known {
		if other.record.State.Held() {
			c.add(&other.spec)
		}
	}
	if over := c.over(q.limits, &k.spec); over != "" {
		return over
	}
	w := wish{spec: &k.spec, home: k.record.Home}
	have, here, room := 0, 0, 0
	for name, m := range q.hosts {
		p := place{name: name, labels: slices.Concat(m.labels, m.agents)}
		if !p.has(w) {
			continue
		}
		have++
		if time.Since(m.heard) < q.o.Terms.Claimed/2 && !q.drain[name] {
			here++
			room += max(0, m.room)
		}
	}
	wants := strings.Join(append(slices.Clone(k.spec.Where), k.spec.Agent), ", ")
	switch {
	case k.record.Home != "" && here == 0:
		return "waits for the host " + k.record.Home + ", where its files are"
	case have == 0:
		return "no host has " + strings.Trim(wants, ", ")
	case here == 0:
		return "waits for a host that is away or drained"
	case room == 0:
		return "waits until a host has room"
	}
	return "is about to begin"
}

// Working returns how many leases each host has.
func (q *Queue) Working() map[string]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := map[string]int{}
	for _, k := range q.known {
		if k.record.State.Held() {
			n[k.record.Host]++
		}
	}
	return n
}

// Drain stops a host from taking new tasks, or lets it take them again.
func (q *Queue) Drain(ctx context.Context, host string, on bool) error {
	if on {
		return q.set(ctx, drainKey+host, true)
	}
	return q.set(ctx, drainKey+host, nil)
}

// Drained returns the hosts that take no new tasks, sorted.
func (q *Queue) Drained() (all []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Sorted(maps.Keys(q.drain))
}

func (q *Queue) Limits() Limits {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.limits
}

func (q *Queue) SetLimits(ctx context.Context, l Limits) error { return q.set(ctx, limitsKey, l) }
