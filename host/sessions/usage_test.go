package sessions

import (
	"log/slog"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
)

// TestSessionUsage: a session's row counts the tokens and time of its turns, and
// says since when one runs.
func TestSessionUsage(t *testing.T) {
	in, out := int64(100), int64(20)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time { return now }
	locks, _, err := core.New(core.Options{State: t.TempDir(), Now: clock, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ss := New(Options{Core: locks, Now: clock})
	s := &session{all: ss}
	c := &Chat{all: ss, s: s, value: ahp.ChatState{ActiveTurn: &ahp.Turn{ID: "t", StartedAt: ahp.InstantOf(now.UnixMilli()), Usage: &ahp.Usage{InputTokens: &in, OutputTokens: &out}}}}
	s.chats = []*Chat{c}
	r := &prompting{c: c, id: "t", started: now.Add(-3 * time.Second)}
	if got, want := string(s.usage()), `{"tandemux/usage":{"since":1767323045000}}`; got != want {
		t.Errorf("while it runs: %s; want %s", got, want)
	}
	ss.Core.Locked(func(tx core.Tx) { c.tally(tx, r) })
	c.value.ActiveTurn = nil
	if got, want := string(s.usage()), `{"tandemux/usage":{"tokens":120,"workedMs":3000}}`; got != want {
		t.Errorf("afterwards: %s; want %s", got, want)
	}
}
