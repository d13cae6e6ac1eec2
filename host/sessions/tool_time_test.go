package sessions

import (
	"testing"
	"time"

	"tandemux/ahp"
)

// TestToolTimes: a call's times are the host's whatever a client says; one that asks again
// while it runs began when it first did; one of which nothing is known has no duration.
func TestToolTimes(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ss := New(Options{Now: func() time.Time { return now }})
	c := &Chat{all: ss, now: &prompting{calls: map[string]*call{"k": {}}}}
	at := ahp.InstantOf(now.UnixMilli())
	if a := c.timed(ahp.ChatToolCallReady{ToolCallID: "k"}).(ahp.ChatToolCallReady); a.StartedAt != "" {
		t.Errorf("one that asks began at %s", a.StartedAt)
	}
	if a := c.timed(ahp.ChatToolCallConfirmed{ToolCallID: "k", StartedAt: "x"}).(ahp.ChatToolCallConfirmed); a.StartedAt != "" {
		t.Errorf("one that was denied began at %s", a.StartedAt)
	}
	if a := c.timed(ahp.ChatToolCallComplete{ToolCallID: "k", Duration: new(int64)}).(ahp.ChatToolCallComplete); a.Duration != nil {
		t.Errorf("one that never ran took %d", *a.Duration)
	}
	if a := c.timed(ahp.ChatToolCallConfirmed{ToolCallID: "k", Approved: true, StartedAt: "x"}).(ahp.ChatToolCallConfirmed); a.StartedAt != at {
		t.Errorf("one that was allowed began at %s", a.StartedAt)
	}
	now = now.Add(2500 * time.Millisecond)
	if a := c.timed(ahp.ChatToolCallReady{ToolCallID: "k", Confirmed: ahp.ConfirmedSetting}).(ahp.ChatToolCallReady); a.StartedAt != at {
		t.Errorf("one that runs again began at %s", a.StartedAt)
	}
	if a := c.timed(ahp.ChatToolCallComplete{ToolCallID: "k"}).(ahp.ChatToolCallComplete); a.Duration == nil || *a.Duration != 2500 {
		t.Errorf("its duration is %v", a.Duration)
	}
	c.now = nil
	if a := c.timed(ahp.ChatToolCallComplete{ToolCallID: "k", Duration: new(int64)}).(ahp.ChatToolCallComplete); a.Duration != nil {
		t.Errorf("a call of an earlier host took %d", *a.Duration)
	}
}
