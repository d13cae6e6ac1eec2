package carry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"tandemux/internal/jsonrpc"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

// link is a way between the hub and a host: each direction has a delay, a rate, and packets
// that TCP has to send again, which hold up what is behind them.
type link struct {
	delay time.Duration
	rate  int // bytes a second, 0: any
	loss  float64
}

// proxy listens for one target, and passes on with the link's ways.
func (l link) proxy(t *testing.T, to string, seed uint64) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { ln.Close(); all.Wait() })
	all.Go(func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			seed++
			for i, way := range [][2]net.Conn{{near, far}, {far, near}} {
				all.Go(func() { l.pass(way[0], way[1], rand.New(rand.NewPCG(seed, uint64(i)))) })
			}
		}
	})
	return ln.Addr().String()
}

type packet struct {
	data []byte
	due  time.Time
}

const (
	packetBytes = 1400
	resend      = 200 * time.Millisecond // TCP's shortest on Linux
)

func (l link) pass(from, to net.Conn, r *rand.Rand) {
	defer from.Close()
	defer to.Close()
	line := make(chan packet, 256) // what a router holds
	var both sync.WaitGroup
	both.Go(func() {
		defer to.Close()
		for p := range line {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.data); err != nil {
				from.Close()
			}
		}
	})
	var free time.Time // when the line can take the next packet
	buf := make([]byte, packetBytes)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			now := time.Now()
			if free.Before(now) {
				free = now
			}
			if l.rate > 0 {
				free = free.Add(time.Duration(n) * time.Second / time.Duration(l.rate))
			}
			if r.Float64() < l.loss {
				free = free.Add(resend)
			}
			line <- packet{slices.Clone(buf[:n]), free.Add(l.delay)}
		}
		if err != nil {
			break
		}
	}
	close(line)
	both.Wait()
}

// TestLinks: a key and its echo through the hub, of 20 hosts at once over links of several
// kinds, with a flood of output on the same host beside it. The figures are docs/fleet.md's.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		link  link
		bound time.Duration // of half of the keys
	}{
		{"loopback", link{}, 100 * time.Millisecond},
		{"20 ms each way", link{delay: 20 * time.Millisecond}, 300 * time.Millisecond},
		{"20 ms each way, 1 in 50 packets lost", link{delay: 20 * time.Millisecond, loss: 0.02}, time.Second},
		{"100 ms each way, 2 Mbit/s, 1 in 50 lost", link{delay: 100 * time.Millisecond, rate: 250_000, loss: 0.02}, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			seed := soak.Seed(t)
			stop := make(chan struct{})
			w := openBy(t, func(addr string) string { return c.link.proxy(t, addr, seed) }, func(ctx context.Context, token, person string) (jsonrpc.Transport, error) {
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
			hosts, keys := soak.Size(t, 4, 20), soak.Size(t, 10, 100)
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
