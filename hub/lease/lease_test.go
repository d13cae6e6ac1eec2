package lease_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"tandemux/hub/lease"
	"tandemux/internal/soak"
)

// op is something that was asked for, with what came of it.
type op struct {
	id         string
	in         lease.Op
	from, to   int64
	unknown    bool
	stale      bool
	state      lease.State
	lease      uint64
	waiting    int
	unanswered bool
	touched    int64 // when it, or a copy of it, changed the store last
}

// history is the ops of the tasks whose histories can't be explained, in text.
func (s *sim) history() string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(s.store)) {
		one := &sim{policy: s.policy}
		for _, o := range s.ops {
			if o.id == id {
				one.ops = append(one.ops, o)
			}
		}
		if one.linearizable() != porcupine.Illegal {
			continue
		}
		for _, o := range one.ops {
			said := fmt.Sprintf("%s, lease %d, %d wait", o.state, o.lease, o.waiting)
			if o.stale {
				said = "refused"
			}
			if o.unknown || o.unanswered {
				said = "no answer"
			}
			fmt.Fprintf(&b, "%s %d-%d %s %s lease %d %s: %s\n", id, o.from, o.to, o.in.Verb, o.in.Host, o.in.Lease, o.in.Work, said)
		}
	}
	return b.String()
}

// begin and ended note an op in the history. Moments are counted, not measured.
func (s *sim) begin(id string, in lease.Op) int {
	s.seq++
	s.ops = append(s.ops, op{id: id, in: in, from: int64(s.seq), unanswered: true})
	return len(s.ops) - 1
}

func (s *sim) ended(at int, r lease.Record, err error) {
	s.seq++
	o := &s.ops[at]
	o.to, o.unanswered = int64(s.seq), false
	o.state, o.lease, o.waiting = r.State, r.Lease, len(r.Work)
	o.stale = errors.Is(err, lease.Stale)
	o.unknown = err != nil && !o.stale
}

// life makes a fleet, has everything happen to it, heals it and waits until it rests.
func life(seed uint64) *sim {
	s := &sim{
		rng: rand.New(rand.NewPCG(seed, 25)), yield: make(chan struct{}), store: map[string]stored{}, cut: map[[2]string]bool{},
		terms: lease.Terms{Claimed: 6 * time.Second, Begun: 12 * time.Second}, policy: lease.Fail,
	}
	if s.rng.IntN(3) == 0 {
		s.policy = lease.Again
	}
	clear(cancels)
	for i := range 1 + s.rng.IntN(3) {
		s.nodes = append(s.nodes, s.newNode(i))
	}
	for i := range 2 + s.rng.IntN(3) {
		h := &host{machine: machine{sim: s, name: fmt.Sprintf("host%d", i), rate: 0.96 + 0.08*s.rng.Float64()}, runs: map[lease.Held]*run{}}
		h.start()
		s.hosts = append(s.hosts, h)
	}
	person := &machine{sim: s, name: "person", alive: true, rate: 1}
	tasks := 2 + s.rng.IntN(5)
	for i := range tasks {
		id := fmt.Sprintf("tsk%d", i)
		s.store[id] = stored{lease.Record{State: lease.Idle, Policy: s.policy}, 1}
		for _, n := range s.nodes {
			n.see(id, s.store[id].r, 1)
		}
		person.goes(func(p *proc) {
			for w := range 1 + s.rng.IntN(3) {
				p.sleep(s.some(30 * time.Second))
				p.insist(id, lease.Op{Verb: lease.Send, Work: fmt.Sprint("evt", w)})
			}
			if s.chance(0.15) {
				p.sleep(s.some(30 * time.Second))
				p.insist(id, lease.Op{Verb: lease.Cancel})
			}
		})
	}
	for range s.rng.IntN(12) {
		s.after(s.some(60*time.Second), s.mishap)
	}
	s.run(90 * time.Second)
	s.heal()
	for range 3600 {
		if s.run(time.Second); s.rests() {
			break
		}
	}
	s.rested = s.now - 90*time.Second
	s.check()
	s.over = true
	for _, m := range s.machines() { // whatever still waits ends
		m.kill()
	}
	person.kill()
	s.run(48 * time.Hour)
	return s
}

func (p *proc) insist(id string, o lease.Op) {
	for {
		nodes := p.m.nodes
		if _, err := p.ask(nodes[p.m.rng.IntN(len(nodes))], id, o); err == nil || errors.Is(err, lease.Stale) {
			return
		}
		p.sleep(p.m.some(3 * time.Second))
	}
}

func (s *sim) machines() (all []*machine) {
	for _, n := range s.nodes {
		all = append(all, &n.machine)
	}
	for _, h := range s.hosts {
		all = append(all, &h.machine)
	}
	return all
}

