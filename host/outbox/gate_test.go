package outbox

import (
	"context"
	"errors"
	"testing"
)

// TestGate: maxStates are in at once, the others get in in the order in
// which they came, and one that gives up takes nobody's turn.
func TestGate(t *testing.T) {
	t.Parallel()
	var g Gate
	for range maxStates {
		if err := g.Enter(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	waiting := func(n int) {
		t.Helper()
		for {
			g.mu.Lock()
			have := len(g.waiting)
			g.mu.Unlock()
			if have == n {
				return
			}
		}
	}
	got := make(chan int, 3)
	giveUp, cancel := context.WithCancel(context.Background())
	refused := make(chan error, 1)
	for i := range 3 {
		go func() {
			if i == 1 {
				refused <- g.Enter(giveUp)
				return
			}
			if g.Enter(context.Background()) == nil {
				got <- i
			}
		}()
		waiting(i + 1)
	}
	cancel()
	if err := <-refused; !errors.Is(err, context.Canceled) {
		t.Errorf("the one that gave up got %v", err)
	}
	waiting(2)
	for _, want := range []int{0, 2} {
		g.Leave()
		if i := <-got; i != want {
			t.Errorf("%d got in, want %d", i, want)
		}
	}
	for range maxStates {
		g.Leave()
	}
	if g.in != 0 || g.most != maxStates || len(g.waiting) != 0 {
		t.Errorf("at the end %d are in, %d were, %d wait", g.in, g.most, len(g.waiting))
	}
}
