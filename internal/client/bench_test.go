package client

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// sinkFunc is a Sink that only looks at actions.
type sinkFunc func(e ahp.Envelope)

func (f sinkFunc) Snapshot(ahp.Snapshot)    {}
func (f sinkFunc) Action(e ahp.Envelope)    { f(e) }
func (f sinkFunc) Gone(ahp.URI)             {}
func (f sinkFunc) Status(_ Status, _ error) {}

// local serves one client on a unix socket: initialize, subscribe, and an echo
// of what is dispatched.
func local(b *testing.B, sink Sink) (*Client, *jsonrpc.Conn) {
	dir, err := os.MkdirTemp("", "client")
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		b.Fatal(err)
	}
	conns := make(chan *jsonrpc.Conn, 1)
	seq := int64(1)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t, err := wsrpc.Accept(w, r, wsrpc.Options{})
		if err != nil {
			return
		}
		c := jsonrpc.New(t, jsonrpc.Handler(func(_ context.Context, c *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
			switch req.Method {
			case ahp.MethodInitialize:
				return json.RawMessage(`{"protocolVersion":"1.0.0","serverSeq":1,"snapshots":[` + rootSnapshot(1) + `]}`), nil
			case ahp.MethodSubscribe:
				return json.RawMessage(`{"snapshot":` + terminalSnapshot(t1, 1) + `}`), nil
			case ahp.MethodDispatchAction:
				var d ahp.DispatchParams
				if err := json.Unmarshal(req.Params, &d); err != nil {
					return nil, err
				}
				seq++
				return nil, c.Send(wire.AppendDataEnvelope(nil, t1, d.Action.(ahp.TerminalInput).Data, seq))
			}
			return nil, nil
		}), jsonrpc.Options{MaxQueueBytes: 1 << 20})
		conns <- c
		c.Run(context.Background())
	})}
	go srv.Serve(ln)
	c, err := Connect(context.Background(), Options{Sink: sink, Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
		return wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + path})
	}})
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Subscribe(context.Background(), t1); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		c.Close()
		srv.Close()
		os.RemoveAll(dir)
	})
	return c, <-conns
}

// BenchmarkKey is a key's way from Dispatch through a socket to the host and
// its output's way back to the Sink.
func BenchmarkKey(b *testing.B) {
	back := make(chan struct{}, 1)
	c, _ := local(b, sinkFunc(func(ahp.Envelope) { back <- struct{}{} }))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Dispatch(t1, ahp.TerminalInput{Data: "x"}); err != nil {
			b.Fatal(err)
		}
		<-back
		c.mu.Lock()
		c.pending, c.pendingBytes = nil, 0 // This host answers with data alone.
		c.mu.Unlock()
	}
}

// BenchmarkOutput is coloured output's way from the host's encoder through a
// socket to the Sink.
func BenchmarkOutput(b *testing.B) {
	text := strings.Repeat("\x1b[38;5;39mhost\x1b[0m/\x1b[1;32mterminal.go\x1b[0m: some text of a line of output\r\n", 400)
	got := make(chan struct{}, 1<<20)
	_, host := local(b, sinkFunc(func(ahp.Envelope) { got <- struct{}{} }))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	seq := int64(1)
	for b.Loop() {
		seq++
		msg := wire.AppendDataEnvelope(nil, t1, text, seq)
		for host.Send(msg) != nil {
			<-host.Drained()
		}
	}
	for range seq - 1 {
		<-got
	}
}
