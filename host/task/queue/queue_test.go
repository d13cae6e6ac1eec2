package queue

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestQueue: whatever comes and goes, no more work than may, of an agent's tasks the first
// that was asked is first, nobody is forgotten, and all work at last.
func TestQueue(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		limits := Limits{AllTasks: rnd.IntN(4), "a": rnd.IntN(3), "b": rnd.IntN(3)}
		q := New(func() Limits { return limits })
		begun := map[string][]int{} // of each agent, in order
		var woken, working []Waiter
		all := map[string]Waiter{}
		try := func(w Waiter) bool {
			if !q.Enter(w) {
				return false
			}
			var n int
			fmt.Sscan(w.Task, &n) //nolint:errcheck // it is a number
			begun[w.Agent], working = append(begun[w.Agent], n), append(working, w)
			for _, id := range q.Next() {
				woken = append(woken, all[id])
			}
			of := map[string]int{}
			for _, w := range working {
				of[w.Agent]++
				of[AllTasks]++
			}
			for name, n := range of {
				if l := limits[name]; l > 0 && n > l {
					t.Fatalf("seed %d: %d of %s work, at most %d may", seed, n, name, l)
				}
			}
			return true
		}
		const n = 30
		for i, made := 0, 0; i < 10000 && len(begun["a"])+len(begun["b"])+len(begun["c"]) < n; i++ {
			switch k := rnd.IntN(3); {
			case k == 0 && made < n:
				w := Waiter{fmt.Sprint(made), []string{"a", "b", "c"}[rnd.IntN(3)], time.UnixMilli(int64(made / 3)), int64(made)}
				all[w.Task] = w
				made++
				try(w)
			case k == 1 && len(woken) > 0:
				i := rnd.IntN(len(woken))
				w := woken[i]
				woken = slices.Delete(woken, i, i+1)
				if _, room, waits := q.Ahead(w.Task); waits {
					if try(w) && !room {
						t.Fatalf("seed %d: %s began, for which there was no room", seed, w.Task)
					}
				}
				for i, w := range q.waiting {
					if _, room, _ := q.Ahead(w.Task); i == 0 && len(working) == 0 && !room {
						t.Fatalf("seed %d: %s waits for another, and none works", seed, w.Task)
					}
				}
			case len(working) > 0:
				i := rnd.IntN(len(working))
				w := working[i]
				working = slices.Delete(working, i, i+1)
				for _, id := range q.Leave(w.Task) {
					woken = append(woken, all[id])
				}
			}
		}
		for name, order := range begun {
			if !slices.IsSorted(order) {
				t.Errorf("seed %d: %s began in the order %v", seed, name, order)
			}
		}
		if got := len(begun["a"]) + len(begun["b"]) + len(begun["c"]); got != n {
			t.Errorf("seed %d, %v: %d of %d began", seed, limits, got, n)
		}
	}
}

// TestLimits: what the configuration may have.
func TestLimits(t *testing.T) {
	t.Parallel()
	var l Limits
	for _, raw := range []any{"x", map[string]any{"a": "1"}, map[string]any{"a": int64(0)}, map[string]any{"a": int64(1001)}} {
		if _, err := l.Set(raw); err == nil {
			t.Errorf("%v is taken", raw)
		}
	}
	if _, err := l.Set(map[string]any{"claude": int64(3), "all": int64(8)}); err != nil || !maps.Equal(l, Limits{"all": 8, "claude": 3}) {
		t.Errorf("%v: %v", err, l)
	}
}
