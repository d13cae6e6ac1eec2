package wsrpc

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"tandemux/internal/jsonrpc"
)

// TestTryWrite: messages written without waiting arrive whole and in order,
// among others, also when the peer takes nothing for a while, in both
// directions and of all lengths that a frame's head tells apart.
func TestTryWrite(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			l := listen(t, network, Options{})
			a, b := l.connect(t)
			for _, way := range [][2]jsonrpc.Transport{{a, b}, {b, a}} {
				from, to := way[0].(jsonrpc.DirectWriter), way[1]
				const count = 500
				sent := make(chan error, 1)
				kept := make(chan struct{})
				full := sync.OnceFunc(func() { close(kept) })
				go func() {
					defer full()
					sent <- func() error {
						stuck := false
						for i := range count {
							msg := []byte(numbered(i))
							if !stuck {
								tried, err := from.TryWrite(msg, i%7 == 3)
								if err != nil {
									return err
								}
								if tried == jsonrpc.Written {
									continue
								}
								full()
								stuck = true
								if tried == jsonrpc.Kept {
									continue
								}
							}
							if err := from.WriteMore(msg, i+1 < count); err != nil {
								return err
							}
						}
						return from.WriteMore(nil, false) // the rest of the last, where that was kept
					}()
				}()
				<-kept // The peer begins to read when the socket is full, or has all.
				for i := range count {
					got, err := to.Read(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					if string(got) != numbered(i) {
						t.Fatalf("message %d: got %d bytes", i, len(got))
					}
				}
				if err := <-sent; err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// numbered is message i, of many lengths.
func numbered(i int) string {
	return fmt.Sprintf(`{"n":%d,"x":%q}`, i, strings.Repeat("x", i*i*13%jsonrpc.TryBytes))
}
