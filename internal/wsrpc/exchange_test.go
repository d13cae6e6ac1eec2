package wsrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/internal/jsonrpc"
)

// wait bounds everything that should happen at once.
const wait = 30 * time.Second

// connector makes two connected transports.
type connector func(t *testing.T) (a, b jsonrpc.Transport)

// runPrograms runs all of them over one kind of transport.
func runPrograms(t *testing.T, connect connector) {
	for _, e := range exchanges {
		t.Run("exchange/"+e.name, func(t *testing.T) { e.run(t, connect) })
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.run(newEnv(t, connect, p.client, p.server))
		})
	}
}

// env is two peers: the client, which calls, and the server, which serves the
// methods of serve.
type env struct {
	*testing.T
	client, server       *jsonrpc.Conn
	clientEnd, serverEnd chan error // what Run returned

	mu       sync.Mutex
	log      []string // notes to the server, in order
	logged   chan struct{}
	pushed   chan string // notifications to the client
	gate     chan struct{}
	entered  chan struct{}
	canceled chan struct{}
	order    []string // what the client saw, in order
}

func newEnv(t *testing.T, connect connector, client, server jsonrpc.Options) *env {
	a, b := connect(t)
	e := &env{
		T: t, clientEnd: make(chan error, 1), serverEnd: make(chan error, 1),
		logged: make(chan struct{}, 100000), pushed: make(chan string, 100000),
		gate: make(chan struct{}), entered: make(chan struct{}, 100), canceled: make(chan struct{}, 100),
	}
	e.client = jsonrpc.New(a, jsonrpc.Handler(e.push), client)
	e.server = jsonrpc.New(b, jsonrpc.Handler(e.serve), server)
	go func() { e.clientEnd <- e.client.Run(context.Background()) }()
	go func() { e.serverEnd <- e.server.Run(context.Background()) }()
	t.Cleanup(func() {
		e.client.Close(1000, "")
		e.server.Close(1000, "")
		<-e.client.Done()
		<-e.server.Done()
	})
	return e
}

func (e *env) push(_ context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
	e.mu.Lock()
	e.order = append(e.order, req.Method)
	e.mu.Unlock()
	e.pushed <- req.Method + string(req.Params)
	return nil, nil
}

// serve is the server's table of methods.
func (e *env) serve(ctx context.Context, c *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
	switch req.Method {
	case "echo":
		return req.Params, nil
	case "null":
		return nil, nil
	case "fail":
		return nil, &jsonrpc.Error{Code: -32008, Message: "no such thing", Data: map[string]int{"n": 7}}
	case "plain":
		return nil, errors.New("it broke")
	case "note":
		e.mu.Lock()
		e.log = append(e.log, string(req.Params))
		e.mu.Unlock()
		e.logged <- struct{}{}
		return "ignored", nil
	case "wait": // Until the gate opens or the connection ends.
		e.entered <- struct{}{}
		select {
		case <-e.gate:
			return "opened", nil
		case <-ctx.Done():
			e.canceled <- struct{}{}
			return nil, ctx.Err()
		}
	case "later":
		go func() {
			<-e.gate
			c.Reply(req, "late", nil)
		}()
		return nil, jsonrpc.ErrReplied
	case "subscribe": // Answers, then pushes, before the next message.
		c.AfterReply(func() { c.Notify("pushed", nil) })
		return "subscribed", nil
	case "reenter":
		return nil, c.Call(ctx, "anything", nil, nil)
	case "bye":
		c.AfterReply(func() { c.Close(1008, "you said so") })
		return "bye", nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no method " + req.Method}
}

// call calls and fails the test on an error.
func (e *env) call(method string, params any) string {
	e.Helper()
	var raw json.RawMessage
	if err := e.try(method, params, &raw); err != nil {
		e.Fatalf("%s: %v", method, err)
	}
	return string(raw)
}

func (e *env) try(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	return e.client.Call(ctx, method, params, result)
}

func await[T any](e *env, what string, c <-chan T) T {
	e.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(wait):
		e.Fatalf("timed out waiting for %s", what)
		panic("unreachable")
	}
}

// exchange is a talk on the wire: each line sent is answered by the next lines
// in want, and by nothing else.
type exchange struct {
	name string
	send []string
	want []string
}

