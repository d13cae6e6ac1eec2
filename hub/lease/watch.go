package lease

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Terms are how long a host that has a lease may be silent.
type Terms struct {
	// Claimed is for work that was not begun: another host takes it after that.
	Claimed time.Duration
	// Begun is for work that was.
	Begun time.Duration
}

// DefaultTerms let a machine that is restarted, or a network that is gone for a moment,
// come back to what it was at.
var DefaultTerms = Terms{Claimed: 30 * time.Second, Begun: 2 * time.Minute}

// Beat is how often a host says what it has.
func (t Terms) Beat() time.Duration { return min(t.Claimed, t.Begun) / 6 }

func (t Terms) of(s State) time.Duration {
	if s == Begun {
		return t.Begun
	}
	return t.Claimed
}

// Watch is what a hub has heard of the leases, by its own clock.
type Watch struct {
	terms Terms
	heard map[string]heard
}

type heard struct {
	lease, renewed uint64
	state          State
	at             time.Duration
}

// NewWatch makes one that has heard nothing.
func NewWatch(terms Terms) *Watch { return &Watch{terms, map[string]heard{}} }

// See tells it of a record as it is now. A lease that it did not know, that was renewed or
// whose work was begun (which renews it) counts as heard.
func (w *Watch) See(id string, r Record, now time.Duration) {
	if !r.State.Held() {
		delete(w.heard, id)
		return
	}
	h, known := w.heard[id]
	if !known || h.lease != r.Lease || h.renewed != r.Renewed {
		h.at = now
	}
	h.lease, h.renewed, h.state = r.Lease, r.Renewed, r.State
	w.heard[id] = h
}

// Heard tells it that the holder of a lease lives, and has it.
func (w *Watch) Heard(id string, lease uint64, now time.Duration) {
	if h, known := w.heard[id]; known && h.lease == lease {
		h.at = now
		w.heard[id] = h
	}
}

// over is when a lease is lost, if nothing more is heard.
func (w *Watch) over(h heard) time.Duration {
	term := w.terms.of(h.state)
	return h.at + term + term/4
}

// Lost are the leases whose holders were silent for too long, as changes to be made.
func (w *Watch) Lost(now time.Duration) map[string]Op {
	lost := map[string]Op{}
	for id, h := range w.heard {
		if now >= w.over(h) {
			lost[id] = Op{Verb: Lose, Lease: h.lease, Renewed: h.renewed}
		}
	}
	return lost
}

// Next is when the next one is lost, if nothing is heard.
func (w *Watch) Next() (at time.Duration, any bool) {
	for h := range maps.Values(w.heard) {
		if over := w.over(h); !any || over < at {
			at, any = over, true
		}
	}
	return at, any
}

// Held is a lease that a host has.
type Held struct {
	ID    string `json:"id"`
	Lease uint64 `json:"lease"`
}

// Holder is what a host has, by its own clock, which counts the time that the machine
// slept.
type Holder struct {
	terms Terms
	held  map[Held]hold
}

type hold struct {
	policy Policy
	state  State
	at     time.Duration // when what the hub answered last was sent
}

// NewHolder makes one that has nothing.
func NewHolder(terms Terms) *Holder { return &Holder{terms, map[Held]hold{}} }

// Has notes that the hub said, in an answer to what was sent at a time, that the host has
// a lease; sent is 0 for what was no answer.
func (h *Holder) Has(id string, r Record, sent time.Duration) {
	key := Held{id, r.Lease}
	was := h.held[key]
	if was.state == Begun && r.State == Claimed { // an old answer
		r.State, sent = Begun, 0
	}
	if was.state != Begun && r.State == Begun { // what was answered before does not renew it
		was.at = 0
	}
	h.held[key] = hold{r.Policy, r.State, max(sent, was.at)}
}

// Drop notes that the host has a lease no more.
func (h *Holder) Drop(key Held) { delete(h.held, key) }

// All are the leases that it has, in order.
func (h *Holder) All() []Held {
	return slices.SortedFunc(maps.Keys(h.held), func(a, b Held) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(a.Lease, b.Lease))
	})
}

// Bounded reports whether another host may be given the work if the hub hears nothing.
// Before it was begun that does no harm: the hub refuses to begin what is another's.
func (h *Holder) Bounded(key Held) bool {
	d := h.held[key]
	return d.policy == Again && d.state == Begun
}

// May reports whether work may go on: it was not given to another host, as far as the
// hub's silence could mean that.
func (h *Holder) May(key Held, now time.Duration) bool {
	d, has := h.held[key]
	return has && (!h.Bounded(key) || now < d.at+h.terms.Begun)
}

// SetTerms has others hold.
func (h *Holder) SetTerms(terms Terms) { h.terms = terms }
