package lease_test

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"tandemux/hub/lease"
)

// sim is a fleet in which everything that happens is drawn from a seed: a store, nodes of
// a hub, hosts, and a network between them that loses, doubles, delays and parts. Its
// goroutines run one at a time, in an order that the seed decides.
type sim struct {
	rng    *rand.Rand
	now    time.Duration // nobody's clock
	events queue
	seq    int
	yield  chan struct{}

	store  map[string]stored
	down   bool // the store has no leader
	nodes  []*node
	hosts  []*host
	ops    []op // what was asked for and answered
	cut    map[[2]string]bool
	calm   bool // nothing goes wrong any more
	over   bool // nothing is started any more
	terms  lease.Terms
	policy lease.Policy
	wrong  []string
	rested time.Duration // how long that took once all was well
}

type stored struct {
	r   lease.Record
	rev uint64
}

type event struct {
	at  time.Duration
	seq int
	do  func()
}

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(event)) } //nolint:forcetypeassert // of this type
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (s *sim) after(d time.Duration, do func()) {
	s.seq++
	heap.Push(&s.events, event{s.now + d, s.seq, do})
}

// some is a duration up to most, small ones being likelier.
func (s *sim) some(most time.Duration) time.Duration {
	return time.Duration(s.rng.Float64() * s.rng.Float64() * float64(most))
}

func (s *sim) chance(p float64) bool { return !s.calm && s.rng.Float64() < p }

func (s *sim) run(long time.Duration) {
	end := s.now + long
	for len(s.events) > 0 && s.events[0].at <= end {
		e := heap.Pop(&s.events).(event) //nolint:forcetypeassert // of this type
		s.now = e.at
		e.do()
	}
	s.now = end
}

func (s *sim) fault(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf("at %v: ", s.now)+fmt.Sprintf(format, args...))
}

// machine is something that can die and be frozen: what it runs goes with it.
type machine struct {
	*sim
	name   string
	life   int // how often it died
	alive  bool
	frozen time.Duration // until when nothing of it runs
	rate   float64       // of its clock
}

// clock is the machine's own; it counts the time in which it was frozen.
func (m *machine) clock() time.Duration { return time.Duration(float64(m.now) * m.rate) }

// later does something on the machine, unless it has died until then.
func (m *machine) later(d time.Duration, do func()) {
	life := m.life
	var try func()
	try = func() {
		switch {
		case m.life != life || !m.alive:
		case m.now < m.frozen:
			m.after(min(m.frozen-m.now, time.Second), try)
		default:
			do()
		}
	}
	m.after(d, try)
}

// proc is a goroutine of a machine's, which runs while all others wait.
type proc struct {
	m      *machine
	life   int
	resume chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	turn   int // of waiting: who wakes it up names it
}

func (m *machine) goes(do func(p *proc)) *proc {
	ctx, cancel := context.WithCancel(context.Background())
	p := &proc{m: m, life: m.life, resume: make(chan struct{}), ctx: ctx, cancel: cancel}
	go func() {
		defer func() { m.yield <- struct{}{} }()
		<-p.resume
		if p.dead() {
			return
		}
		do(p)
	}()
	m.after(0, p.wake)
	return p
}

func (p *proc) dead() bool { return p.m.life != p.life || !p.m.alive }

// wake lets it run until it waits.
func (p *proc) wake() {
	p.resume <- struct{}{}
	<-p.m.yield
}

// wait gives up the machine until what starts calls back, or ctx ends.
func (p *proc) wait(start func(done func())) {
	p.turn++
	turn := p.turn
	woken := false
	done := func() {
		if turn == p.turn && !woken {
			woken = true
			p.m.thaw(p.wake)
		}
	}
	if start(done); p.ctx.Err() != nil {
		done()
	}
	stop := done
	p.onCancel(stop)
	p.m.yield <- struct{}{}
	<-p.resume
	p.onCancel(nil)
	if p.dead() {
		runtime.Goexit()
	}
}

var cancels = map[*proc]func(){}

func (p *proc) onCancel(f func()) {
	if f == nil {
		delete(cancels, p)
		return
	}
	cancels[p] = f
}

// thaw does something once the machine is not frozen; to wake what died is one such thing.
func (m *machine) thaw(do func()) {
	var try func()
	try = func() {
		if m.alive && m.now < m.frozen {
			m.after(min(m.frozen-m.now, time.Second), try)
			return
		}
		do()
	}
	m.after(0, try)
}

// end cancels it.
func (p *proc) end() {
	p.cancel()
	if f := cancels[p]; f != nil {
		f()
	}
}

func (p *proc) sleep(d time.Duration) { p.wait(func(done func()) { p.m.after(d, done) }) }

// reap lets what waits on a machine that died end.
func (s *sim) reap() {
	for p := range maps.Clone(cancels) {
		if p.dead() {
			p.end()
		}
	}
}

func (m *machine) kill() {
	m.life++
	m.alive, m.frozen = false, 0
	m.reap()
}

var errLost = errors.New("no answer")

// send carries a message: it may come late, twice or never.
func (s *sim) send(from, to *machine, do func()) {
	for copies := 1; copies > 0; copies-- {
		if s.chance(0.03) {
			copies++
		}
		if s.chance(0.05) || s.cut[[2]string{from.name, to.name}] || s.cut[[2]string{to.name, from.name}] {
			continue
		}
		d := s.some(200 * time.Millisecond)
		if s.chance(0.02) {
			d = s.some(s.terms.Begun * 3)
		}
		s.after(d, func() {
			if to.alive {
				to.later(0, do)
			}
		})
	}
}

