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
// nothing comes after it that could wake the readers of its terminals a second
// time; all must go on at once, not when the holder counts as stalled.
func TestThrottleSeesTheLastMessage(t *testing.T) {
	g := &gated{let: make(chan struct{}), end: make(chan struct{})}
	h := &Host{log: slog.New(slog.DiscardHandler), clients: map[string]*client{}, channels: map[ahp.URI]*channel{}}
	h.limits = Limits{HoldBytes: 10, StallTime: time.Hour}.withDefaults()
	c := &conn{h: h, log: h.log, principal: operator, subs: map[ahp.URI]*channel{}}
	c.rpc = jsonrpc.New(g, nil, jsonrpc.Options{Wrote: c.moved.beat})
	ended := make(chan error, 1)
	go func() { ended <- c.rpc.Run(t.Context()) }()
	defer func() {
		close(g.end)
		c.rpc.Close(1000, "")
		<-ended
	}()
	const terms = 3
	one := &term{value: ahp.TerminalState{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "c"}}}
	one.ch = h.newChannel("ahp-terminal:/t", one)
	h.clients["c"] = &client{id: "c", conns: map[*conn]struct{}{c: {}}}
	one.ch.subscribe(c)

	for range 500 {
		if err := c.rpc.Send(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{}, terms)
		for range terms {
			go func() {
				h.throttle(t.Context(), one)
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
