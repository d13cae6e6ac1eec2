package ebb

import (
	"testing"
	"testing/synctest"
	"time"

	"cotty/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// TestEbb: memory is given back once, after a flood and not within it; a trickle
// is none, however long.
func TestEbb(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		freed := 0
		e := Ebb{Free: func() { freed++ }}
		for range 10 * Flood / (64 << 10) { // a key's echo now and then
			e.Flow(64 << 10)
			time.Sleep(Quiet)
		}
		synctest.Wait()
		if freed != 0 {
			t.Errorf("a trickle freed %d times", freed)
		}
		for range 10 * Flood / (64 << 10) {
			e.Flow(64 << 10)
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if freed != 0 {
			t.Errorf("freed %d times within a flood", freed)
		}
		time.Sleep(2 * Quiet)
		synctest.Wait()
		if freed != 1 {
			t.Errorf("freed %d times after a flood", freed)
		}
		e.Flow(Flood / 2)
		time.Sleep(2 * Quiet)
		e.Flow(Flood)
		time.Sleep(2 * Quiet)
		synctest.Wait()
		if freed != 2 {
			t.Errorf("freed %d times after the second flood", freed)
		}
	})
}