// mishap is what happens to machines and networks.
func (s *sim) mishap() {
	h, n := s.hosts[s.rng.IntN(len(s.hosts))], s.nodes[s.rng.IntN(len(s.nodes))]
	long := s.some(4 * s.terms.Begun)
	if s.rng.IntN(4) == 0 {
		long = 24 * time.Hour // until all is healed
	}
	switch s.rng.IntN(7) {
	case 0: // the machine
		h.reboot()
		s.after(long, h.revive)
	case 1: // its worker alone
		if s.policy == lease.Again {
			h.reboot() // see doc.go: nobody would stop what it left
		}
		h.kill()
		s.after(s.some(long), h.revive)
	case 2:
		n.kill()
		s.after(long, n.revive)
	case 3:
		s.part(h.name, n.name, long)
	case 4:
		for _, n := range s.nodes {
			s.part(h.name, n.name, long)
		}
	case 5: // a laptop that is closed, or a process that is stopped
		for _, r := range h.runs {
			if s.now > h.frozen+wakeTime || r.from >= h.frozen { // else it has done nothing since the last time
				r.paused = s.now
			}
		}
		h.frozen = max(h.frozen, s.now+long)
	default:
		s.down = true
		s.after(s.some(20*time.Second), func() { s.down = false })
	}
}

func (h *host) revive() {
	if !h.alive && !h.over {
		h.start()
	}
}

func (n *node) revive() {
	if !n.alive && !n.over {
		n.start()
	}
}

func (s *sim) part(a, b string, long time.Duration) {
	s.cut[[2]string{a, b}] = true
	s.after(long, func() { delete(s.cut, [2]string{a, b}) })
}

func (s *sim) heal() {
	s.calm, s.down = true, false
	clear(s.cut)
	for _, h := range s.hosts {
		h.frozen = min(h.frozen, s.now)
		h.revive()
	}
	for _, n := range s.nodes {
		n.revive()
	}
}

// rests: nothing is left to be done.
func (s *sim) rests() bool {
	for _, at := range s.store {
		if len(at.r.Work) > 0 || at.r.State.Held() || at.r.State == lease.Pending {
			return false
		}
	}
	for _, h := range s.hosts {
		if len(h.procs) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(s.ops, func(o op) bool { return o.unanswered && o.in.Verb == lease.Send })
}

// check compares what happened with what was promised.
func (s *sim) check() {
	if !s.rests() {
		s.fault("it does not come to rest: %v", s.store)
	}
	begun, done := map[string][]*run{}, map[string]int{}
	for _, h := range s.hosts {
		for _, r := range h.runs {
			begun[r.work] = append(begun[r.work], r)
			if r.outcome == "done" {
				done[r.work]++
			}
		}
	}
	for work, runs := range begun {
		slices.SortFunc(runs, func(a, b *run) int { return cmp.Compare(a.from, b.from) })
		for i, r := range runs[1:] {
			switch before := runs[i]; {
			case !r.rerun:
				s.fault("%s was begun twice: %+v, %+v", work, before, r)
			case before.to == 0 || before.to > r.from:
				s.fault("%s ran on two hosts at once: %+v, %+v", work, before, r)
			}
		}
	}
	sent := map[string]map[string]bool{}
	for _, o := range s.ops {
		if o.in.Verb == lease.Send && !o.stale && !o.unknown {
			if sent[o.id] == nil {
				sent[o.id] = map[string]bool{}
			}
			sent[o.id][o.in.Work] = true
		}
	}
	for id, works := range sent {
		r := s.store[id].r
		for work := range works {
			end, ended := r.Ended(work)
			if !ended {
				s.fault("%s of %s is lost: %+v", work, id, r)
			}
			if end.Outcome == "done" && done[id+"/"+work] == 0 {
				s.fault("%s of %s counts as done, and is not: %+v", work, id, r)
			}
		}
	}
}

// model is the sequence of changes that one store on one machine without failures would
// have, written without lease's own code.
type model struct {
	state               lease.State
	host, home          string
	lease, renewed      uint64
	waiting, over, mine string // work, each with a comma behind it; mine: "lease host,"
}

var linear = func(policy lease.Policy) porcupine.Model {
	return porcupine.Model{
		Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
			by := map[string][]porcupine.Operation{}
			for _, o := range all {
				id := o.Input.(op).id //nolint:forcetypeassert // of this type
				by[id] = append(by[id], o)
			}
			return slices.Collect(maps.Values(by))
		},
		Init: func() any { return model{state: lease.Idle} },
		Step: func(state, input, _ any) (bool, any) {
			m, o := state.(model), input.(op) //nolint:forcetypeassert // of these types
			next, done := m.step(policy, o.in)
			if o.unknown {
				return true, next
			}
			// What comes by a message may be the answer to its second copy, which says how
			// it was later.
			own := o.in.Verb == lease.Claim || o.in.Verb == lease.Lose
			fits := done != o.stale && (!done || !own || next.state == o.state && next.lease == o.lease && strings.Count(next.waiting, ",") == o.waiting)
			return fits, next
		},
	}
}

