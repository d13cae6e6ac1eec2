package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandemux/internal/ahptest"
	"tandemux/internal/jsonrpc"
)

func TestDepth(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `1`: 0, `{}`: 1, `[[],[]]`: 2, `{"a":{"b":[1]}}`: 3, `"[[["`: 0, `["\"[","\\"]`: 1, `["\\\"[["]`: 1,
	} {
		if got := jsonrpc.Depth([]byte(text)); got != want {
			t.Errorf("depth of %s is %d, want %d", text, got, want)
		}
	}
}

// TestUpstreamRoundTrips runs the protocol's own cases of messages.
func TestUpstreamRoundTrips(t *testing.T) {
	ahptest.RoundTrips(t, map[string]func(json.RawMessage) (json.RawMessage, error){"JsonRpcMessage": jsonrpc.Again})
}

// TestParse: the members of a message are what their names say, to the letter;
// a request whose id cannot be sent back is answered without one.
func TestParse(t *testing.T) {
	const invalid, ok = jsonrpc.CodeInvalidRequest, 0
	for _, c := range []struct {
		text               string
		id, method, params string
		code               int
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":[",",{}]}}`, `1`, "a", `{"b":[",",{}]}`, ok},
		{` { "params" : { } , "method" : "a" , "id" : "x" , "jsonrpc" : "2.0" } `, `"x"`, "a", `{ }`, ok},
		{`{"jsonrpc":"2.0","id":1,"ID":2,"Method":"b","method":"a","PARAMS":{}}`, `1`, "a", ``, ok},
		{`{"jsonrpc":"2.0","\u0069d":1,"meth\u006fd":"a"}`, `1`, "a", ``, ok},
		{`{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}`, `2`, "b", ``, ok},
		{`{"jsonrpc":"2.0","id":1.0,"method":"a","params":null}`, `1.0`, "a", ``, ok},
		{`{"jsonrpc":"2.0","id":-0.5e+300,"method":"a\"}"}`, `-0.5e+300`, `a"}`, ``, ok},
		{`{"jsonrpc":"2.0","method":"a","extra":[{"id":7}]}`, ``, "a", ``, ok},
		{`{"jsonrpc":"2.0","method":"a","params":7}`, ``, "a", `7`, jsonrpc.CodeInvalidParams},
		{`{"JSONRPC":"2.0","id":1,"method":"a"}`, `1`, "a", ``, invalid},
		{`{"jsonrpc":"2.0","id":null,"method":"a"}`, ``, "a", ``, invalid},
		{`{"jsonrpc":"2.0","id":true,"method":"a"}`, ``, "a", ``, invalid},
		{`{"jsonrpc":"2.0","id":[1],"method":"a"}`, ``, "a", ``, invalid},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 2000) + `","method":"a"}`, ``, "a", ``, invalid},
		{`{"jsonrpc":"2.0","id":1,"method":["a"]}`, `1`, "", ``, invalid},
		{`{"jsonrpc":2.0,"id":1,"method":"a"}`, `1`, "a", ``, invalid},
		{`{"jsonrpc":"2.0","id":1}`, `1`, "", ``, invalid},
		{`{}`, ``, "", ``, invalid},
		{`null`, ``, "", ``, invalid},
		{`"x"`, ``, "", ``, invalid},
		{`[]`, ``, "", ``, invalid},
		{``, ``, "", ``, jsonrpc.CodeParse},
		{`{"jsonrpc":"2.0","id":1,}`, ``, "", ``, jsonrpc.CodeParse},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, ``, "", ``, jsonrpc.CodeParse},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 9) + `1` + strings.Repeat(`}`, 10), ``, "", ``, invalid},
	} {
		id, method, params, code := jsonrpc.Parsed([]byte(c.text), 8)
		if string(id) != c.id || method != c.method || string(params) != c.params || code != c.code {
			t.Errorf("%s\ngives id %s, method %q, params %s, code %d", c.text, id, method, params, code)
		}
	}
}

