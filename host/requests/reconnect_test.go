package requests

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/outbox"
	"tandemux/internal/jsonrpc"
)

// flooded is a channel that has printed much, and shown all that there is.
type (
	flooded struct{ core.Body }
	shown   struct{ Channels }
)

func (flooded) Reduce(ahp.Action)                            {}
func (flooded) Settle(core.Tx)                               {}
func (shown) Reaches(core.Tx, *auth.Principal, ahp.URI) bool { return true }
func (shown) Watched(core.Tx, *core.Link, *core.Channel)     {}
func (shown) Opened(core.Tx, *core.Link, bool)               {}
func (shown) Came(core.Tx, *core.Client)                     {}

// TestMissedTogether: what those who come back together have missed is encoded for each of
// them, so that a batch has few of them, as it has few states.
func TestMissedTogether(t *testing.T) {
	const uri, viewers, missed = "ahp-terminal:/flood", 40, 512 << 10
	log := slog.New(slog.DiscardHandler)
	c, _, err := core.New(core.Options{
		State: t.TempDir(), Now: time.Now, Log: log, Clients: 10, ReplayBytes: 1 << 20, ReplayCount: 100, ReplayAll: 4 << 20,
		Shown: func(_ core.Tx, _ *auth.Principal, a ahp.Action) (ahp.Action, bool) { return a, false },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Options: Options{Core: c, Log: log, Channels: shown{}}}
	s.Limits.ReplyBytes = 32 << 20
	s.states = states{core: c, work: &s.serving}
	who := auth.Operator
	var seen int64
	c.Do(func(tx core.Tx) {
		ch := tx.NewChannel(uri, flooded{})
		tx.AddClient("viewer", who.ID)
		seen = tx.Seq()
		for range 8 {
			tx.Apply(ch, ahp.TerminalData{Data: strings.Repeat("x", missed/8)}, nil)
		}
	})
	for range viewers {
		conn := &Conn{s: s, Link: core.NewLink(who, log)}
		conn.Out = outbox.New(nil, nil, jsonrpc.Options{Log: log}, 1<<20)
		s.states.waiting = append(s.states.waiting, &visit{back: true, done: make(chan struct{}), do: func(tx core.Tx, b *batch) {
			r, err := conn.resume(tx, b, "viewer", seen, []ahp.URI{uri})
			if err != nil || r.kind != ahp.ReconnectReplay || len(r.actions) != 8 {
				t.Errorf("%s of %d actions, %v", r.kind, len(r.actions), err)
			}
		}})
	}
	s.states.in = maxBatches // so that no other follows at once
	s.states.run()
	if n := viewers - len(s.states.waiting); n < 2 || n*missed > maxMade+missed {
		t.Errorf("%d of %d viewers are given %d bytes each at once", n, viewers, missed)
	}
}
