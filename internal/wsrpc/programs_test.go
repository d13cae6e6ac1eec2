package wsrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/internal/jsonrpc"
)

type program struct {
	name           string
	client, server jsonrpc.Options
	run            func(e *env)
}

var programs = []program{
	{name: "concurrent calls", run: func(e *env) {
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				var got []int
				if err := e.try("echo", []int{i}, &got); err != nil || !slices.Equal(got, []int{i}) {
					e.Errorf("echo %d gave %v, %v", i, got, err)
				}
			})
		}
		all.Wait()
	}},

	{name: "errors keep their parts", run: func(e *env) {
		err := e.try("fail", nil, nil)
		var r *jsonrpc.Error
		if !errors.As(err, &r) || r.Code != -32008 || r.Message != "no such thing" {
			e.Fatalf("got %v", err)
		}
		if data, _ := r.Data.(json.RawMessage); string(data) != `{"n":7}` {
			e.Errorf("data is %v", r.Data)
		}
		var n int
		if err := e.try("echo", []int{1}, &n); err == nil || !strings.Contains(err.Error(), "decode result of echo") {
			e.Errorf("a result of the wrong type: %v", err)
		}
		if err := e.try("echo", func() {}, nil); err == nil {
			e.Error("params that cannot be encoded were sent")
		}
		e.call("null", nil)
	}},

	{name: "notifications keep their order", run: func(e *env) {
		var want []string
		for i := range 1000 {
			if err := e.client.Notify("note", []int{i}); err != nil {
				e.Fatal(err)
			}
			want = append(want, fmt.Sprintf("[%d]", i))
		}
		e.call("null", nil)
		e.mu.Lock() // a socket tells the race detector nothing
		defer e.mu.Unlock()
		if !slices.Equal(e.log, want) {
			e.Errorf("the server saw %d notes in the order %.100q", len(e.log), e.log)
		}
	}},

	{name: "what follows an answer is seen after it", run: func(e *env) {
		done := make(chan struct{})
		err := e.client.Go("subscribe", nil, func(json.RawMessage, error) {
			e.mu.Lock()
			e.order = append(e.order, "answer")
			e.mu.Unlock()
			close(done)
		})
		if err != nil {
			e.Fatal(err)
		}
		await(e, "the answer", done)
		await(e, "the push", e.pushed)
		if !slices.Equal(e.order, []string{"answer", "pushed"}) {
			e.Errorf("seen in the order %v", e.order)
		}
	}},

	{name: "a late answer", run: func(e *env) {
		got := make(chan string, 1)
		go func() {
			var s string
			e.try("later", nil, &s)
			got <- s
		}()
		e.call("null", nil) // The connection goes on meanwhile.
		close(e.gate)
		if s := await(e, "the late answer", got); s != "late" {
			e.Errorf("got %q", s)
		}
	}},

	{name: "a call given up", run: func(e *env) {
		ctx, cancel := context.WithCancel(context.Background())
		failed := make(chan error, 1)
		go func() { failed <- e.client.Call(ctx, "wait", nil, nil) }()
		await(e, "the handler", e.entered)
		cancel()
		if err := await(e, "the end of the call", failed); !errors.Is(err, context.Canceled) {
			e.Errorf("got %v", err)
		}
		close(e.gate) // Its answer comes and is ignored.
		e.call("null", nil)
	}},

	{name: "handlers must not wait for their peer", run: func(e *env) {
		if err := e.try("reenter", nil, nil); err == nil || !strings.Contains(err.Error(), jsonrpc.ErrInHandler.Error()) {
			e.Errorf("got %v", err)
		}
	}},

	{name: "both sides call", run: func(e *env) {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		if err := e.server.Call(ctx, "reverse", []int{1}, nil); err != nil {
			e.Fatal(err)
		}
		if got := await(e, "the reverse call", e.pushed); got != "reverse[1]" {
			e.Errorf("got %s", got)
		}
	}},

	{name: "a handler learns that its peer is gone", run: func(e *env) {
		go e.client.Call(context.Background(), "wait", nil, nil)
		await(e, "the handler", e.entered)
		e.client.Close(1000, "")
		await(e, "the end of the handler's context", e.canceled)
		var ce *jsonrpc.CloseError
		if err := await(e, "the server's end", e.serverEnd); !errors.As(err, &ce) {
			e.Errorf("Run returned %v", err)
		}
	}},

	{name: "a handler learns that its own side closes", run: func(e *env) {
		go e.client.Call(context.Background(), "wait", nil, nil)
		await(e, "the handler", e.entered)
		e.server.Close(1001, "host stops")
		await(e, "the end of the handler's context", e.canceled)
		if err := await(e, "the server's end", e.serverEnd); err != nil {
			e.Errorf("Run returned %v", err)
		}
		var ce *jsonrpc.CloseError
		if err := await(e, "the client's end", e.clientEnd); !errors.As(err, &ce) || ce.Code != 1001 || ce.Reason != "host stops" {
			e.Errorf("the client's Run returned %v", err)
		}
	}},

	{name: "after a slow handler messages keep their order", run: func(e *env) {
		go e.client.Call(context.Background(), "wait", nil, nil)
		await(e, "the handler", e.entered)
		var want []string
		for i := range 150 {
			if err := e.client.Notify("note", []any{i, strings.Repeat("x", 8<<10)}); err != nil {
				e.Fatal(err)
			}
			want = append(want, fmt.Sprintf("[%d,", i))
		}
		time.Sleep(50 * time.Millisecond) // The handler is slow; that is the case here.
		close(e.gate)
		e.call("null", nil)
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.log) != len(want) {
			e.Fatalf("%d notes of %d", len(e.log), len(want))
		}
		for i, s := range e.log {
			if !strings.HasPrefix(s, want[i]) {
				e.Fatalf("note %d is %.20s", i, s)
			}
		}
	}},

	{name: "calls fail when the connection ends", run: func(e *env) {
		failed := make(chan error, 1)
		go func() { failed <- e.client.Call(context.Background(), "wait", nil, nil) }()
		await(e, "the handler", e.entered)
		e.server.Close(1012, "restart")
		err := await(e, "the end of the call", failed)
		var ce *jsonrpc.CloseError
		if !errors.Is(err, jsonrpc.ErrClosed) || !errors.As(err, &ce) || ce.Code != 1012 {
			e.Errorf("got %v", err)
		}
		await(e, "the client's end", e.clientEnd)
		for what, err := range map[string]error{
			"Call":   e.try("null", nil, nil),
			"Notify": e.client.Notify("note", nil),
			"Send":   e.client.Send([]byte("{}")),
			"Go":     e.client.Go("null", nil, func(json.RawMessage, error) { e.Error("done was called") }),
		} {
			if !errors.Is(err, jsonrpc.ErrClosed) {
				e.Errorf("%s on a closed connection: %v", what, err)
			}
		}
		select {
		case <-e.client.Drained():
		default:
			e.Error("a closed connection is not said to be drained")
		}
	}},

	{name: "the answer before a close arrives", run: func(e *env) {
		if got := e.call("bye", nil); got != `"bye"` {
			e.Errorf("got %s", got)
		}
		var ce *jsonrpc.CloseError
		if err := await(e, "the client's end", e.clientEnd); !errors.As(err, &ce) || ce.Code != 1008 || ce.Reason != "you said so" {
			e.Errorf("Run returned %v", err)
		}
	}},

	{name: "what is queued before a close arrives", run: func(e *env) {
		for range 100 {
			if err := e.server.Send(bulk(4 << 10)); err != nil {
				e.Fatal(err)
			}
		}
		e.server.Close(1000, "")
		await(e, "the client's end", e.clientEnd)
		if len(e.pushed) != 100 {
			e.Errorf("%d of 100 arrived", len(e.pushed))
		}
	}},

	{name: "a large message", run: func(e *env) {
		text := strings.Repeat("é\x1b[m", 1<<17)
		var got []string
		if err := e.try("echo", []string{text}, &got); err != nil || got[0] != text {
			e.Errorf("%d bytes came back of %d, %v", len(got), len(text), err)
		}
	}},

	{
		name:   "the queue is bounded in bytes",
		server: jsonrpc.Options{MaxQueueBytes: 1 << 20},
		run:    func(e *env) { overflow(e, 64<<10) },
	},
	{
		name:   "the queue is bounded in messages",
		server: jsonrpc.Options{MaxQueueMessages: 30},
		run:    func(e *env) { overflow(e, 64<<10) },
	},
	{
		name:   "a message above the bound passes alone",
		server: jsonrpc.Options{MaxQueueBytes: 1000},
		run: func(e *env) {
			if err := e.server.Send(bulk(5000)); err != nil {
				e.Fatal(err)
			}
			await(e, "the message", e.pushed)
			await(e, "an empty queue", e.server.Drained())
		},
	},
	{
		name:   "a peer that asks and does not listen waits",
		server: jsonrpc.Options{MaxQueueBytes: 128 << 10},
		client: jsonrpc.Options{MaxQueueBytes: 64 << 20},
		run: func(e *env) {
			release := stall(e)
			text := strings.Repeat("x", 16<<10)
			for range 96 { // 1.5 MiB of answers.
				if err := e.client.Go("echo", []string{text}, func(json.RawMessage, error) {}); err != nil {
					e.Fatal(err)
				}
			}
			release()
			e.call("null", nil)
			if n := e.server.Queued(); n > 256<<10 {
				e.Errorf("%d bytes were queued", n)
			}
		},
	},
	{
		name: "what is queued can be discarded",
		run: func(e *env) {
			release := stall(e)
			n := 0
			for ; n < 60; n++ {
				if err := e.server.Send(bulk(64 << 10)); err != nil {
					e.Fatal(err)
				}
			}
			dropped := e.server.Discard()
			if dropped == 0 {
				e.Error("nothing was discarded")
			}
			if err := e.server.Notify("after", nil); err != nil {
				e.Fatal(err)
			}
			release()
			seen := 0
			for await(e, "what was not discarded", e.pushed) != "after" {
				seen++
			}
			if seen+dropped != n {
				e.Errorf("%d seen and %d discarded of %d", seen, dropped, n)
			}
		},
	},
}

