package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/hub/lease"
	"tandemux/internal/fault"
)

// Bounds of what a host may send: counts, and maxNote in bytes.
const (
	maxHeld   = 1000
	maxLabels = 256
	maxNote   = 128 << 10
)

// listen subscribes to what hosts send. Every hub of the fleet hears each beat; every other message
// goes to one hub.
func (q *Queue) listen() error {
	for kind, answer := range map[string]answerer{"beat": hear(q.beat), "ask": hear(q.ask), "parts": hear(q.append), "event": hear(q.event), "file": hear(q.piece), "keep": hear(q.keep)} {
		within := callTime
		if kind == "keep" {
			within = keepTime
		}
		handle := func(m *nats.Msg) {
			host := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
			q.ended.Go(func() {
				ctx, done := context.WithTimeout(q.ctx, within)
				defer done()
				r, err := answer(ctx, host, m.Data)
				if err != nil {
					r = Reply{Status: cmp.Or(fault.Status(err), http.StatusServiceUnavailable), Text: err.Error()}
				}
				text, err := json.Marshal(r)
				if err == nil {
					err = m.Respond(text)
				}
				if err != nil && q.ctx.Err() == nil {
					q.o.Log.Warn("answer a host", "subject", m.Subject, "err", err)
				}
			})
		}
		var s *nats.Subscription
		var err error
		if kind == "beat" {
			s, err = q.o.NATS.Subscribe(Subject(kind, "*"), handle)
		} else {
			s, err = q.o.NATS.QueueSubscribe(Subject(kind, "*"), "hub", handle)
		}
		if err != nil {
			return err
		}
		q.subs = append(q.subs, s)
	}
	return q.o.NATS.Flush()
}

// answerer answers a message of a host.
type answerer func(ctx context.Context, host string, text []byte) (Reply, error)

// hear returns an answerer that decodes the message for answer.
func hear[T any](answer func(context.Context, string, T) (Reply, error)) answerer {
	return func(ctx context.Context, host string, text []byte) (Reply, error) {
		var said T
		if err := json.Unmarshal(text, &said); err != nil {
			return Reply{}, Invalid.Errorf("the request can't be read")
		}
		return answer(ctx, host, said)
	}
}

func (q *Queue) beat(ctx context.Context, host string, b Beat) (Reply, error) {
	if len(b.Has) > maxHeld || len(b.Local) > maxHeld || len(b.Labels)+len(b.Agents) > maxLabels {
		return Reply{}, Invalid.Errorf("the beat can't be read")
	}
	if q.o.Labels != nil {
		if labels := q.o.Labels(host); len(labels) > 0 {
			b.Labels = labels
		}
	}
	l := &Leases{Terms: q.o.Terms, Yours: map[string]lease.Record{}}
	q.mu.Lock()
	for _, h := range b.Has {
		q.watch.Heard(h.ID, h.Lease, q.now())
	}
	before := q.hosts[host]
	q.hosts[host] = &member{labels: b.Labels, agents: b.Agents, room: b.Room, heard: time.Now()}
	if before == nil || before.room != b.Room || time.Since(before.heard) > q.o.Terms.Claimed/2 || !slices.Equal(before.agents, b.Agents) || !slices.Equal(before.labels, b.Labels) {
		q.wake()
	}
	var renew []lease.Held
	for id, k := range q.known {
		if k.record.State.Held() && k.record.Host == host {
			l.Yours[id] = k.record
			if k.record.Policy == lease.Again { // a lease that the beat does not name counts from now on; the host will name it
				renew = append(renew, lease.Held{ID: id, Lease: k.record.Lease})
			}
		}
	}
	for _, h := range b.Has {
		k := q.known[h.ID]
		switch {
		case k == nil || k.record.Over(h.Lease):
			l.Over = append(l.Over, h)
		case k.record.Policy == lease.Again && !slices.Contains(renew, h):
			renew = append(renew, h)
		}
	}
	for _, local := range b.Local {
		k := q.known[taskOf(local)]
		switch {
		case k != nil && k.record.State.Held() && k.record.Host == host:
		case k == nil || k.record.State.Final() || k.record.Home != host:
			l.Gone = append(l.Gone, local)
		default: // its turn was lost, but the task stays on the host
			l.Rest = append(l.Rest, local)
		}
	}
	q.mu.Unlock()
	for _, h := range renew {
		r, err := q.change(ctx, h.ID, lease.Op{Verb: lease.Renew, Host: host, Lease: h.Lease})
		switch delete(l.Yours, h.ID); {
		case err == nil:
			l.Yours[h.ID] = r
		case errors.Is(err, lease.Stale):
			l.Over = append(l.Over, h)
		}
	}
	return Reply{Leases: l}, nil
}