// Store, as a node reaches it.
type storeOf struct {
	p  *proc
	at int // the op that it is for
}

func (t storeOf) Get(_ context.Context, id string) (r lease.Record, rev uint64, err error) {
	s := t.p.m.sim
	t.p.sleep(s.some(20 * time.Millisecond))
	if s.down || s.chance(0.01) {
		return r, 0, errLost
	}
	got := s.store[id]
	return got.r, got.rev, nil
}

func (t storeOf) Put(_ context.Context, id string, r lease.Record, rev uint64) error {
	s := t.p.m.sim
	var err error
	put := func() {
		if s.down {
			err = errLost
			return
		}
		if s.store[id].rev != rev {
			err = lease.ErrMoved
			return
		}
		s.store[id] = stored{r, rev + 1}
		s.seq++
		s.ops[t.at].touched = int64(s.seq)
		for _, n := range s.nodes {
			n.see(id, r, rev+1)
		}
	}
	if s.chance(0.02) { // it may be done, and late
		if s.chance(0.5) {
			s.after(s.some(s.terms.Begun), put)
		}
		t.p.sleep(s.some(time.Second))
		return errLost
	}
	t.p.sleep(s.some(20 * time.Millisecond))
	put()
	t.p.sleep(s.some(20 * time.Millisecond))
	return err
}

// node is one of the hub's.
type node struct {
	machine
	watch  *lease.Watch
	mirror map[string]stored // what it has seen of the store, later than that
	room   map[string]int
	busy   map[string]bool // what it is changing of its own accord
}

func (s *sim) newNode(i int) *node {
	n := &node{machine: machine{sim: s, name: fmt.Sprintf("hub%d", i), rate: 0.96 + 0.08*s.rng.Float64()}}
	n.start()
	return n
}

func (n *node) start() {
	n.alive, n.watch, n.mirror, n.room, n.busy = true, lease.NewWatch(n.terms), map[string]stored{}, map[string]int{}, map[string]bool{}
	for id, at := range n.store {
		n.see(id, at.r, at.rev)
	}
	n.later(n.some(time.Second), n.tick)
}

// see shows a record to the node, some time later.
func (n *node) see(id string, r lease.Record, rev uint64) {
	n.later(n.some(100*time.Millisecond), func() {
		if n.mirror[id].rev < rev {
			n.mirror[id] = stored{r, rev}
			n.watch.See(id, r, n.clock())
		}
	})
}

// tick does what is due: leases that are lost, work that waits.
func (n *node) tick() {
	lost := n.watch.Lost(n.clock())
	for _, id := range slices.Sorted(maps.Keys(lost)) {
		n.own(id, lost[id])
	}
	for _, id := range slices.Sorted(maps.Keys(n.mirror)) {
		if r := n.mirror[id].r; r.State == lease.Pending {
			for _, h := range n.hosts {
				if n.room[h.name] > 0 && (r.Home == "" || r.Home == h.name) && !n.busy[id] && (n.calm || n.rng.IntN(2) == 0) {
					n.room[h.name]--
					n.own(id, lease.Op{Verb: lease.Claim, Host: h.name})
					break
				}
			}
		}
	}
	n.later(200*time.Millisecond+n.some(time.Second), n.tick)
}

// own changes a record of the node's own accord.
func (n *node) own(id string, o lease.Op) {
	if n.busy[id] {
		return
	}
	n.busy[id] = true
	n.goes(func(p *proc) {
		r, err := n.change(p, id, o)
		delete(n.busy, id)
		if err == nil && o.Verb == lease.Claim {
			for _, h := range n.hosts {
				if h.name == o.Host {
					n.send(&n.machine, &h.machine, func() { h.got(id, r, 0) })
				}
			}
		}
	})
}

// change does an op, and notes what came of it.
func (n *node) change(p *proc, id string, o lease.Op) (lease.Record, error) {
	at := n.begin(id, o)
	r, err := lease.Change(p.ctx, storeOf{p, at}, id, o)
	n.ended(at, r, err)
	return r, err
}

// beat answers what a host says that it has.
func (n *node) beat(h *host, sent time.Duration, life int, has []lease.Held, room int) {
	n.room[h.name] = room
	n.goes(func(p *proc) {
		for _, d := range has {
			n.watch.Heard(d.ID, d.Lease, n.clock())
		}
		over, still := []lease.Held{}, map[string]lease.Record{}
		for _, id := range slices.Sorted(maps.Keys(n.mirror)) {
			if at := n.mirror[id]; at.r.State.Held() && at.r.Host == h.name {
				still[id] = at.r
				if d := (lease.Held{ID: id, Lease: at.r.Lease}); n.policy == lease.Again && !slices.Contains(has, d) {
					has = append([]lease.Held{d}, has...)
				}
			}
		}
		for _, d := range has {
			r, known := n.mirror[d.ID]
			if n.policy == lease.Again {
				got, err := n.change(p, d.ID, lease.Op{Verb: lease.Renew, Host: h.name, Lease: d.Lease})
				if delete(still, d.ID); err == nil {
					still[d.ID] = got
					continue
				}
				if !errors.Is(err, lease.Stale) {
					continue
				}
				r, known = stored{r: got}, true
			}
			if known && r.r.Over(d.Lease) {
				over = append(over, d)
				if still[d.ID].Lease <= d.Lease {
					delete(still, d.ID)
				}
			}
		}
		n.send(&n.machine, &h.machine, func() { h.told(sent, life, over, still) })
	})
}
