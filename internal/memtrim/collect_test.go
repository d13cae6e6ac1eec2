package memtrim

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"
)

// TestCollect: while there is a flood garbage is collected less often, and behind it as before.
func TestCollect(t *testing.T) {
	before := debug.SetGCPercent(100)
	Collect(50)
	defer debug.SetGCPercent(before)
	defer func() { usual.percent = 0 }()
	percent := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	synctest.Test(t, func(t *testing.T) {
		m := Trimmer{Trim: func() {}}
		for range 3 {
			m.Add(burst - 1)
			synctest.Wait()
			if p := percent(); p != 50 {
				t.Errorf("%d %% before a flood", p)
			}
			m.Add(1)
			synctest.Wait()
			if p := percent(); p < 200 {
				t.Errorf("%d %% in a flood of a small heap", p)
			}
			time.Sleep(2 * Quiet)
			synctest.Wait()
			if p := percent(); p != 50 {
				t.Errorf("%d %% behind a flood", p)
			}
		}
	})
}

// TestFloodsFollow: floods that follow each other soon find the memory of the last: nothing
// is collected for them but what Go collects.
func TestFloodsFollow(t *testing.T) {
	began := time.Now()
	forced := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	before := forced()
	for range 2 {
		var m Trimmer
		m.Add(Flood)
		for armed := true; armed; runtime.Gosched() {
			m.mu.Lock()
			armed = m.armed
			m.mu.Unlock()
		}
	}
	if n := forced() - before; n > 0 && time.Since(began) < pause {
		t.Errorf("%d collections behind the first of two floods", n)
	}
}
