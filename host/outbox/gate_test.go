package outbox

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestGate: no more than maxStates are in, the others follow in order, and who gives up
// takes no turn.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate()
		for range maxStates {
			if err := g.Enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		got := make(chan int, 3)
		giveUp, cancel := context.WithCancel(t.Context())
		refused := make(chan error, 1)
		for i := range 3 {
			go func() {
				if i == 1 {
					refused <- g.Enter(giveUp)
				} else if g.Enter(t.Context()) == nil {
					got <- i
				}
			}()
			synctest.Wait()
		}
		cancel()
		if err := <-refused; !errors.Is(err, context.Canceled) {
			t.Errorf("the one that gave up got %v", err)
		}
		for _, want := range []int{0, 2} {
			if g.Leave(); <-got != want {
				t.Errorf("%d did not get in", want)
			}
		}
		if len(g) != maxStates {
			t.Errorf("at the end %d are in", len(g))
		}
	})
}
