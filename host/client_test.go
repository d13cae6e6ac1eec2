package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// cutter dials, and cuts the latest connection when asked.
type cutter struct {
	w    *fixture
	mu   sync.Mutex
	last jsonrpc.Transport
}

func (c *cutter) dial(ctx context.Context) (jsonrpc.Transport, error) {
	t, err := wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + c.w.sock.Path()})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = t
	return t, nil
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last.Close(1006, "")
}

// TestLostConnections: the client that people use, whose connection breaks
// again and again while it types, renames and changes a layout, has each of it
// done once, in order, learns what became of it, and mirrors the host's state.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	w := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cut := &cutter{w: w}
	m := client.NewMirror(0)
	c, err := client.Connect(ctx, client.Options{Dial: cut.dial, ClientID: "c", Sink: m, Reconnect: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const uri, layout, rounds = "ahp-terminal:/t", "x-tandemux-layout:/main", 36
	if err := c.Call(ctx, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "c"},
		Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", `stty -echo; echo ready; while read l; do echo "<$l>"; done`}},
	}, nil); err != nil {
		t.Fatal(err)
	}
	for _, u := range []ahp.URI{uri, layout} {
		if err := c.Subscribe(ctx, u); err != nil {
			t.Fatal(err)
		}
	}
	output := func() string {
		s, _ := m.Terminal(uri)
		var b strings.Builder
		for _, p := range s.Content {
			b.WriteString(p.Text())
		}
		return b.String()
	}
	w.until("the program is ready", func() bool { return strings.Contains(output(), "ready") })

	var cuts sync.WaitGroup
	defer cuts.Wait()
	var want strings.Builder
	for i := range rounds {
		fmt.Fprintf(&want, "<%d>", i)
		// The cuts fall before, while or after a dispatch is handled.
		for step := range 3 {
			// Each cut makes the client wait longer, so there are but few.
			if i%6 == 5 && i/6%3 == step {
				cuts.Go(cut.cut)
			}
			w.until("the client is connected", func() bool {
				var err error
				switch step {
				case 0:
					_, err = c.DispatchWait(ctx, uri, ahp.TerminalInput{Data: fmt.Sprintln(i)})
				case 1:
					_, err = c.Dispatch(uri, ahp.TerminalTitleChanged{Title: fmt.Sprint("title ", i)})
				case 2:
					_, err = c.DispatchWait(ctx, layout, ahp.LayoutChanged{Rev: int64(i + 1), Doc: []byte(fmt.Sprintf(`{"n":%d}`, i)), Terminals: []ahp.URI{}})
				}
				switch {
				case err == nil:
				case errors.Is(err, client.ErrDisconnected), errors.Is(err, jsonrpc.ErrClosed):
					return false // it was not sent
				case step == 2 && strings.Contains(err.Error(), "processed before"):
					// A layout is changed once at most: that a repetition is
					// refused tells as much as its echo does.
				default:
					t.Fatalf("round %d, step %d: %v", i, step, err)
				}
				return true
			})
		}
	}
	w.until("all has been typed", func() bool { return strings.Contains(output(), fmt.Sprintf("<%d>", rounds-1)) })
	if got := strings.NewReplacer("ready", "", "\r", "", "\n", "").Replace(output()); got != want.String() {
		t.Errorf("typed\n%s\nwant\n%s", got, want.String())
	}
	w.until("the title is the last one", func() bool {
		s, _ := m.Terminal(uri)
		l, _ := m.Layout(layout)
		return s.Title == fmt.Sprint("title ", rounds-1) && l.Rev == rounds
	})
	p := w.connect("p")
	p.initialize()
	if s := p.subscribe(uri); !strings.Contains(string(s.State), fmt.Sprintf(`"title":"title %d"`, rounds-1)) {
		t.Errorf("the host has %s", s.State)
	}
}