// FuzzDecode: nothing panics; what is accepted is JSON of bounded depth with a
// usable id, and an id comes back exactly.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1]}}`, `{"jsonrpc":"2.0","method":"x"}`,
		`{"jsonrpc":"2.0","id":1,"result":null}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`,
		`[{}]`, `{"jsonrpc":"2.0","id":{}}`, `{`, `{"jsonrpc":"2.0","id":"a","method":7}`, "\xff", `{"ID":1,"METHOD":"x"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		id, method, params, code := jsonrpc.Parsed(text, 8)
		if code == 0 {
			if !json.Valid(text) || jsonrpc.Depth(text) > 8 {
				t.Fatalf("accepted %q", text)
			}
			if params != nil && !json.Valid(params) {
				t.Fatalf("params %q", params)
			}
		}
		if id != nil && (!json.Valid(id) || !strings.Contains(string(text), string(id))) {
			t.Fatalf("id %q of %q", id, text)
		}
		if code == jsonrpc.CodeParse && json.Valid(text) {
			t.Fatalf("said not to be JSON: %q", text)
		}
		// Serving it, whatever it is, leaves the connection usable.
		if method == "" || len(text) > 4096 {
			return
		}
		a, b := jsonrpc.Pipe(8)
		c := jsonrpc.New(b, nil, jsonrpc.Options{})
		ended := make(chan error, 1)
		go func() { ended <- c.Run(context.Background()) }()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		for _, msg := range [][]byte{text, []byte(`{"jsonrpc":"2.0","id":"end","method":"x"}`)} {
			if err := a.Write(ctx, msg); err != nil {
				t.Fatal(err)
			}
		}
		for {
			got, err := a.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(got) {
				t.Fatalf("answered %q", got)
			}
			if strings.HasPrefix(string(got), `{"jsonrpc":"2.0","id":"end",`) {
				break
			}
		}
		a.Close(1000, "")
		<-ended
	})
}

// stuck is a transport whose peer takes nothing.
type stuck struct{ jsonrpc.Transport }

func (s stuck) Write(ctx context.Context, _ []byte) error {
	_, err := s.Read(ctx) // Returns when the transport is closed.
	return err
}

func TestCloseGivesUpOnAStuckPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := jsonrpc.Pipe(1)
		defer b.Close(1000, "")
		c := jsonrpc.New(stuck{a}, nil, jsonrpc.Options{})
		ended := make(chan error, 1)
		go func() { ended <- c.Run(context.Background()) }()
		if err := c.Notify("x", nil); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		c.Close(1013, "too slow")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d < jsonrpc.CloseWait/2 || d > 2*jsonrpc.CloseWait {
			t.Errorf("took %v", d)
		}
		if err := c.Send([]byte("{}")); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Error(err)
		}
	})
}

// deaf is a transport whose writes fail while its reads go on.
type deaf struct{ jsonrpc.Transport }

func (deaf) Write(context.Context, []byte) error { return errors.New("broken pipe") }

// TestWhatWasSentBeforeThePeerWentIsHandled: a client that dispatches and goes
// must not be ignored because the host had something to tell it.
func TestWhatWasSentBeforeThePeerWentIsHandled(t *testing.T) {
	a, b := jsonrpc.Pipe(100)
	handled := make(chan string, 100)
	c := jsonrpc.New(deaf{b}, jsonrpc.Handler(func(_ context.Context, c *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
		handled <- req.Method
		c.Notify("news", nil)
		return nil, nil
	}), jsonrpc.Options{})
	for range 50 {
		if err := a.Write(context.Background(), []byte(`{"jsonrpc":"2.0","method":"note"}`)); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Run(context.Background()) }()
	for range 50 {
		<-handled
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("Run returned %v", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	a, b := jsonrpc.Pipe(1)
	ctx, cancel := context.WithCancel(context.Background())
	c := jsonrpc.New(b, nil, jsonrpc.Options{})
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var ce *jsonrpc.CloseError
	if _, err := a.Read(context.Background()); !errors.As(err, &ce) || ce.Code != 1001 {
		t.Error(err)
	}
}

func TestAPanicEndsTheConnection(t *testing.T) {
	a, b := jsonrpc.Pipe(1)
	c := jsonrpc.New(b, jsonrpc.Handler(func(context.Context, *jsonrpc.Conn, *jsonrpc.Request) (any, error) {
		panic("bug")
	}), jsonrpc.Options{})
	got := make(chan any, 1)
	go func() {
		defer func() { got <- recover() }()
		c.Run(context.Background())
	}()
	if err := a.Write(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"x"}`)); err != nil {
		t.Fatal(err)
	}
	if v := <-got; v != "bug" {
		t.Errorf("recovered %v", v)
	}
	<-c.Done()
	var ce *jsonrpc.CloseError
	if _, err := a.Read(context.Background()); !errors.As(err, &ce) || ce.Code != 1011 {
		t.Error(err)
	}
}

func TestRawSeesMessagesFirst(t *testing.T) {
	a, b := jsonrpc.Pipe(8)
	var order []string
	c := jsonrpc.New(b, jsonrpc.Handler(func(_ context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
		order = append(order, req.Method)
		return nil, nil
	}), jsonrpc.Options{Raw: func(msg []byte) bool {
		if string(msg) == "raw" {
			order = append(order, "raw")
			return true
		}
		return false
	}})
	for _, m := range []string{"raw", `{"jsonrpc":"2.0","method":"a"}`, "raw", `{"jsonrpc":"2.0","method":"b"}`} {
		if err := a.Write(context.Background(), []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	a.Close(1000, "")
	c.Run(context.Background())
	if got := strings.Join(order, " "); got != "raw a raw b" {
		t.Error(got)
	}
}
