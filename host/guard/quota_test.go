package guard

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func quotas(t *testing.T, now func() time.Time) *Quotas {
	return OpenQuotas(t.TempDir(), now, slog.New(slog.DiscardHandler))
}

func TestQuotaRate(t *testing.T) {
	now := time.Unix(1000, 0)
	q := quotas(t, func() time.Time { return now })
	var slots []*Slot
	for i := range 3 {
		s, err := q.Reserve("a", 5, 3)
		if err != nil {
			t.Fatalf("start %d: %v", i, err)
		}
		slots = append(slots, s)
		now = now.Add(10 * time.Second)
	}
	if _, err := q.Reserve("a", 5, 3); err == nil || err.Error() != "Spawn rate limit exceeded (max 3/minute)" { // T15
		t.Fatalf("the fourth start: %v", err)
	}
	slots[0].End() // The end of a terminal gives no start back,
	if _, err := q.Reserve("a", 5, 3); err == nil {
		t.Fatal("a start after an end is allowed")
	}
	slots[1].Cancel() // but one that failed does.
	slots[1].Cancel()
	slots[1].End()
	if _, err := q.Reserve("a", 5, 3); err != nil {
		t.Fatalf("after a failed start: %v", err)
	}
	now = time.Unix(1060, 0) // The window slides.
	if _, err := q.Reserve("a", 5, 3); err != nil {
		t.Fatalf("a minute after the first: %v", err)
	}
	if _, err := q.Reserve("a", 5, 3); err == nil {
		t.Fatal("a refused start was not counted, or one too many is allowed")
	}
}

func TestQuotaLive(t *testing.T) {
	q := quotas(t, time.Now)
	var slots []*Slot
	for range 5 {
		s, err := q.Reserve("a", 5, 0)
		if err != nil {
			t.Fatal(err)
		}
		slots = append(slots, s)
	}
	if _, err := q.Reserve("a", 5, 0); err == nil || err.Error() != "Maximum concurrent agent terminals reached (5)" { // T16
		t.Fatalf("the sixth: %v", err)
	}
	slots[2].End()
	slots[2].End()
	if _, err := q.Reserve("a", 5, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Reserve("a", 5, 0); err == nil {
		t.Fatal("ending one twice gave two places")
	}
}

// Check and reserve are one step: of many at once, just as many as allowed win.
func TestQuotaIsAtomic(t *testing.T) {
	q := quotas(t, time.Now)
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if _, err := q.Reserve("a", 5, 0); err == nil {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 5 {
		t.Fatalf("%d places of 5 were taken", won.Load())
	}
}

// What is remembered elsewhere counts again, and what is held already.
func TestQuotaIsRecalled(t *testing.T) {
	now := time.Unix(1000, 0)
	clock := func() time.Time { return now }
	dir := t.TempDir()
	q := OpenQuotas(dir, clock, slog.New(slog.DiscardHandler))
	first, err := q.Reserve("a", 5, 3)
	if err != nil || first.Of() != "a" {
		t.Fatal(first, err)
	}
	now = now.Add(30 * time.Second)
	q.Reserve("a", 5, 3)
	text := fmt.Sprintf(`{"a":[%d,%d,%d]}`, now.Add(-30*time.Second).UnixMilli(), now.UnixMilli(), now.Add(time.Hour).UnixMilli())
	if err := os.WriteFile(filepath.Join(dir, startsFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	next := OpenQuotas(dir, clock, slog.New(slog.DiscardHandler))
	if _, err := next.Reserve("a", 5, 3); err == nil {
		t.Fatal("the starts before are forgotten")
	}
	now = now.Add(31 * time.Second) // The first is a minute ago.
	slot, err := next.Reserve("a", 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	next.Retake("a")
	if _, err := next.Reserve("a", 2, 0); err == nil {
		t.Fatal("a place that was taken before is free")
	}
	if _, err := next.Reserve("a", 3, 0); err != nil { // The limits are those of now.
		t.Fatal(err)
	}
	slot.End()
	if slot.Of() != "" || (*Slot)(nil).Of() != "" {
		t.Error("a place that was given back is somebody's")
	}
}
