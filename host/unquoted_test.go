package host_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/host"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// printed notes the output of each number, and states.
type printed struct {
	client.Sink
	mu     sync.Mutex
	data   map[int64]string
	all    int
	states map[ahp.URI][]ahp.TerminalState
	apart  int // of the states
}

func (p *printed) Snapshot(s ahp.Snapshot) {
	if p.states != nil && strings.HasPrefix(s.Resource, ahp.TerminalScheme) {
		p.mu.Lock()
		defer p.mu.Unlock()
		st, err := wire.Terminal(s)
		if err != nil {
			panic(err)
		}
		if s.Meta.Texts != nil {
			p.apart++
		}
		p.states[s.Resource] = append(p.states[s.Resource], st)
	}
	p.Sink.Snapshot(s)
}

func (p *printed) had(n int, uris ...ahp.URI) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !slices.ContainsFunc(uris, func(uri ahp.URI) bool { return len(p.states[uri]) < n })
}

func (p *printed) Data(_ ahp.URI, data []byte, seq int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.data[seq] += string(data)
	p.all += len(data)
}

func (p *printed) Action(e ahp.Envelope) {
	if d, is := e.Action.(ahp.TerminalData); is {
		p.Data(e.Channel, []byte(d.Data), e.ServerSeq)
	}
}

func (p *printed) has(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.data {
		if strings.Contains(d, text) {
			return true
		}
	}
	return false
}

// heard counts the messages that are no JSON.
type heard struct {
	jsonrpc.Transport
	bare *int
}

func (h heard) Local() bool { return h.Transport.(jsonrpc.Local).Local() }

func (h heard) Read(ctx context.Context) ([]byte, error) {
	msg, err := h.Transport.Read(ctx)
	if bytes.HasPrefix(msg, []byte("\x00")) {
		*h.bare++
	}
	return msg, err
}

// TestUnquoted: output that comes without quotes is what comes as JSON, in the same actions.
func TestUnquoted(t *testing.T) {
	t.Parallel()
	w := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	const uri = "ahp-terminal:/t"
	var bare [2]int
	var got [2]*printed
	var clients [2]*client.Client
	for i := range got {
		got[i] = &printed{Sink: client.NewMirror(0), data: map[int64]string{}}
		o := client.Options{ClientID: []string{"quoted", "unquoted"}[i], Sink: got[i], Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
			t, err := wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + w.sock.Path()})
			return heard{t, &bare[i]}, err
		}}
		if i == 1 {
			o.Print = got[i]
		}
		c, err := client.Connect(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if clients[i] = c; i == 0 {
			if err := c.Call(ctx, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
				Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "quoted"},
				Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", `stty -echo; read x; i=0
while [ $i -lt 3000 ]; do printf '%d "quoted\\" \033[31m\303\251\344\270\226\033[m \377\376 \001\n' $i; i=$((i+1)); done; printf 'the end'; read x`}},
			}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Subscribe(ctx, uri); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := clients[0].DispatchWait(ctx, uri, ahp.TerminalInput{Data: "\n"}); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		w.until("all is printed", func() bool { return got[i].has("the end") })
		if err := clients[i].Close(); err != nil {
			t.Log(err)
		}
	}
	if bare[0] != 0 || bare[1] == 0 {
		t.Errorf("%d and %d messages were no JSON", bare[0], bare[1])
	}
	for seq, text := range got[1].data {
		if got[0].data[seq] != text {
			t.Errorf("action %d: %.60q as JSON, %.60q without quotes", seq, got[0].data[seq], text)
		}
	}
	if got[0].all != got[1].all || got[1].all < 3000*30 {
		t.Errorf("%d bytes as JSON, %d without quotes", got[0].all, got[1].all)
	}
}

// TestTextsApart: a state whose texts lie beside its JSON is the state that is all JSON, in
// the answer to a subscription, and in that to a reconnect, of several terminals in one.
func TestTextsApart(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) { c.Limits.ReplayBytes, c.Limits.ReplayCount = 1, 1 })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	long, other, little := "ahp-terminal:/long", "ahp-terminal:/other", "ahp-terminal:/little"
	owner := w.connect("owner")
	owner.initialize()
	for uri, lines := range map[string]string{long: "3000", other: "200", little: "1"} {
		owner.create(uri, "sh", "-c", `stty -echo; i=0
while [ $i -lt `+lines+` ]; do printf '%d "quoted\\" \033[31m\303\251\344\270\226\033[m \377\376 \001\n' $i; i=$((i+1)); done; printf 'the end'; read x; printf 'more'; read x`)
		owner.subscribe(uri)
		owner.output(uri, "the end")
	}
	var got [2]*printed
	var gate sync.RWMutex // closed, nobody comes back
	var cut [2]atomic.Pointer[jsonrpc.Transport]
	for i := range got {
		got[i] = &printed{Sink: client.NewMirror(0), data: map[int64]string{}, states: map[ahp.URI][]ahp.TerminalState{}}
		o := client.Options{Sink: got[i], Reconnect: true, Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
			gate.RLock()
			defer gate.RUnlock()
			t, err := wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + w.sock.Path()})
			if err == nil {
				cut[i].Store(&t)
			}
			return t, err
		}}
		if i == 1 {
			o.Print = got[i]
		}
		c, err := client.Connect(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() //nolint:errcheck // it ends with the test
		for _, uri := range []ahp.URI{little, long, other} {
			if err := c.Subscribe(ctx, uri); err != nil {
				t.Fatal(err)
			}
		}
	}
	compare := func(n, apart int) {
		t.Helper()
		for _, p := range got {
			w.until("all states are there", func() bool { return p.had(n, long, other, little) })
		}
		for _, uri := range []ahp.URI{long, other, little} {
			quoted, unquoted := got[0].states[uri][n-1], got[1].states[uri][n-1]
			if !reflect.DeepEqual(quoted, unquoted) {
				t.Errorf("%s, state %d: %.300q as JSON, %.300q with its texts apart", uri, n, fmt.Sprint(quoted), fmt.Sprint(unquoted))
			}
		}
		if text := got[1].states[long][n-1].Content; len(text) == 0 || len(text[0].Text()) < 30000 {
			t.Errorf("state %d has %d parts", n, len(text))
		}
		if got[0].apart != 0 || got[1].apart != apart {
			t.Errorf("%d and %d states had their texts apart; want 0 and %d", got[0].apart, got[1].apart, apart)
		}
	}
	compare(1, 2)
	gate.Lock()
	for i := range cut {
		(*cut[i].Load()).Close(jsonrpc.CloseAway, "") //nolint:errcheck // it has ended
	}
	for i, uri := range []ahp.URI{long, other, little} {
		owner.dispatch(uri, int64(i+1), ahp.TerminalInput{Data: "\n"})
		owner.output(uri, "more")
	}
	gate.Unlock()
	compare(2, 4)
}
