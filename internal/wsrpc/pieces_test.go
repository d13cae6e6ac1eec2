package wsrpc

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"tandemux/internal/jsonrpc"
)

// TestPieces: a result in several places arrives whole, whatever carries it and however long
// it is, in order with what was sent before and after, and its pieces stay as they are.
func TestPieces(t *testing.T) {
	for _, over := range []string{"unix", "tcp", "pipe"} {
		t.Run(over, func(t *testing.T) {
			host, peer := jsonrpc.Pipe(8)
			if over != "pipe" {
				host, peer = listen(t, over, Options{}).connect(t)
			}
			long := []byte(`"` + strings.Repeat("0123456789", 2*writeChunk/10) + `"`)
			results := map[string]jsonrpc.Pieces{
				"short": {[]byte(`{"a":`), []byte(`1`), []byte(`}`)},
				"long":  {[]byte(`[`), long, nil, []byte(`,`), long, []byte(`]`)},
				"one":   {long},
			}
			want := map[string]string{}
			for name, pieces := range results {
				for _, p := range pieces {
					want[name] += string(p)
				}
			}
			var heard []string
			server := jsonrpc.New(host, jsonrpc.Handler(func(_ context.Context, c *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
				if err := c.Notify("before", []string{req.Method}); err != nil {
					return nil, err
				}
				c.AfterReply(func() { c.Notify("after", []string{req.Method}) }) //nolint:errcheck // it is missed
				return results[req.Method], nil
			}), jsonrpc.Options{})
			client := jsonrpc.New(peer, jsonrpc.Handler(func(_ context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
				heard = append(heard, req.Method+string(req.Params))
				return nil, nil
			}), jsonrpc.Options{})
			done := make(chan error, 2)
			for _, c := range []*jsonrpc.Conn{server, client} {
				go func() { done <- c.Run(t.Context()) }()
			}
			for range 3 {
				for name := range results {
					var got json.RawMessage
					if err := client.Call(t.Context(), name, nil, &got); err != nil {
						t.Fatal(err)
					}
					if string(got) != want[name] {
						t.Errorf("%s: %d bytes came, want %d: %.40q", name, len(got), len(want[name]), got)
					}
				}
			}
			client.Close(1000, "")
			<-done
			<-done
			if len(heard) != 2*3*len(results) && len(heard) != 2*3*len(results)-1 { // the last may be late
				t.Errorf("heard %v", heard)
			}
		})
	}
}
