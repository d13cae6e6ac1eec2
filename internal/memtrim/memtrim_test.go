package memtrim

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandemux/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// TestTrimmer: memory is given back once, after a flood and not within it; a trickle
// is none, however long.
func TestTrimmer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var freed atomic.Int32
		m := Trimmer{Trim: func() { freed.Add(1) }}
		for range 10 * Flood / (64 << 10) { // a key's echo now and then
			m.Add(64 << 10)
			time.Sleep(Quiet)
		}
		synctest.Wait()
		if n := freed.Load(); n != 0 {
			t.Errorf("a trickle freed %d times", n)
		}
		for range 10 * Flood / (64 << 10) {
			m.Add(64 << 10)
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if n := freed.Load(); n != 0 {
			t.Errorf("freed %d times within a flood", n)
		}
		time.Sleep(2 * Quiet)
		synctest.Wait()
		if n := freed.Load(); n != 1 {
			t.Errorf("freed %d times after a flood", n)
		}
		m.Add(Flood)
		for range 4 { // keys do not prolong it
			time.Sleep(Quiet / 3)
			m.Add(1)
		}
		synctest.Wait()
		if n := freed.Load(); n != 2 {
			t.Errorf("freed %d times while somebody types after a flood", n)
		}
		time.Sleep(2 * Quiet)
		m.Add(Flood / 2)
		time.Sleep(2 * Quiet)
		m.Add(Flood)
		time.Sleep(2 * Quiet)
		synctest.Wait()
		if n := freed.Load(); n != 3 {
			t.Errorf("freed %d times after the third flood", n)
		}
	})
}