func (m model) step(policy lease.Policy, in lease.Op) (next model, done bool) {
	held := m.state == lease.Claimed || m.state == lease.Begun
	last := in.Lease == m.lease && in.Host == m.host
	holder := held && last
	name := fmt.Sprintf("%d %s,", in.Lease, in.Host)
	first, rest, _ := strings.Cut(m.waiting, ",")
	ends := func() {
		m.over += first + ","
		m.waiting = rest
		m.state = lease.Pending
		if rest == "" {
			m.state = lease.Idle
		}
	}
	over := m.state == lease.Cancelled || m.state == lease.Failed
	switch in.Verb {
	case lease.Send:
		if strings.Contains(m.over+m.waiting, in.Work+",") {
			return m, true
		}
		if over {
			return m, false
		}
		m.waiting += in.Work + ","
		if m.state == lease.Idle {
			m.state = lease.Pending
		}
	case lease.Claim:
		if m.state != lease.Pending || m.home != "" && m.home != in.Host {
			return m, false
		}
		m.state, m.host, m.lease, m.renewed = lease.Claimed, in.Host, m.lease+1, 0
	case lease.Begin:
		if !holder {
			return m, false
		}
		if m.state == lease.Claimed {
			m.renewed++
		}
		m.state = lease.Begun
	case lease.Renew:
		if !holder {
			return m, false
		}
		m.renewed++
	case lease.Finish:
		if strings.Contains(m.mine, name) {
			return m, true
		}
		if !holder || m.state != lease.Begun {
			return m, false
		}
		m.home, m.mine = m.host, m.mine+name
		ends()
	case lease.Refuse:
		if last && m.state == lease.Failed {
			return m, true
		}
		if !holder || m.state != lease.Claimed {
			return m, false
		}
		m.state, m.over, m.waiting = lease.Failed, m.over+m.waiting, ""
	case lease.Return:
		if last && m.state == lease.Pending {
			return m, true
		}
		if !holder || m.state != lease.Claimed {
			return m, false
		}
		m.state = lease.Pending
	case lease.Redo:
		if last && m.state == lease.Pending {
			return m, true
		}
		if !holder || m.state != lease.Begun || policy != lease.Again {
			return m, false
		}
		m.state = lease.Pending
	case lease.Lose:
		switch {
		case !held || in.Lease != m.lease || in.Renewed != m.renewed:
			return m, false
		case m.state == lease.Claimed || policy == lease.Again:
			m.state = lease.Pending
		default:
			ends()
		}
	case lease.Cancel:
		switch {
		case m.state == lease.Cancelled:
			return m, true
		case over:
			return m, false
		}
		m.state, m.over, m.waiting = lease.Cancelled, m.over+m.waiting, ""
	}
	return m, true
}

// linearizable reports whether some order of the ops, in which none is before one that
// had been answered when it was asked for, gives the answers that there were.
func (s *sim) linearizable() porcupine.CheckResult {
	var all []porcupine.Operation
	for _, o := range s.ops {
		// Refused may be the second copy of a message whose first was not.
		if o.unanswered || o.unknown || o.stale && o.touched > 0 {
			if o.touched == 0 {
				continue // nothing came of it
			}
			o.unknown, o.to = true, max(o.to, o.touched)
		}
		all = append(all, porcupine.Operation{Input: o, Call: o.from, Return: o.to})
	}
	return porcupine.CheckOperationsTimeout(linear(s.policy), all, time.Second)
}

// TestFleets runs fleets in which everything fails that can. TANDEMUX_SEED repeats one.
func TestFleets(t *testing.T) {
	first, runs := soak.Seed(t), soak.Size(t, soak.Short(100, 500), 100_000)
	if os.Getenv("TANDEMUX_SEED") != "" {
		runs = 1
	}
	counts := map[lease.Verb]int{}
	works, slow, events := 0, 0, 0
	var rested time.Duration
	for seed := first; seed < first+uint64(runs) && !t.Failed(); seed++ {
		s := life(seed)
		for _, text := range s.wrong {
			t.Errorf("TANDEMUX_SEED=%d: %s", seed, text)
		}
		switch s.linearizable() {
		case porcupine.Illegal:
			t.Errorf("TANDEMUX_SEED=%d: the history is not linearizable:\n%s", seed, s.history())
		case porcupine.Unknown:
			slow++
		}
		for _, o := range s.ops {
			if !o.stale && !o.unknown && !o.unanswered {
				counts[o.in.Verb]++
			}
		}
		for _, h := range s.hosts {
			works += len(h.runs)
		}
		rested, events = rested+s.rested, events+s.seq
	}
	t.Logf("%d fleets, %d runs of work, %d events, changes: %v; rested after %v on average; histories too long to check: %d", runs, works, events, counts, rested/time.Duration(runs), slow)
	if runs > 100 {
		for verb := range maps.Keys(counts) {
			if counts[verb] < runs/250 {
				t.Errorf("%s happened %d times only", verb, counts[verb])
			}
		}
	}
	if slow > runs/100 {
		t.Errorf("%d histories were too long to check", slow)
	}
}
