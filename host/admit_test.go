package host

import (
	"context"
	"errors"
	"testing"
)

// TestAdmission: maxStates are in at once, the others get in in the order in
// which they came, and one that gives up takes nobody's turn.
func TestAdmission(t *testing.T) {
	t.Parallel()
	var a admission
	for range maxStates {
		if err := a.enter(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	waiting := func(n int) {
		t.Helper()
		for {
			a.mu.Lock()
			have := len(a.waiting)
			a.mu.Unlock()
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
				refused <- a.enter(giveUp)
				return
			}
			if a.enter(context.Background()) == nil {
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
		a.leave()
		if i := <-got; i != want {
			t.Errorf("%d got in, want %d", i, want)
		}
	}
	for range maxStates {
		a.leave()
	}
	if a.in != 0 || a.most != maxStates || len(a.waiting) != 0 {
		t.Errorf("at the end %d are in, %d were, %d wait", a.in, a.most, len(a.waiting))
	}
}