var exchanges = []exchange{
	{"request", []string{`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"<\u00e9>"}}`}, []string{`{"jsonrpc":"2.0","id":1,"result":{"a":"<\u00e9>"}}`}},
	{"null result is there", []string{`{"jsonrpc":"2.0","id":2,"method":"null"}`}, []string{`{"jsonrpc":"2.0","id":2,"result":null}`}},
	{"null params are none", []string{`{"jsonrpc":"2.0","id":2,"method":"echo","params":null}`}, []string{`{"jsonrpc":"2.0","id":2,"result":null}`}},
	{"ids come back exactly", []string{
		`{"jsonrpc":"2.0","id":0,"method":"null"}`, `{"jsonrpc":"2.0","id":-1.50e3,"method":"null"}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"null"}`, `{"jsonrpc":"2.0","id":"x\u0041","method":"null"}`,
	}, []string{
		`{"jsonrpc":"2.0","id":0,"result":null}`, `{"jsonrpc":"2.0","id":-1.50e3,"result":null}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"result":null}`, `{"jsonrpc":"2.0","id":"x\u0041","result":null}`,
	}},
	{"error", []string{`{"jsonrpc":"2.0","id":1,"method":"fail"}`}, []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32008,"message":"no such thing","data":{"n":7}}}`}},
	{"unexpected error", []string{`{"jsonrpc":"2.0","id":1,"method":"plain"}`}, []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"it broke"}}`}},
	{"unknown method", []string{`{"jsonrpc":"2.0","id":1,"method":"nope"}`}, []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no method nope"}}`}},
	{"notifications are never answered", []string{
		`{"jsonrpc":"2.0","method":"note"}`, `{"jsonrpc":"2.0","method":"fail"}`, `{"jsonrpc":"2.0","method":"nope"}`,
		`{"jsonrpc":"1.0","method":"echo"}`, `{"jsonrpc":"2.0","method":"echo","params":7}`,
	}, nil},
	{"a broken message keeps the connection", []string{`{"jsonrpc":`, `hello`, `{"jsonrpc":"2.0","id":1,"method":"null"} x`}, []string{
		`"id":null,"error":{"code":-32700`, `"id":null,"error":{"code":-32700`, `"id":null,"error":{"code":-32700`,
	}},
	{"batches are refused", []string{`[{"jsonrpc":"2.0","id":1,"method":"null"}]`, ` []`}, []string{`"id":null,"error":{"code":-32600`, `"id":null,"error":{"code":-32600`}},
	{"not a request", []string{
		`{"jsonrpc":"2.0"}`, `7`, `null`, `{"jsonrpc":"2.0","id":3}`, `{"jsonrpc":"2.0","id":{},"method":"null"}`,
		`{"jsonrpc":"2.0","id":null,"method":"null"}`, `{"jsonrpc":"2.0","id":4,"method":5}`, `{"id":5,"method":"null"}`,
	}, []string{
		`"id":null,"error":{"code":-32600`, `"id":null,"error":{"code":-32600`, `"id":null,"error":{"code":-32600`,
		`"id":3,"error":{"code":-32600`, `"id":null,"error":{"code":-32600`, `"id":null,"error":{"code":-32600`,
		`"id":4,"error":{"code":-32600`, `"id":5,"error":{"code":-32600`,
	}},
	{"params that are no object", []string{`{"jsonrpc":"2.0","id":1,"method":"echo","params":"x"}`}, []string{`"id":1,"error":{"code":-32602`}},
	{"too deep", []string{`{"jsonrpc":"2.0","id":1,"method":"echo","params":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`}, []string{`"id":null,"error":{"code":-32600`}},
	{"brackets in strings are not deep", []string{`{"jsonrpc":"2.0","id":1,"method":"echo","params":["\"` + strings.Repeat("[{", 200) + `"]}`}, []string{`"id":1,"result":["\"`}},
	{"answers to nothing are ignored", []string{`{"jsonrpc":"2.0","id":77,"result":1}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, `{"jsonrpc":"2.0","id":"a","result":null}`}, nil},
	{"answers come in order", []string{`{"jsonrpc":"2.0","id":1,"method":"subscribe"}`, `{"jsonrpc":"2.0","id":2,"method":"null"}`}, []string{
		`{"jsonrpc":"2.0","id":1,"result":"subscribed"}`, `{"jsonrpc":"2.0","method":"pushed"}`, `{"jsonrpc":"2.0","id":2,"result":null}`,
	}},
}

func (x exchange) run(t *testing.T, connect connector) {
	t.Parallel()
	a, b := connect(t)
	e := &env{T: t, logged: make(chan struct{}, 10)}
	server := jsonrpc.New(b, jsonrpc.Handler(e.serve), jsonrpc.Options{})
	ended := make(chan error, 1)
	go func() { ended <- server.Run(context.Background()) }()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	for _, s := range x.send {
		if err := a.Write(ctx, []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	// The last request's answer shows that nothing else came before it.
	last := `{"jsonrpc":"2.0","id":"last","result":{}}`
	if err := a.Write(ctx, []byte(`{"jsonrpc":"2.0","id":"last","method":"echo","params":{}}`)); err != nil {
		t.Fatal(err)
	}
	for _, want := range append(append([]string(nil), x.want...), last) {
		got, err := a.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got), want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	a.Close(1000, "")
	var ce *jsonrpc.CloseError
	if err := await(e, "the server's end", ended); !errors.As(err, &ce) || ce.Code != 1000 {
		t.Errorf("Run returned %v, want the peer's close", err)
	}
}

// bulk is a notification of n bytes or so.
func bulk(n int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"bulk","params":["%s"]}`, strings.Repeat("x", n))
}
