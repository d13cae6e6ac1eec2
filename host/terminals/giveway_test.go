package terminals

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"tandemux/host/claims"
	"tandemux/host/core"
)

// TestAFloodGivesWay: a terminal is read less often while its holder types into
// another, and only then.
func TestAFloodGivesWay(t *testing.T) {
	ts := &Terminals{Options: Options{Core: newCore(t, time.Now)}}
	flood, typed, other := &Terminal{ts: ts, holding: holding{Owner: claims.Owner{Holder: "me"}}}, &Terminal{ts: ts, holding: holding{Owner: claims.Owner{Holder: "me"}}}, &Terminal{ts: ts, holding: holding{Owner: claims.Owner{Holder: "you"}}}
	synctest.Test(t, func(t *testing.T) { // the time is the bubble's
		// twice gives the time between two reads.
		twice := func(t *Terminal) time.Duration {
			t.giveWay(context.Background())
			start := time.Now()
			t.giveWay(context.Background())
			return time.Since(start)
		}
		if d := twice(flood); d != 0 {
			t.Errorf("nobody types, and a read waits %v", d)
		}
		types := func() { ts.typist = typist{"me", typed, time.Now()} }
		types()
		if d := twice(flood); d != floodPause {
			t.Errorf("a flood waits %v to give way", d)
		}
		types()
		if d := twice(typed); d != 0 {
			t.Errorf("the terminal that is typed into waits %v", d)
		}
		if d := twice(other); d != 0 {
			t.Errorf("somebody else's terminal waits %v", d)
		}
		time.Sleep(typingTime + 1)
		if d := twice(flood); d != 0 {
			t.Errorf("typing is over, and a read waits %v", d)
		}
		types()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		flood.giveWay(ctx) // The terminal was closed: it must return.
	})
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
