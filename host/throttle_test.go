package host

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"cotty/ahp"
	"cotty/internal/jsonrpc"
)

// gated is a transport whose writes wait to be let through.
type gated struct{ let, end chan struct{} }

func (g *gated) Read(context.Context) ([]byte, error) { <-g.end; return nil, io.EOF }
func (g *gated) Close(int, string) error              { return nil }
func (g *gated) Write(context.Context, []byte) error {
	select {
	case <-g.let:
	case <-g.end:
	}
	return nil
}

// TestThrottleSeesTheLastMessage: the holder's one large message is taken, and
// nothing comes after it that could wake the reader a second time; it must go
// on at once, not when the holder counts as stalled.
func TestThrottleSeesTheLastMessage(t *testing.T) {
	g := &gated{let: make(chan struct{}), end: make(chan struct{})}
	h := &Host{log: slog.New(slog.DiscardHandler), clients: map[string]*client{}, channels: map[ahp.URI]*channel{}}
	h.limits = Limits{HoldBytes: 10, StallTime: time.Hour}.withDefaults()
	c := &conn{h: h, log: h.log, principal: operator, subs: map[ahp.URI]*channel{}, moved: make(chan struct{}, 1)}
	c.rpc = jsonrpc.New(g, nil, jsonrpc.Options{Wrote: c.wrote})
	ended := make(chan error, 1)
	go func() { ended <- c.rpc.Run(t.Context()) }()
	defer func() {
		close(g.end)
		c.rpc.Close(1000, "")
		<-ended
	}()
	tm := &term{value: ahp.TerminalState{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "c"}}}
	tm.ch = h.newChannel("ahp-terminal:/t", tm)
	h.clients["c"] = &client{id: "c", conns: map[*conn]struct{}{c: {}}}
	tm.ch.subscribe(c)

	for range 500 {
		if err := c.rpc.Send(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.throttle(t.Context(), tm)
		}()
		g.let <- struct{}{}
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("the reader still waits, though nothing is queued")
		}
	}
}
