package terminals

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"tandemux/host/claims"
	"tandemux/host/core"
)

// TestAFloodGivesWay: a terminal is read less often while its holder types into
// another, and only then.
func TestAFloodGivesWay(t *testing.T) {
	ts := &Terminals{Options: Options{Core: newCore(t, time.Now)}}
	flood, typed, other := &Terminal{ts: ts, holding: holding{Owner: claims.Owner{Holder: "me"}}}, &Terminal{ts: ts, holding: holding{Owner: claims.Owner{Holder: "me"}}}, &Terminal{ts: ts, holding: holding{Owner: claims.Owner{Holder: "you"}}}
	// twice gives the time between two reads.
	twice := func(t *Terminal) time.Duration {
		t.giveWay(context.Background())
		start := time.Now()
		t.giveWay(context.Background())
		return time.Since(start)
	}
	if d := twice(flood); d >= floodPause {
		t.Errorf("nobody types, and a read waits %v", d)
	}
	types := func() { ts.typist = typist{"me", typed, time.Now().Add(time.Hour)} }
	types()
	gives := false
	for range 50 { // the time between the reads counts: somebody else may have had the processor then
		gives = gives || twice(flood) >= floodPause/2
	}
	if !gives {
		t.Error("a flood does not give way")
	}
	if d := twice(typed); d >= floodPause {
		t.Errorf("the terminal that is typed into waits %v", d)
	}
	if d := twice(other); d >= floodPause {
		t.Errorf("somebody else's terminal waits %v", d)
	}
	ts.typist.at = time.Now().Add(-2 * typingTime)
	if d := twice(flood); d >= floodPause {
		t.Errorf("typing is over, and a read waits %v", d)
	}
	types()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	flood.giveWay(ctx) // The terminal was closed: it must return.
}

// newCore is a core that journals nothing.
func newCore(tb testing.TB, now func() time.Time) *core.Core {
	tb.Helper()
	c, _, err := core.New(core.Options{
		State: tb.TempDir(), Now: now, Log: slog.New(slog.DiscardHandler), Clients: 10,
		Superseded: func(core.Tx, error) {},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
