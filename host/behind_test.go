package host_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/host"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

// follower shows what a client is told of a terminal. It reads nothing until it may.
type follower struct {
	t    *testing.T
	may  <-chan struct{}
	mu   sync.Mutex
	emu  emulator.Emulator
	from []int64 // the states'
}

func (f *follower) Snapshot(s ahp.Snapshot) {
	if s.Resource == ahp.RootURI {
		return
	}
	state, err := wire.Terminal(s)
	if err != nil {
		f.t.Error(err)
	}
	e, err := engine.New("native", emulator.Options{Cols: state.Cols, Rows: state.Rows})
	if err != nil {
		f.t.Error(err)
		return
	}
	for _, part := range state.Content {
		e.Write([]byte(part.Text()))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emu, f.from = e, append(f.from, s.FromSeq)
}

func (f *follower) Data(_ ahp.URI, data []byte, _ int64) {
	<-f.may
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emu.Write(data)
}

func (f *follower) Action(e ahp.Envelope) {
	if d, is := e.Action.(ahp.TerminalData); is {
		f.Data(e.Channel, []byte(d.Data), e.ServerSeq)
	}
}

func (*follower) Gone(ahp.URI)                {}
func (*follower) Status(client.Status, error) {}

// text is all that it shows.
func (f *follower) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return emulator.HistoryText(f.emu, -1) + emulator.ScreenText(f.emu)
}

func (f *follower) shows(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Contains(emulator.ScreenText(f.emu), text)
}

// TestBehindTogether: viewers who fall behind together come back together, while more is
// printed; whoever shares a state with others, and whatever follows it, sees what who comes
// later does.
func TestBehindTogether(t *testing.T) {
	soak.Long(t, "ten viewers of megabytes")
	t.Parallel()
	w := start(t, func(c *host.Config) {
		c.Engine, c.Limits.LagBytes, c.Limits.ReplayBytes, c.Limits.StallTime = "native", 128<<10, 64<<10, patience
	})
	ctx := t.Context()
	const uri, viewers = "ahp-terminal:/t", 10
	p := w.connect("p")
	p.initialize()
	p.create(uri, "sh", "-c", `stty -echo; echo ready; read x; seq 120000; echo first; read x; seq 60000; printf 'last'; read x`)
	p.output(uri, "ready")
	watch := func(id string, may <-chan struct{}) *follower {
		f := &follower{t: t, may: may}
		o := client.Options{ClientID: id, Sink: f, Reconnect: true, Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
			return wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + w.sock.Path()})
		}}
		if strings.HasSuffix(id, "0") {
			o.Print = f
		}
		c, err := client.Connect(ctx, o)
		if err == nil {
			t.Cleanup(func() { c.Close() })
			err = c.Subscribe(ctx, uri)
		}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	// The holder types and sees nothing: it can't be who is too slow.
	p.send(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodUnsubscribe, "params": ahp.SubscribeParams{Channel: uri}})
	open, may := make(chan struct{}), make(chan struct{})
	close(open)
	let := sync.OnceFunc(func() { close(may) })
	defer let() // before the clients are closed
	first := watch("first", open)
	var all []*follower
	for i := range viewers {
		all = append(all, watch(fmt.Sprintf("v%d-%d", i, i%2), may))
	}
	p.dispatch(uri, 1, ahp.TerminalInput{Data: "\n"})
	w.until("the first part is printed", func() bool { return first.shows("first") })
	p.dispatch(uri, 2, ahp.TerminalInput{Data: "\n"})
	let()
	for i, f := range all {
		w.until(fmt.Sprintf("viewer %d has all", i), func() bool { return f.shows("last") })
	}
	want := watch("late", open).text()
	starts := map[int64]int{}
	for i, f := range all {
		if got := f.text(); got != want {
			t.Errorf("viewer %d sees %d bytes, who came late %d", i, len(got), len(want))
		}
		if len(f.from) < 2 {
			t.Errorf("viewer %d did not fall behind", i)
		}
		for _, seq := range f.from[1:] {
			starts[seq]++
		}
	}
	t.Logf("fresh starts by number: %v", starts)
}
