package lease_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"tandemux/hub/lease"
)

// host is a machine on which work is done: runs outlive its worker's process, as
// agents do.
type host struct {
	machine
	holder *lease.Holder
	procs  map[lease.Held]*proc
	gave   map[lease.Held]bool // up, as the lease might have been over
	runs   map[lease.Held]*run
}

// run is work that was begun in the world.
type run struct {
	work     string
	host     string
	from, to time.Duration // to is 0 while it goes on
	paused   time.Duration // when its machine was frozen last
	outcome  string
	rerun    bool
}

const (
	slots    = 3
	wakeTime = 1200 * time.Millisecond
)

func (h *host) start() {
	h.alive, h.holder, h.procs, h.gave = true, lease.NewHolder(h.terms), map[lease.Held]*proc{}, map[lease.Held]bool{}
	h.later(h.some(time.Second), h.beat)
	h.later(0, h.check)
}

func (h *host) beat() {
	sent := h.clock()
	for _, n := range h.nodes {
		has, room, life := h.holder.All(), slots-len(h.procs), h.life
		h.send(&h.machine, &n.machine, func() { n.beat(h, sent, life, has, room) })
	}
	h.later(time.Duration(float64(h.terms.Beat())/h.rate), h.beat)
}

// check stops what may not go on.
func (h *host) check() {
	for _, d := range h.holder.All() {
		if !h.holder.May(d, h.clock()) {
			h.gave[d] = true
			h.lose(d)
		}
	}
	h.later(200*time.Millisecond, h.check)
}

func (h *host) lose(d lease.Held) {
	h.holder.Drop(d)
	if p := h.procs[d]; p != nil {
		p.end()
	}
	h.stop(d)
}

func (h *host) told(sent time.Duration, life int, over []lease.Held, still map[string]lease.Record) {
	if life != h.life {
		return // asked by the process before
	}
	for _, d := range over {
		h.lose(d)
	}
	for _, id := range slices.Sorted(maps.Keys(still)) {
		h.got(id, still[id], sent)
	}
}

// got is told that it has a lease; what it knows of is renewed.
func (h *host) got(id string, r lease.Record, sent time.Duration) {
	d := lease.Held{ID: id, Lease: r.Lease}
	if h.procs[d] != nil {
		if !h.gave[d] {
			h.holder.Has(id, r, sent)
		}
		return
	}
	if h.gave[d] {
		h.procs[d] = h.goes(func(p *proc) {
			_, _ = (&hubOf{p: p, h: h}).Ask(p.ctx, id, lease.Op{Verb: lease.Redo, Host: h.name, Lease: r.Lease})
			delete(h.procs, d)
		})
		return
	}
	h.holder.Has(id, r, sent)
	h.procs[d] = h.goes(func(p *proc) {
		_ = lease.Carry(p.ctx, &hubOf{p: p, h: h}, workOf{p, h}, h.name, id, r)
		delete(h.procs, d)
		h.holder.Drop(d)
	})
}

func (h *host) stop(d lease.Held) {
	if r := h.runs[d]; r != nil && r.to == 0 {
		h.finish(r, "cancelled")
	}
}

// finish ends a run. What ends within a second of its machine's waking did nothing since
// that slept, as far as anybody can promise: see doc.go.
func (h *host) finish(r *run, outcome string) {
	r.to, r.outcome = h.now, outcome
	if r.paused > 0 && h.now-h.frozen <= wakeTime {
		r.to = r.paused
	}
}

// reboot ends all that the machine does.
func (h *host) reboot() {
	for _, r := range h.runs {
		if r.to == 0 {
			h.finish(r, "interrupted")
		}
	}
	h.kill()
}

// hubOf is the hub, as a host reaches it.
type hubOf struct {
	p     *proc
	h     *host
	began time.Duration // when it first asked to begin
}

func (t *hubOf) Ask(_ context.Context, id string, o lease.Op) (lease.Record, error) {
	n := t.h.nodes[t.h.rng.IntN(len(t.h.nodes))]
	if t.began == 0 {
		t.began = t.h.clock()
	}
	r, err := t.p.ask(n, id, o)
	if err == nil && r.State.Held() && o.Verb == lease.Begin {
		t.h.holder.Has(id, r, t.began)
	}
	return r, err
}

// ask asks a node for a change, and waits a while for the answer.
func (p *proc) ask(n *node, id string, o lease.Op) (r lease.Record, err error) {
	s := p.m.sim
	at := s.begin(id, o)
	err = errLost
	p.wait(func(done func()) {
		s.send(p.m, &n.machine, func() {
			n.goes(func(q *proc) {
				got, failed := lease.Change(q.ctx, storeOf{q, at}, id, o)
				s.send(&n.machine, p.m, func() { r, err = got, failed; done() })
			})
		})
		p.m.after(2*time.Second, done)
	})
	s.ended(at, r, err)
	return r, err
}

func (t *hubOf) Pause(ctx context.Context, tries int) error {
	t.p.sleep(time.Duration(min(tries+1, 10)) * 300 * time.Millisecond)
	return ctx.Err()
}

type workOf struct {
	p *proc
	h *host
}

func (w workOf) Prepare(ctx context.Context, _ string, _ lease.Record) error {
	w.p.sleep(w.h.some(3 * time.Second))
	switch {
	case w.h.chance(0.05):
		return errLost
	case w.h.chance(0.005):
		return fmt.Errorf("no such agent: %w", lease.ErrRefused)
	}
	return ctx.Err()
}

func (w workOf) Run(ctx context.Context, id string, r lease.Record) (end lease.End, err error) {
	d := lease.Held{ID: id, Lease: r.Lease}
	h := w.h
	it := h.runs[d]
	if it == nil {
		if !h.holder.May(d, h.clock()) {
			return end, errLost
		}
		it = &run{work: id + "/" + r.Work[0], host: h.name, from: h.now, rerun: r.Policy == lease.Again}
		h.runs[d] = it
		h.after(100*time.Millisecond+h.some(h.terms.Begun), func() {
			if it.to == 0 && h.now >= h.frozen {
				h.finish(it, "done")
			}
		})
	}
	for it.to == 0 {
		w.p.sleep(100 * time.Millisecond)
		if h.now-it.from > h.terms.Begun*2 && it.to == 0 {
			h.finish(it, "done")
		}
		if ctx.Err() != nil {
			return end, ctx.Err()
		}
	}
	return lease.End{Outcome: it.outcome}, nil
}

func (w workOf) Drop(id string, r lease.Record) { w.h.stop(lease.Held{ID: id, Lease: r.Lease}) }
