package terminals

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/outbox"
	"tandemux/host/requests"
	"tandemux/internal/jsonrpc"
)

// gated is a transport whose writes wait to be let through.
type gated struct {
	let, end chan struct{}
	sent     func() int64
	code     chan int // that it was closed with; nil: nobody asks
}

func (g *gated) Sent() int64 { return g.sent() }

func (g *gated) Read(context.Context) ([]byte, error) { <-g.end; return nil, io.EOF }
func (g *gated) Close(code int, _ string) error {
	if g.code != nil {
		g.code <- code
	}
	return nil
}

func (g *gated) Write(context.Context, []byte) error {
	select {
	case <-g.let:
	case <-g.end:
	}
	return nil
}

// behindHolder is a terminal and its holder's connection over g.
func behindHolder(t *testing.T, g *gated, stall time.Duration) (*Terminal, *requests.Conn) {
	ts := &Terminals{Options: Options{
		Log: slog.New(slog.DiscardHandler), Core: newCore(t, time.Now), Limits: Limits{HoldBytes: 10, StallTime: stall},
	}}
	c := &requests.Conn{Link: core.NewLink(auth.Operator, ts.Log)}
	c.Out = outbox.New(g, nil, jsonrpc.Options{Log: ts.Log}, 0)
	ended := make(chan error, 1)
	go func() { ended <- c.Out.RPC.Run(t.Context()) }()
	t.Cleanup(func() {
		close(g.end)
		c.Out.RPC.Close(1000, "")
		<-ended
	})
	one := &Terminal{ts: ts, Value: ahp.TerminalState{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "c"}}}
	tx := ts.Core.Lock()
	defer tx.Unlock()
	one.ch = tx.NewChannel("ahp-terminal:/t", one)
	tx.Begin(c.Link, tx.AddClient("c", auth.Operator.ID))
	tx.Subscribe(one.ch, c.Link)
	return one, c
}

// TestThrottleSeesTheLastMessage: the holder's one large message is taken, and
// nothing comes after it that could wake the readers of its terminals a second
// time; all must go on at once, not when the holder counts as stalled.
func TestThrottleSeesTheLastMessage(t *testing.T) {
	g := &gated{let: make(chan struct{}), end: make(chan struct{}), sent: func() int64 { return 0 }}
	one, c := behindHolder(t, g, time.Hour)
	const terms = 3
	for range 500 {
		if err := c.Out.RPC.Send(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{}, terms)
		for range terms {
			go func() {
				one.throttle(t.Context())
				done <- struct{}{}
			}()
		}
		g.let <- struct{}{}
		for range terms {
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				t.Fatal("a reader still waits, though nothing is queued")
			}
		}
	}
}

// TestThrottleTellsSlowFromStuck: a holder that takes a long message bit by bit
// is waited for, one that stops taking is closed, and may come back.
func TestThrottleTellsSlowFromStuck(t *testing.T) {
	var looks, taken atomic.Int64
	g := &gated{let: make(chan struct{}), end: make(chan struct{}), sent: func() int64 {
		if looks.Add(1) < 10 {
			taken.Add(1)
		}
		return taken.Load()
	}, code: make(chan int, 10)}
	one, c := behindHolder(t, g, time.Millisecond)
	if err := c.Out.RPC.Send(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	one.throttle(t.Context())
	if n := looks.Load(); n < 10 || !c.Out.Closed() {
		t.Errorf("after %d looks the reader went on; connection closed: %v", n, c.Out.Closed())
	}
	if code := <-g.code; code != jsonrpc.CloseOverload {
		t.Errorf("it is closed with %d, by which clients don't come back", code)
	}
}
