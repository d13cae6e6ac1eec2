package client

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"tandemux/internal/jsonrpc"
)

// TestNotify: a notification goes out and wants no answer; without a connection
// it fails.
func TestNotify(t *testing.T) {
	_, p, c, _ := start(t, Options{})
	if err := c.Notify("x-tandemux/colors", map[string]string{"bg": "#ffffff"}); err != nil {
		t.Fatal(err)
	}
	if req := p.expect("x-tandemux/colors", `{"bg":"#ffffff"}`); !req.IsNotification() {
		t.Error("the host is to answer")
	}
	p.drop()
	<-c.Done()
	if err := c.Notify("x-tandemux/colors", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// served answers some requests, one of them later.
type served chan func(result any, err error)

func (s served) Asked(method string, params json.RawMessage, reply func(result any, err error)) bool {
	switch method {
	case "now":
		reply(map[string]string{"got": string(params)}, nil)
	case "later":
		s <- reply
	default:
		return false
	}
	return true
}

// TestServe: the host's requests are answered, at once or later, by who takes them; others,
// and all where nobody does, are refused.
func TestServe(t *testing.T) {
	later := make(served, 1)
	_, p, _, _ := start(t, Options{Wants: Wants{Serve: later}})
	type answer struct {
		text string
		err  error
	}
	ask := func(method string) chan answer {
		done := make(chan answer, 1)
		if err := p.conn.Go(method, map[string]int{"n": 1}, func(result json.RawMessage, err error) { done <- answer{string(result), err} }); err != nil {
			t.Fatal(err)
		}
		return done
	}
	slow := ask("later")
	if a := <-ask("now"); a.err != nil || a.text != `{"got":"{\"n\":1}"}` {
		t.Errorf("%+v", a)
	}
	var refused *jsonrpc.Error
	if a := <-ask("other"); !errors.As(a.err, &refused) || refused.Code != jsonrpc.CodeMethodNotFound {
		t.Errorf("%+v", a)
	}
	(<-later)(nil, errors.New("not today"))
	if a := <-slow; a.err == nil || !strings.Contains(a.err.Error(), "not today") {
		t.Errorf("%+v", a)
	}
	_, p, _, _ = start(t, Options{})
	if a := <-ask("now"); !errors.As(a.err, &refused) || refused.Code != jsonrpc.CodeMethodNotFound {
		t.Errorf("without anybody: %+v", a)
	}
}
