package memtrim

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"
)

// collecting has garbage collected at 50 percent of a small heap, until the test's end.
func collecting(t *testing.T) {
	runtime.GC() // what an earlier test had
	before := debug.SetGCPercent(100)
	Collect(50)
	t.Cleanup(func() {
		usual.mu.Lock()
		defer usual.mu.Unlock()
		usual.percent = 0
		debug.SetGCPercent(before)
	})
}

// TestCollect: while there is a flood garbage is collected less often, and behind it as before.
func TestCollect(t *testing.T) {
	collecting(t)
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

// wait waits for the end of a flood.
func (t *Trimmer) wait() {
	for armed := true; armed; runtime.Gosched() {
		t.mu.Lock()
		armed = t.armed
		t.mu.Unlock()
	}
}

// percent is GOGC.
func percent() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestFloodsFollow: floods that follow each other soon find the memory of the last, and are all
// one to the collector. What takes that memory back ends it.
func TestFloodsFollow(t *testing.T) {
	collecting(t)
	began := time.Now()
	forced := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	collected := forced()
	for range 2 {
		var m Trimmer
		m.Add(Flood)
		m.wait()
	}
	p, n := percent(), forced()-collected
	if (n > 0 || p < 200) && time.Since(began) < pause {
		t.Errorf("%d collections behind the first of two floods, and %d %% behind the last", n, p)
	}
	idle().Stop() // it would end another test's flood
	if trim(); percent() != 50 {
		t.Errorf("%d %% when memory has been given back", percent())
	}
}

// TestFloodBeginsLate: the end of a flood does not come before its beginning, however long that takes.
func TestFloodBeginsLate(t *testing.T) {
	collecting(t)
	m := Trimmer{Trim: func() {}}
	usual.mu.Lock()
	m.Add(burst)
	for end := time.Now().Add(2 * Quiet); time.Now().Before(end); runtime.Gosched() {
		m.mu.Lock()
		armed := m.armed
		m.mu.Unlock()
		if !armed {
			t.Error("it has ended, and is still to begin")
			break
		}
	}
	usual.mu.Unlock()
	for m.wait(); percent() != 50; {
		runtime.Gosched()
	}
}

// TestCollectGrowing: a heap that grows in a flood has no more garbage for that.
func TestCollectGrowing(t *testing.T) {
	collecting(t)
	usual.flood(true)
	defer usual.flood(false)
	small := percent()
	heap := make([]byte, 8*spare)
	for end := time.Now().Add(10 * time.Second); percent() >= small && time.Now().Before(end); {
		runtime.GC()
		runtime.Gosched()
	}
	if p := percent(); small < 200 || p != 50 {
		t.Errorf("%d %% of a small heap, %d of one with %d bytes", small, p, len(heap))
	}
	runtime.KeepAlive(heap)
}
