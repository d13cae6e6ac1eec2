package guard

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestQuotaRate(t *testing.T) {
	now := time.Unix(1000, 0)
	q := NewQuota(5, 3, time.Minute, func() time.Time { return now })
	var slots []*Slot
	for i := range 3 {
		s, err := q.Reserve()
		if err != nil {
			t.Fatalf("start %d: %v", i, err)
		}
		slots = append(slots, s)
		now = now.Add(10 * time.Second)
	}
	if _, err := q.Reserve(); err == nil || err.Error() != "Spawn rate limit exceeded (max 3/minute)" { // T15
		t.Fatalf("the fourth start: %v", err)
	}
	slots[0].End() // The end of a terminal gives no start back,
	if _, err := q.Reserve(); err == nil {
		t.Fatal("a start after an end is allowed")
	}
	slots[1].Cancel() // but one that failed does.
	slots[1].Cancel()
	slots[1].End()
	if _, err := q.Reserve(); err != nil {
		t.Fatalf("after a failed start: %v", err)
	}
	now = time.Unix(1060, 0) // The window slides.
	if _, err := q.Reserve(); err != nil {
		t.Fatalf("a minute after the first: %v", err)
	}
	if _, err := q.Reserve(); err == nil {
		t.Fatal("a refused start was not counted, or one too many is allowed")
	}
}

func TestQuotaLive(t *testing.T) {
	q := NewQuota(5, 0, 0, nil)
	var slots []*Slot
	for range 5 {
		s, err := q.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		slots = append(slots, s)
	}
	if _, err := q.Reserve(); err == nil || err.Error() != "Maximum concurrent agent terminals reached (5)" { // T16
		t.Fatalf("the sixth: %v", err)
	}
	slots[2].End()
	slots[2].End()
	if _, err := q.Reserve(); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Reserve(); err == nil {
		t.Fatal("ending one twice gave two places")
	}
}

// Check and reserve are one step: of many at once, just as many as allowed win.
func TestQuotaIsAtomic(t *testing.T) {
	q := NewQuota(5, 0, 0, nil)
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if _, err := q.Reserve(); err == nil {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 5 {
		t.Fatalf("%d places of 5 were taken", won.Load())
	}
}
