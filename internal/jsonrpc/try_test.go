package jsonrpc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/internal/jsonrpc"
)

// fickle is a transport whose TryWrite does as it likes. What it keeps or holds
// back counts as out only when a later write sends it.
type fickle struct {
	jsonrpc.Transport
	rnd  *rand.Rand
	fail error // of the next TryWrite

	mu   sync.Mutex
	busy bool
	held []string
	out  []string
	kept bool // the next write must be a WriteMore
	bad  []string
}

func (f *fickle) enter() func() {
	f.mu.Lock()
	if f.busy {
		f.bad = append(f.bad, "two writes at once")
	}
	f.busy = true
	f.mu.Unlock()
	return func() {
		f.mu.Lock()
		f.busy = false
		f.mu.Unlock()
	}
}

func (f *fickle) TryWrite(msg []byte, more bool) (jsonrpc.Tried, error) {
	defer f.enter()()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept {
		f.bad = append(f.bad, "TryWrite while something is kept")
	}
	if f.fail != nil {
		return jsonrpc.Written, f.fail
	}
	switch f.rnd.IntN(4) {
	case 0:
		return jsonrpc.Refused, nil
	case 1:
		f.held = append(f.held, string(msg))
		f.kept = true
		return jsonrpc.Kept, nil
	}
	f.held = append(f.held, string(msg))
	if !more {
		f.send()
	}
	return jsonrpc.Written, nil
}

func (f *fickle) send() {
	f.out = append(f.out, f.held...)
	f.held, f.kept = nil, false
}

func (f *fickle) Write(ctx context.Context, msg []byte) error { return f.WriteMore(msg, false) }

func (f *fickle) WriteMore(msg []byte, more bool) error {
	defer f.enter()()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(msg) > 0 {
		f.held = append(f.held, string(msg))
	}
	if !more {
		f.send()
	}
	return nil
}

// TestWhoeverWrites: whatever becomes of a caller's attempt to write, all
// messages get out, once, in the order of Send, and nobody writes beside
// another.
func TestWhoeverWrites(t *testing.T) {
	for seed := range uint64(20) {
		a, b := jsonrpc.Pipe(1)
		f := &fickle{Transport: b, rnd: rand.New(rand.NewPCG(seed, 1))}
		c := jsonrpc.New(f, nil, jsonrpc.Options{})
		ended := make(chan error, 1)
		go func() { ended <- c.Run(context.Background()) }()
		var order sync.Mutex
		var want []string
		var senders sync.WaitGroup
		for g := range 4 {
			senders.Go(func() {
				for i := range 100 {
					msg := fmt.Sprintf(`{"g":%d,"i":%d}`, g, i)
					if i%17 == 0 {
						msg += strings.Repeat(" ", jsonrpc.TryBytes)
					}
					order.Lock()
					want = append(want, msg)
					var err error
					if i%3 == 0 {
						err = c.Send([]byte(msg))
					} else {
						err = c.Put([]byte(msg))
					}
					order.Unlock()
					if err != nil {
						t.Error(err)
					}
					if i%5 == 0 {
						c.Flush()
					}
				}
			})
		}
		senders.Wait()
		c.Flush()
		c.Close(1000, "")
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		a.Close(1000, "")
		if len(f.bad) > 0 {
			t.Fatalf("seed %d: %v", seed, f.bad)
		}
		if !slices.Equal(f.out, want) {
			t.Fatalf("seed %d: %d messages out, want %d in order", seed, len(f.out), len(want))
		}
	}
}

// TestAFailedTryEndsTheConnection as a failed write of the writer's does.
func TestAFailedTryEndsTheConnection(t *testing.T) {
	_, b := jsonrpc.Pipe(1)
	broken := errors.New("broken pipe")
	f := &fickle{Transport: b, rnd: rand.New(rand.NewPCG(1, 1)), fail: broken}
	c := jsonrpc.New(f, nil, jsonrpc.Options{})
	ended := make(chan error, 1)
	go func() { ended <- c.Run(context.Background()) }()
	if err := c.Notify("x", nil); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, broken) {
		t.Errorf("Run returned %v", err)
	}
	if err := c.Send([]byte("{}")); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Error(err)
	}
}

// besides is a transport that says who reads: a goroutine beside the handler, or the handler's.
type besides struct {
	jsonrpc.Transport
	beside atomic.Bool
}

func (b *besides) Read(ctx context.Context) ([]byte, error) {
	b.beside.Store(strings.Contains(string(debug.Stack()), "time.goFunc"))
	return b.Transport.Read(ctx)
}

// What is read beside a slow handler is handed on to another goroutine: not for longer than
// that, as each key would wait for it.
func TestReadingComesBack(t *testing.T) {
	a, b := jsonrpc.Pipe(8)
	on, gate := &besides{Transport: b}, make(chan struct{})
	client := jsonrpc.New(a, nil, jsonrpc.Options{})
	server := jsonrpc.New(on, jsonrpc.Handler(func(_ context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
		if req.Method == "slow" {
			<-gate
		}
		return nil, nil
	}), jsonrpc.Options{})
	var running sync.WaitGroup
	running.Go(func() { client.Run(context.Background()) })
	running.Go(func() { server.Run(context.Background()) })
	await := func(beside bool, meanwhile func()) {
		for end := time.Now().Add(20 * time.Second); on.beside.Load() != beside; meanwhile() {
			if time.Now().After(end) {
				t.Fatalf("reading beside the handler: %v", !beside)
			}
		}
	}
	quick := func(params any) {
		if err := client.Call(t.Context(), "quick", params, nil); err != nil {
			t.Fatal(err)
		}
	}
	large := map[string]string{"text": strings.Repeat("x", 2<<20)} // more than is read ahead
	for range 3 {
		slow := make(chan error, 1)
		gate = make(chan struct{})
		go func() { slow <- client.Call(context.Background(), "slow", nil, nil) }()
		await(true, func() { time.Sleep(time.Millisecond) })
		close(gate)
		if err := <-slow; err != nil {
			t.Fatal(err)
		}
		quick(large)
		await(false, func() { quick(nil) }) // one that comes before the loop waits is read beside still
	}
	client.Close(1000, "")
	running.Wait()
}
