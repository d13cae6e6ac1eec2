package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tandemux/hub/lease"
)

// TestPick: labels, room, the order, fair shares and limits.
func TestPick(t *testing.T) {
	t.Parallel()
	spec := func(id, person, project string, where ...string) wish {
		return wish{spec: &Spec{ID: id, Person: person, Project: project, Where: where, Created: time.Unix(1, 0)}}
	}
	home := func(w wish, host string) wish { w.home = host; return w }
	not := func(w wish, host string) wish { w.not = map[string]bool{host: true}; return w }
	for name, c := range map[string]struct {
		working, waiting []wish
		places           []*place
		limits           Limits
		want             string
	}{
		"the label":                        {waiting: []wish{spec("a", "p", "", "gpu")}, places: []*place{{name: "x", room: 9}, {name: "y", labels: []string{"gpu"}, room: 1}}, want: "[{a y}]"},
		"a host by its name":               {waiting: []wish{spec("a", "p", "", "x")}, places: []*place{{name: "x", room: 1}, {name: "y", room: 9}}, want: "[{a x}]"},
		"no room":                          {waiting: []wish{spec("a", "p", "")}, places: []*place{{name: "x"}}, want: "[]"},
		"home":                             {waiting: []wish{home(spec("a", "p", "", "gone"), "x")}, places: []*place{{name: "x", room: 1}, {name: "y", room: 2}}, want: "[{a x}]"},
		"gave it back":                     {waiting: []wish{not(spec("a", "p", ""), "y")}, places: []*place{{name: "x", room: 1}, {name: "y", room: 2}}, want: "[{a x}]"},
		"the oldest first":                 {waiting: []wish{spec("a", "p", ""), spec("b", "p", "")}, places: []*place{{name: "x", room: 1}}, want: "[{a x}]"},
		"who has less":                     {working: []wish{spec("w", "p", "")}, waiting: []wish{spec("a", "p", ""), spec("b", "q", "")}, places: []*place{{name: "x", room: 1}}, want: "[{b x}]"},
		"by turns":                         {waiting: []wish{spec("a", "p", ""), spec("b", "p", ""), spec("c", "q", ""), spec("d", "q", "")}, places: []*place{{name: "x", room: 4}}, want: "[{a x} {c x} {b x} {d x}]"},
		"spread":                           {waiting: []wish{spec("a", "p", ""), spec("b", "p", "")}, places: []*place{{name: "x", room: 2}, {name: "y", room: 2}}, want: "[{a x} {b y}]"},
		"a person's limit":                 {waiting: []wish{spec("a", "p", ""), spec("b", "p", ""), spec("c", "q", "")}, places: []*place{{name: "x", room: 4}}, limits: Limits{Person: 1}, want: "[{a x} {c x}]"},
		"one's own limit":                  {waiting: []wish{spec("a", "p", ""), spec("b", "p", "")}, places: []*place{{name: "x", room: 4}}, limits: Limits{Person: 1, Persons: map[string]int{"p": 2}}, want: "[{a x} {b x}]"},
		"a project's limit":                {waiting: []wish{spec("a", "p", "j"), spec("b", "q", "j"), spec("c", "q", "k")}, places: []*place{{name: "x", room: 4}}, limits: Limits{Project: 1}, want: "[{a x} {c x}]"},
		"a label's limit":                  {working: []wish{spec("w", "p", "", "gpu")}, waiting: []wish{spec("a", "q", "", "gpu"), spec("b", "q", "")}, places: []*place{{name: "x", room: 4, labels: []string{"gpu"}}}, limits: Limits{Labels: map[string]int{"gpu": 1}}, want: "[{b x}]"},
		"what waits holds nothing else up": {waiting: []wish{spec("a", "p", "", "none"), spec("b", "p", "")}, places: []*place{{name: "x", room: 1}}, want: "[{b x}]"},
	} {
		if got := fmt.Sprint(pick(c.working, c.waiting, c.places, c.limits)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestFair: whoever queues however much, all have the same number at work, as far as they
// have that many.
func TestFair(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var waiting []wish
		asked := map[string]int{}
		for i := range 1 + rng.IntN(60) {
			person := fmt.Sprint("p", rng.IntN(1+rng.IntN(5)))
			asked[person]++
			waiting = append(waiting, wish{spec: &Spec{ID: fmt.Sprint(i), Person: person}})
		}
		var places []*place
		room := 0
		for i := range 1 + rng.IntN(4) {
			n := rng.IntN(10)
			room += n
			places = append(places, &place{name: fmt.Sprint("h", i), room: n})
		}
		got := map[string]int{}
		given := pick(nil, waiting, places, Limits{})
		for _, g := range given {
			for _, w := range waiting {
				if w.spec.ID == g.id {
					got[w.spec.Person]++
				}
			}
		}
		if len(given) != min(room, len(waiting)) {
			t.Errorf("seed %d: %d of %d are given, with room for %d", seed, len(given), len(waiting), room)
		}
		for a := range asked {
			for b := range asked {
				if got[a]+1 < got[b] && got[a] < asked[a] {
					t.Errorf("seed %d: %s has %d of %d, %s %d", seed, a, got[a], asked[a], b, got[b])
				}
			}
		}
		for _, p := range places {
			if p.room < 0 {
				t.Errorf("seed %d: %s has %d too many", seed, p.name, -p.room)
			}
		}
	}
}

// TestPause: a hub that can't write, as one node of three, does not try for ever without a
// pause what is due.
func TestPause(t *testing.T) {
	t.Parallel()
	q := &Queue{
		start: time.Now().Add(-time.Hour), watch: lease.NewWatch(lease.DefaultTerms),
		back: map[[2]string]time.Time{{"tsk_b", "a"}: time.Now()}, // given back, and may be given again
	}
	q.choose()
	if got := q.pause(true); got != time.Second {
		t.Errorf("with nothing due, what failed is tried again after %v", got)
	}
	if got := q.pause(false); got != time.Hour {
		t.Errorf("nothing is due, and it waits %v", got)
	}
	q.watch.See("tsk_a", lease.Record{State: lease.Claimed, Host: "a", Lease: 1}, 0) // lost long ago
	if got := q.pause(false); got != 10*time.Millisecond {
		t.Errorf("a lease is lost, and it waits %v", got)
	}
	if got := q.pause(true); got != time.Second {
		t.Errorf("a lease could not be taken back, and it tries again after %v", got)
	}
}
