package guard

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestQuotas: what was started before a host ended counts in the next one, for a minute;
// what was cancelled doesn't, and nobody is counted beyond the bound but idle ones go.
func TestQuotas(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	dir := t.TempDir()
	q := OpenQuotas(dir, now, slog.New(slog.DiscardHandler))
	for range 2 {
		slot, err := q.Reserve("a", 0, 3)
		if err != nil {
			t.Fatal(err)
		}
		slot.End()
	}
	q = OpenQuotas(dir, now, slog.New(slog.DiscardHandler))
	if _, err := q.Reserve("a", 0, 3); err != nil {
		t.Errorf("the third: %v", err)
	}
	var limit *LimitError
	if _, err := q.Reserve("a", 0, 3); !errors.As(err, &limit) || !strings.Contains(err.Error(), "rate") {
		t.Errorf("the fourth: %v", err)
	}
	if _, err := q.Reserve("b", 0, 3); err != nil {
		t.Errorf("another agent: %v", err)
	}
	at = at.Add(startsWindow)
	if _, err := OpenQuotas(dir, now, slog.New(slog.DiscardHandler)).Reserve("a", 0, 1); err != nil {
		t.Errorf("after a minute: %v", err)
	}
	q = OpenQuotas(t.TempDir(), now, slog.New(slog.DiscardHandler))
	slots := make([]*Slot, maxQuotas)
	for i := range slots {
		slots[i] = q.Retake(strings.Repeat("x", i))
	}
	if _, err := q.Reserve("one more", 0, 0); err == nil {
		t.Error("more agents are counted than the bound")
	}
	slots[0].End()
	if _, err := q.Reserve("one more", 0, 0); err != nil {
		t.Errorf("when one has nothing left: %v", err)
	}
}
