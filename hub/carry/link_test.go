package carry

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"tandemux/internal/jsonrpc"
	"tandemux/internal/linktest"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

// TestLinks: a key and its echo through the hub, of 20 hosts at once over links of several
// kinds, with a flood of output on the same host beside it. The figures are docs/fleet.md's.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		link  linktest.Link
		bound time.Duration // of half of the keys
	}{
		{"loopback", linktest.Link{}, 100 * time.Millisecond},
		{"20 ms each way", linktest.Link{Delay: 20 * time.Millisecond}, 300 * time.Millisecond},
		{"20 ms each way, 1 in 50 packets lost", linktest.Link{Delay: 20 * time.Millisecond, Loss: 0.02}, time.Second},
		{"100 ms each way, 2 Mbit/s, 1 in 50 lost", linktest.Link{Delay: 100 * time.Millisecond, Rate: 250_000, Loss: 0.02}, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			seed := soak.Seed(t)
			stop := make(chan struct{})
			w := openBy(t, func(addr string) string { return c.link.New(t, addr, seed).Addr }, func(ctx context.Context, token, person string) (jsonrpc.Transport, error) {
				if token != "flood" {
					return echo(ctx, token, person)
				}
				near, far := jsonrpc.Pipe(0)
				go func() {
					block := []byte(fmt.Sprintf("%8192d", 0))
					for far.Write(context.Background(), block) == nil {
						select {
						case <-stop:
							return
						default:
						}
					}
				}()
				return near, nil
			})
			hosts, keys := soak.Size(t, 4, 20), soak.Size(t, soak.Short(4, 10), 100)
			measure := func() []time.Duration {
				var mu sync.Mutex
				var took []time.Duration
				var all sync.WaitGroup
				for range hosts {
					all.Go(func() {
						conn, err := w.dial(t, "token")
						if err != nil {
							t.Error(err)
							return
						}
						defer conn.Close(1000, "") //nolint:errcheck // it is over
						for range keys {
							began := time.Now()
							err := conn.Write(t.Context(), []byte(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"data":"a"}}`))
							if err == nil {
								_, err = conn.Read(t.Context())
							}
							if err != nil {
								t.Error(err)
								return
							}
							mu.Lock()
							took = append(took, time.Since(began))
							mu.Unlock()
							time.Sleep(20 * time.Millisecond) // a fast typist
						}
					})
				}
				all.Wait()
				slices.Sort(took)
				return took
			}
			say := func(what string, took []time.Duration) {
				if len(took) == 0 {
					t.Fatal("nothing came back")
				}
				at := func(p int) time.Duration {
					return took[min(len(took)*p/100, len(took)-1)].Round(100 * time.Microsecond)
				}
				t.Logf("%s: key to echo of %d connections: half within %v, 99 of 100 within %v", what, hosts, at(50), at(99))
				if at(50) > c.bound {
					t.Errorf("%s: half of the keys take %v", what, at(50))
				}
			}
			say("alone", measure())
			flood, err := wsrpc.Dial(t.Context(), wsrpc.Target{URL: w.url, Token: "flood"})
			if err != nil {
				t.Fatal(err)
			}
			var reads sync.WaitGroup
			var got int64
			began := time.Now()
			reads.Go(func() {
				for {
					msg, err := flood.Read(context.Background())
					if err != nil {
						return
					}
					got += int64(len(msg))
				}
			})
			say("beside a flood", measure())
			close(stop)
			took := time.Since(began)
			flood.Close(1000, "") //nolint:errcheck // it is over
			reads.Wait()
			t.Logf("the flood: %.1f MiB/s", float64(got)/took.Seconds()/(1<<20))
		})
	}
}
