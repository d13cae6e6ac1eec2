package host_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// printed notes the output of each number.
type printed struct {
	client.Sink
	mu   sync.Mutex
	data map[int64]string
	all  int
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