// ask makes the change of a record for which its lease's holder asks.
func (q *Queue) ask(ctx context.Context, host string, a Ask) (Reply, error) {
	if len(a.Op.Note) > maxNote {
		return Reply{}, Invalid.Errorf("the request can't be read")
	}
	if !slices.Contains([]lease.Verb{lease.Begin, lease.Note, lease.Finish, lease.Refuse, lease.Return, lease.Redo}, a.Op.Verb) || a.Op.Lease == 0 {
		return Reply{}, Invalid.Errorf("a host can't ask for %q", a.Op.Verb)
	}
	a.Op.Host = host
	if a.Op.Verb == lease.Return || a.Op.Verb == lease.Redo {
		q.mu.Lock()
		if q.known[a.ID] != nil { // a host may name any id
			q.back[[2]string{a.ID, host}] = time.Now().Add(awayTime)
		}
		q.mu.Unlock()
	}
	r, err := q.change(ctx, a.ID, a.Op)
	if err != nil {
		return Reply{}, err
	}
	return Reply{Record: &r}, nil
}

// event returns to a lease's holder the event that it is to send.
func (q *Queue) event(ctx context.Context, host string, p Wanted) (Reply, error) {
	r, err := q.held(ctx, host, p.Held)
	if err != nil {
		return Reply{}, err
	}
	if len(r.Work) == 0 || r.Work[0] != p.Event {
		return Reply{}, lease.Stale.Errorf("the lease is not for the event %q", p.Event)
	}
	e, err := q.Event(ctx, p.ID, p.Event)
	return Reply{Body: e.Content}, err
}

func (q *Queue) held(ctx context.Context, host string, h lease.Held) (lease.Record, error) {
	has := func(r lease.Record) bool { return r.Lease == h.Lease && r.Host == host && r.State.Held() }
	if t, known := q.Task(h.ID); known && has(t.Record) {
		return t.Record, nil
	}
	r, _, err := q.Get(ctx, h.ID) // the copy in memory may be old
	if err == nil && !has(r) {
		err = lease.Stale.Errorf("the lease %d of %s is over; the task is %s", h.Lease, host, r.State)
	}
	return r, err
}

// taskOf returns the task's id for its name on a host: the inverse of Local.
func taskOf(local string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(local, LocalPrefix), "-")
	return "tsk_" + id
}

// LocalPrefix begins the names that a fleet's tasks have on their hosts.
const LocalPrefix = "hub-"

// Local returns the name that a task has on a host; lease is the one with which it began there.
func Local(id string, lease string) string {
	return LocalPrefix + strings.TrimPrefix(id, "tsk_") + "-" + lease
}

// relayed lists the requests about a task that a hub passes on to its host, by method and path below
// the task's.
var relayed = map[string]bool{
	"GET /messages": true, "GET /workspace": true, "GET /workspace/diff": true, "GET /workspace/patch": true,
	"POST /answers": true, "POST /stop": true, "GET /budget": true, "PUT /budget": true, "GET ": true, "POST /cancel": true, "DELETE ": true,
}

// Relayed reports whether a hub passes such a request on to a host.
func Relayed(method, path string) bool { return relayed[method+" "+path] }

// Call sends a request to a host's own interface.
func (q *Queue) Call(ctx context.Context, host string, c Call) (Reply, error) {
	if len(c.Body) > MaxCall {
		return Reply{}, Invalid.Errorf("it has %d bytes; up to %d go to a host of a fleet", len(c.Body), MaxCall)
	}
	return q.request(ctx, host, "call", "ask", c)
}

// request sends a request of a kind to a host and waits up to callTime; doing names it in errors.
func (q *Queue) request(ctx context.Context, host, kind, doing string, v any) (r Reply, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return r, err
	}
	ctx, done := context.WithTimeout(ctx, callTime)
	defer done()
	m, err := q.o.NATS.RequestWithContext(ctx, Subject(kind, host), text)
	if err != nil {
		return r, Away.Errorf("%s the host %s: it does not answer", doing, host)
	}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return r, Away.Errorf("%s the host %s: %w", doing, host, err)
	}
	return r, nil
}