// stall makes the client stop reading until release is called.
func stall(e *env) (release func()) {
	e.Helper()
	hold, stalled := make(chan struct{}), make(chan struct{})
	release = sync.OnceFunc(func() { close(hold) })
	e.Cleanup(release)
	err := e.client.Go("null", nil, func(json.RawMessage, error) {
		close(stalled)
		<-hold
	})
	if err != nil {
		e.Fatal(err)
	}
	await(e, "the stall", stalled)
	return release
}

// overflow fills the server's queue, sees it refuse and recover, and that what
// was accepted arrives and nothing else.
func overflow(e *env, size int) {
	e.Helper()
	release := stall(e)
	accepted := 0
	var drained <-chan struct{}
	for full := false; !full; {
		switch err := e.server.Send(bulk(size)); {
		case errors.Is(err, jsonrpc.ErrQueueFull):
			drained = e.server.Drained()
			select {
			case <-drained: // the sockets have room still
			case <-time.After(100 * time.Millisecond):
				full = true
			}
		case err != nil:
			e.Fatal(err)
		default:
			if accepted++; accepted > 10000 {
				e.Fatal("the queue takes everything, or is said to be drained when it is full")
			}
		}
	}
	if e.server.Queued() == 0 {
		e.Error("a full queue holds nothing")
	}
	release()
	await(e, "the queue to drain", drained)
	if err := e.server.Notify("after", nil); err != nil {
		e.Fatalf("a drained queue refuses: %v", err)
	}
	for range accepted {
		if got := await(e, "an accepted message", e.pushed); !strings.HasPrefix(got, "bulk") {
			e.Fatalf("got %.20s", got)
		}
	}
	if got := await(e, "the last message", e.pushed); got != "after" {
		e.Errorf("got %.20s", got)
	}
}
